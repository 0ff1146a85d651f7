"""Exported files, run as sdp-meta's format documents them, give the versions that the deployed pipeline gives."""

from pathlib import Path
from random import Random
from typing import Any

from click.testing import CliRunner
from pyspark.sql import Row, SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.edited_specs import EDITS, FIRST, SourceTable

from cdc.__main__ import cdc
from dlt_local import LocalPipeline

# What the format says of a data flow from Kafka, and nothing more.
FLOWS = """
import json
from pathlib import Path
from types import SimpleNamespace
from pyspark import pipelines as dp
from pyspark.sql import functions as F
from cdc import load_tables, read_topic
from cdc.interop.sdp_meta import decode_bronze

bronze_function = decode_bronze(load_tables(spark))

def read(file):
    return json.loads(Path(file).read_text())

def declare(row):
    bronze, silver = (f"{row[f'{layer}_database_dev']}.{row[f'{layer}_table']}" for layer in ("bronze", "silver"))
    rules = read(row["bronze_data_quality_expectations_json_dev"])

    def records():
        kafka = read_topic(spark, row["source_details"]["subscribe"])
        added = kafka.selectExpr("*", "to_date(timestamp) AS date", "hour(timestamp) AS hour")
        return bronze_function(added, SimpleNamespace(dataFlowId=row["data_flow_id"]))

    @dp.table(name=bronze, table_properties=row["bronze_table_properties"])
    @dp.expect_all(rules.get("expect", {}))
    @dp.expect_all_or_drop(rules.get("expect_or_drop", {}))
    @dp.expect_all_or_fail(rules.get("expect_or_fail", {}))
    def main():
        return records()

    if "bronze_quarantine_table" in row:
        @dp.table(name=f"{row['bronze_database_quarantine_dev']}.{row['bronze_quarantine_table']}")
        @dp.expect_all_or_drop({"bad": " AND ".join(f"({sql})" for sql in rules["expect_or_quarantine"].values())})
        def quarantine():
            return records()

    transformations = read(row["silver_transformation_json_dev"])
    (selected,) = (each for each in transformations if each["target_table"] == row["silver_table"])

    @dp.temporary_view(name=f"{row['silver_table']}_source")
    def source():
        stream = spark.readStream.table(bronze).selectExpr(*selected["select_exp"])
        for condition in selected["where_clause"]:
            stream = stream.where(condition)
        return stream

    cdc = row["silver_cdc_apply_changes"]
    dp.create_streaming_table(name=silver, table_properties=row["silver_table_properties"])
    dp.create_auto_cdc_flow(
        target=silver,
        source=f"{row['silver_table']}_source",
        keys=cdc["keys"],
        sequence_by=F.struct(*cdc["sequence_by"].split(",")),
        apply_as_deletes=F.expr(cdc["apply_as_deletes"]),
        except_column_list=cdc["except_column_list"],
        stored_as_scd_type=cdc["scd_type"],
        track_history_column_list=cdc.get("track_history_column_list"),
    )

for row in read(spark.conf.get("onboarding")):
    declare(row)
"""
SPECS = {
    "orders": ["filter", "quarantine", "renamed", "tracked columns"],
    "stock": ["no history", "expectation that drops", "masked", "computed column", "other key"],
}


def plain(value: Any) -> Any:
    """A value without the names of a struct's fields, which differ in sequences."""
    return tuple(map(plain, value)) if isinstance(value, Row) else value


def versions(pipeline: LocalPipeline, name: str) -> list[tuple[Any, ...]]:
    found = pipeline.table(f"silver.{name}")
    return sorted((tuple(map(plain, row)) for row in found.select(*sorted(found.columns)).collect()), key=repr)


def test_the_versions_are_those_of_the_deployed_pipeline(tmp_path: Path, spark: SparkSession) -> None:
    random = Random(7)
    tables = [SourceTable(name, random) for name in SPECS]
    for table in tables:
        table.spec = FIRST.column("seen", type="int")
        for edit in SPECS[table.name]:
            table.spec = EDITS[edit](table.spec)
    ours = CdcPipeline(tmp_path, spark, {f"tables/shop/{table.name}.yml": table.text() for table in tables})
    export = ["export", "sdp-meta", str(tmp_path / "conf"), "--write", str(tmp_path / "sdp")]
    assert CliRunner().invoke(cdc, export, catch_exceptions=False).exit_code == 0
    (tmp_path / "flows.py").write_text(FLOWS, encoding="utf-8")
    configured = {**ours.pipeline().configuration, "onboarding": str(tmp_path / "sdp/onboarding.json")}
    theirs = LocalPipeline(
        name="sdp_meta",
        sources=[tmp_path / "flows.py"],
        storage=tmp_path / "storage_of_sdp_meta",
        configuration=configured,
        root_path=ours.pipeline().root_path,
        spark=spark,
    )
    for _ in range(2):
        ours.deliver(record for table in tables for _ in range(4) for record in table.deliver())
        ours.update()
        theirs.run()
    for name in SPECS:
        expected = versions(ours.pipeline(), name)
        assert expected
        assert versions(theirs, name) == expected
    quarantined = theirs.table("bronze.orders_quarantine").selectExpr("_offset", "_reason").collect()
    rejects = ours.rows("silver.orders_rejects", "offset", "reason", where="reason = 'QUARANTINED'")
    assert rejects
    assert sorted(map(tuple, quarantined), key=repr) == rejects
