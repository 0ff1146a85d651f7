"""Columns that get wider types in place: every table ends as a build from scratch has it, whenever the edit comes.

The spec is edited while records wait at each dataset, the update after it is killed, and the types are widened again
while a target is ahead of its source. Late events, ties and redelivered records reach back over the edits, so what AUTO
CDC remembers by the old types is compared with events of the new ones.
"""

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.crash import die_at
from tests.support.records import Record, Topic

from dlt_local import UpdateFailed

_BRONZE = Path(__file__).resolve().parents[2] / "pipelines" / "bronze" / "**"
TABLES = {"versions": "", "current": "history: false", "soft": "deletes: soft", "tracked": "history: {track: [stock]}"}
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
    return base64.b64encode(unscaled.to_bytes(16, "big", signed=True)).decode()


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
]
WAITING = [
    # Late, a tie, and two values that do not fit: rejects until they are replayed.
    ("update", 45, 1, 7, 999),
    ("update", 50, 1, 5, -100),
    ("create", 70, 4, 70_000, 100),
    ("create", 71, 5, 1, 99_999_999_999),
]
AFTER = [
    # Redelivered, from before the edit; late events among runs and after a delete; new values of the new types.
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
    pipeline.deliver(of_each_table(WAITING))
    update_only("bronze.{}", "silver.{}_decoded")
    pipeline.configure(conf(WIDER))
    pipeline.deliver(of_each_table(AFTER))
    die_at(_BRONZE, pipeline.folder / "storage", "cdc.between", pipeline.arguments())
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
    with pytest.raises(UpdateFailed) as failed:
        widened.update()
    widened.configure(conf(WIDEST))
    errors = [str(error) for error in failed.value.errors]
    assert len(errors) >= len(TABLES)
    for error in errors:
        assert error.startswith("ROW_DEFINITION_CHANGED")
        assert "stock: bigint -> int\n" in error and "total: decimal(38,2) -> decimal(12,2)\n" in error
    assert widened.rows("gold.versions", "id", "stock", "total") == before
    assert widened.update().state == "COMPLETED"
