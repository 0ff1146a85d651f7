"""A target has exactly the selected columns, in the source's order."""

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from dlt_local import LocalPipeline
from dlt_local.errors import LocalPipelineError

_HEAD = """
from pyspark import pipelines as dp
from pyspark.sql.functions import from_json, struct

@dp.temporary_view
def events():
    lines = spark.readStream.text({folder!r})
    ddl = "lsn STRING, value STRING, id INT, at TIMESTAMP, serial INT"
    return lines.select(from_json("value", ddl).alias("row")).select("row.*")
"""
_EVENT = '{"lsn": "0A", "value": "a", "id": 1, "at": "2024-01-01 00:00:00", "serial": 1}\n'
Targets = Callable[[str], Path]


@pytest.fixture
def targets(spark: SparkSession, tmp_path: Path) -> Targets:
    """Run a pipeline of these declarations over one event; the folder of its tables."""

    def run(declarations: str) -> Path:
        data = tmp_path / "data"
        data.mkdir()
        (data / "events.json").write_text(_EVENT)
        source = tmp_path / "pipeline.py"
        source.write_text(_HEAD.format(folder=str(data)) + declarations)
        storage = tmp_path / "storage"
        LocalPipeline(name="shape", sources=[str(source)], storage=str(storage), spark=spark).run()
        return storage / "tables" / "default"

    return run


def _columns(table: Path) -> dict[str, str]:
    return {field.name: str(field.type) for field in DeltaTable(str(table)).schema().fields}


def test_targets_have_the_selected_columns_in_the_order_of_the_source(targets: Targets) -> None:
    folder = targets("""
dp.create_streaming_table("listed")
dp.create_auto_cdc_flow(target="listed", source="events", keys=["id"], sequence_by="at",
                        column_list=["id", "value"])
dp.create_streaming_table("current")
dp.create_auto_cdc_flow(target="current", source="events", keys=["id"], sequence_by="at")
dp.create_streaming_table("timed")
dp.create_auto_cdc_flow(target="timed", source="events", keys=["id"], sequence_by="at", stored_as_scd_type=2,
                        except_column_list=["lsn", "serial", "at"])
dp.create_streaming_table("structured")
dp.create_auto_cdc_flow(target="structured", source="events", keys=["id"], column_list=["id"],
                        sequence_by=struct("lsn", "serial"), stored_as_scd_type=2)
""")
    assert list(_columns(folder / "listed")) == ["value", "id"]
    assert list(_columns(folder / "current")) == ["lsn", "value", "id", "at", "serial"]
    timed = _columns(folder / "timed")
    assert list(timed) == ["value", "id", "__START_AT", "__END_AT"]
    assert {timed["__START_AT"], timed["__END_AT"]} == {'PrimitiveType("timestamp")'}
    structured = _columns(folder / "structured")
    assert list(structured) == ["id", "__START_AT", "__END_AT"]
    assert structured["__START_AT"] == structured["__END_AT"]
    assert structured["__START_AT"].index("lsn") < structured["__START_AT"].index("serial")
    assert sorted(path.name for path in folder.iterdir()) == ["current", "listed", "structured", "timed"]


_DECLARED = """
dp.create_streaming_table("declared", schema={schema!r})
dp.create_auto_cdc_flow(target="declared", source="events", keys=["id"], sequence_by="at",
                        stored_as_scd_type=2, column_list=["id", "value"])
"""


def test_a_declared_schema_with_the_validity_interval_decides_the_order(targets: Targets) -> None:
    schema = "id INT, value STRING, __START_AT TIMESTAMP, __END_AT TIMESTAMP"
    assert list(_columns(targets(_DECLARED.format(schema=schema)) / "declared")) == [
        "id",
        "value",
        "__START_AT",
        "__END_AT",
    ]


@pytest.mark.parametrize(
    "schema",
    ["id INT, value STRING", "id INT, value STRING, __START_AT BIGINT, __END_AT BIGINT"],
    ids=["without the interval", "with an interval of another type"],
)
def test_a_declared_schema_without_the_right_interval_is_refused(targets: Targets, schema: str) -> None:
    with pytest.raises(LocalPipelineError, match="__START_AT"):
        targets(_DECLARED.format(schema=schema))
