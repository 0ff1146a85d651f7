"""Columns that get wider types in place: every table ends as a build from scratch has it, whenever the edit comes.

The update after the edit is killed, and the types are widened again while records wait at the targets, which then get
wider types before their sources do. Late events, ties and redelivered records reach back over the edits, so what AUTO
CDC remembers by the old types is compared with events of the new ones.
"""

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.crash import die_at
from tests.support.delta_history import commits
from tests.support.records import Record, Topic
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed
from dlt_local.flows import incremental_refresh
from dlt_local.spark import tuning

_BRONZE = Path(__file__).resolve().parents[2] / "pipelines" / "bronze" / "**"
_OTHER_TYPE = r"CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE(.|\n)*`stock` is smallint(.|\n)*--rebuild default\.copied"
TABLES = {
    "versions": "",
    "current": "history: false",
    "soft": "deletes: soft\nhistory: {track: [stock]}\ncluster_by: [stock]",
}
"""Table -> what else its spec says."""
NARROW, WIDER, WIDEST = ("smallint", "decimal(9,2)"), ("int", "decimal(12,2)"), ("bigint", "decimal(38,2)")
"""Types of `stock` and `total`."""


def conf(types: tuple[str, str]) -> dict[str, str]:
    """The specs of all tables with these types."""
    columns = f"id: int, kind: tinyint, stock: {types[0]}, total: '{types[1]}'"
    return {
        f"tables/shop/{table}.yml": f"table: shop.dbo.{table}\nkey: [id]\n{more}\ncolumns: {{{columns}}}\n"
        for table, more in TABLES.items()
    }


def decimal(unscaled: int) -> str:
    """As the connector writes it."""
    return base64.b64encode(unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True)).decode()


def of_each_table(changes: Iterable[tuple[str, int, int, int, int]]) -> Iterator[Record]:
    """The same changes of every table: operation, position, id, stock, total in cents."""
    for op, at, id_, stock, cents in changes:
        for topic in (Topic(f"shopserver.shop.dbo.{table}") for table in TABLES):
            make = {"create": topic.create, "update": topic.update, "delete": topic.delete}[op]
            yield make(id=id_, kind=255, stock=stock, total=decimal(cents)).at(f"30:{at:x}:1", serial=1)


FIRST = [
    ("create", 10, 1, 5, 100),
    ("update", 40, 1, 6, -100),
    ("update", 50, 1, 6, -100),
    ("create", 20, 2, 7, 250),
    ("delete", 60, 2, 7, 250),
    ("create", 30, 3, -8, 0),
    # Values that do not fit: rejects until they are replayed.
    ("create", 70, 4, 70_000, 100),
    ("create", 71, 5, 1, 99_999_999_999),
]
KILLED = [
    # Late, and a tie.
    ("update", 45, 1, 7, 999),
    ("update", 50, 1, 5, -100),
]
AFTER = [
    # Redelivered, from before the edit; a late event after a delete; new values of the new types.
    ("update", 50, 1, 6, -100),
    ("update", 40, 1, 6, -100),
    ("update", 55, 2, 7, 250),
    ("create", 30, 3, -8, 0),
    ("update", 80, 3, 70_000, 99_999_999_999),
    ("create", 81, 6, 2_000_000_000, 1),
]
BEHIND = [("update", 90, 6, 5, 1), ("update", 81, 6, 2_000_000_000, 1), ("update", 85, 3, 70_000, 99_999_999_999)]
LAST = [
    ("update", 80, 3, 70_000, 99_999_999_999),
    ("update", 90, 6, 5, 1),
    ("update", 45, 1, 7, 999),
    ("update", 100, 1, 2**40, 10**35),
    ("update", 95, 6, 2**41, -(10**35)),
]


