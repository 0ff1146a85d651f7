"""Large values missing from a change are taken from the version before; findings about the order of changes."""

import json
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Topic

TABLE = """
    table: shop.dbo.documents
    key: [id]
    columns:
      id: int
      title: nvarchar(80)
      body: {type: nvarchar(max), large_nulls: unchanged}
      form: {type: xml, unavailable: merge}
"""
PLACEHOLDER = "__debezium_unavailable_value"
documents = Topic("shopserver.shop.dbo.documents")
FIRST = (
    documents.create(id=1, title="a", body="long", form="<a/>").at("30:10:1"),
    documents.update(id=1, title="b", body=None, form=PLACEHOLDER).at("30:20:1"),
    documents.update(id=1, title="c", body=None, form=None, new="x").at("30:40:1"),
    documents.delete(id=2, title="t").at("30:50:5", "30:50:1"),
    documents.create(id=2, title="t").at("30:50:5", "30:50:1"),
    documents.create(id=3, title="first").at("30:60:5", "30:60:4"),
    documents.update(id=3, title="second").at("30:60:5", "30:60:3"),
)
LATER = (
    # A change between two already applied, and the first one again.
    documents.update(id=1, title="late", body="longer", form=PLACEHOLDER).at("30:30:1"),
    documents.create(id=1, title="a", body="long", form="<a/>").at("30:10:1"),
    documents.delete(id=1, title="c").at("30:70:1"),
    documents.create(id=1, title="again", body=None, form=None).at("30:80:1"),
)


@pytest.fixture(scope="module")
def pipeline(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CdcPipeline:
    pipeline = CdcPipeline(tmp_path_factory.mktemp("merge"), spark, {"tables/shop/documents.yml": TABLE})
    for records in (FIRST, LATER):
        pipeline.deliver(records)
        pipeline.update(findings="true")
    return pipeline


def test_unchanged_values_come_from_the_version_before(pipeline: CdcPipeline) -> None:
    history = pipeline.rows("gold.documents_history", "version", "title", "body", "form", where="id = 1")
    assert history == [
        (1, "a", "long", "<a/>"),
        (2, "b", "long", "<a/>"),
        (3, "late", "longer", "<a/>"),
        (4, "c", "longer", None),
        (5, "again", None, None),
    ]


def test_current_rows_are_the_last_versions(pipeline: CdcPipeline) -> None:
    # For id 3 the LSNs show that the update came first.
    assert pipeline.rows("gold.documents", "id", "title") == [(1, "again"), (2, "t"), (3, "first")]


def test_findings_are_reported_with_an_example(pipeline: CdcPipeline) -> None:
    found = pipeline.rows("gold.shop_findings", "finding", "changes", "example", "detail", findings="true")
    topic = "shopserver.shop.dbo.documents[0]@"
    assert found == [
        ("inversion", 1, f"{topic}6", "at commit_lsn 00000030:00000060:0005"),
        ("lsn_backwards", 1, f"{topic}7", "commit_lsn 00000030:00000030:0001 after 00000030:00000060:0005"),
        ("tie", 2, f"{topic}3", "at commit_lsn 00000030:00000050:0005"),
        ("unknown_field", 1, f"{topic}2", "new"),
    ]


def test_drift_from_the_spec_is_counted_in_the_event_log(pipeline: CdcPipeline) -> None:
    log = pipeline.pipeline().event_log().where("event_type = 'flow_progress'")
    details = [row.details for row in log.where("details LIKE '%no field unknown%'").collect()]
    counts = [each for text in details for each in expectations(text) if each["name"] == "no field unknown to the spec"]
    assert [(each["passed_records"], each["failed_records"]) for each in counts] == [(6, 1), (4, 0)]


def expectations(details: str) -> list[dict[str, Any]]:
    return json.loads(details)["flow_progress"]["data_quality"]["expectations"]