@pytest.fixture(scope="module")
def widened(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CdcPipeline:
    """All tables after both edits."""
    pipeline = CdcPipeline(tmp_path_factory.mktemp("wider"), spark, conf(NARROW))

    def update_only(*templates: str) -> None:
        pipeline.pipeline().run(refresh=[each.format(table) for table in TABLES for each in templates])

    pipeline.deliver(of_each_table(FIRST))
    pipeline.update()
    pipeline.deliver(of_each_table(KILLED))
    pipeline.configure(conf(WIDER))
    die_at(_BRONZE, pipeline.folder / "storage", "cdc.between", pipeline.arguments())
    pipeline.deliver(of_each_table(AFTER))
    pipeline.update()
    pipeline.deliver(of_each_table(BEHIND))
    update_only("bronze.{}", "silver.{}_decoded", "silver.{}_changes")
    pipeline.configure(conf(WIDEST))
    update_only("silver.{}")
    pipeline.deliver(of_each_table(LAST))
    pipeline.update(replay_rejects="after")
    return pipeline


def test_every_table_is_as_if_built_from_scratch(widened: CdcPipeline, spark: SparkSession, tmp_path: Path) -> None:
    scratch = CdcPipeline(tmp_path, spark, conf(WIDEST))
    scratch.landing = widened.landing
    scratch.update()
    for table in TABLES:
        assert len(widened.rows(f"silver.{table}_replays", "1")) == 2
        history = [f"gold.{table}_history"] if table != "current" else []
        for dataset in (f"silver.{table}_changes", f"silver.{table}", f"gold.{table}", *history):
            types = sorted(scratch.pipeline().table(dataset).dtypes)
            assert sorted(widened.pipeline().table(dataset).dtypes) == types, dataset
            text = f"to_json(struct({', '.join(f'`{name}`' for name, _ in types)}))"
            assert widened.rows(dataset, text) == scratch.rows(dataset, text), dataset


def test_narrower_types_are_refused_and_leave_the_rows(widened: CdcPipeline) -> None:
    before = widened.rows("gold.versions", "id", "stock", "total")
    widened.configure(conf(WIDER))
    some = [f"silver.{table}{end}" for table in TABLES for end in ("_decoded", "_changes", "")]
    with pytest.raises(UpdateFailed) as failed:
        widened.pipeline().run(refresh=some)
    widened.configure(conf(WIDEST))
    errors = [str(error) for error in failed.value.errors]
    assert len(errors) == len(TABLES)
    for error in errors:
        assert error.startswith("ROW_DEFINITION_CHANGED")
        assert "stock: bigint -> int\n" in error and "total: decimal(38,2) -> decimal(12,2)\n" in error
    assert widened.rows("gold.versions", "id", "stock", "total") == before


SOURCE = """
    import dlt

    rows, type_ = spark.conf.get("rows"), "TYPE"
    defined = {"rows.definition": "{}"}

    @dlt.table(table_properties=defined)
    def raw():
        return spark.readStream.schema(f"id INT, at INT, name STRING, stock {type_}").json(rows)

    @dlt.table
    def copied():
        return spark.readStream.table("raw").select("id", "stock")

    dlt.create_streaming_table("latest", table_properties=defined)
    dlt.apply_changes(target="latest", source="raw", keys=["id"], sequence_by="at", stored_as_scd_type=1)

    @dlt.table
    def names():
        return spark.read.table("latest").select("id", "name")
"""


def test_large_tables_get_wider_types_if_they_have_a_definition(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_LARGE_BYTES", 1)
    monkeypatch.setattr(incremental_refresh, "LARGE", 0)
    monkeypatch.setattr(incremental_refresh, "CHANGED_SHARE", float("inf"))
    small = SmallPipeline(tmp_path, spark, SOURCE.replace("TYPE", "SMALLINT"))
    small.drop({"id": 1, "at": 1, "name": "a", "stock": 5}, {"id": 2, "at": 2, "name": "b", "stock": -6})
    small.pipeline.run()
    small.drop({"id": 2, "at": 3, "name": "c", "stock": 7})
    small.pipeline.run()
    small.write(SOURCE.replace("TYPE", "BIGINT"))
    for number, name in ((4, "d"), (5, "e")):
        small.drop({"id": number, "at": number, "name": name, "stock": 2**40}, {"id": 1, "at": 0, "stock": 1})
        with pytest.raises(UpdateFailed, match=_OTHER_TYPE) as failed:
            small.pipeline.run()
        assert len(failed.value.errors) == 1
    kept = [{"id": 1, "at": 1, "name": "a", "stock": 5}, {"id": 2, "at": 3, "name": "c", "stock": 7}]
    new = [{"id": number, "at": number, "name": name, "stock": 2**40} for number, name in ((4, "d"), (5, "e"))]
    assert small.table("latest") == [*kept, *new]
    assert small.table("names") == [{"id": row["id"], "name": row["name"]} for row in [*kept, *new]]
    assert len(small.table("raw")) == 7 and len(small.table("copied")) == 3
    # Over the commit that widened Delta gives no change feed, and the view was recomputed; after it, refreshed again.
    operations = [commit["operation"] for commit in commits(tmp_path / "storage" / "tables" / "default" / "names")]
    assert operations[-1] == "MERGE" and operations[-2] == "WRITE"
