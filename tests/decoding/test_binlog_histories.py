"""Random histories through the real connector: gold is the database's rows, history the versions that it committed."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import RECORDS
from tests.support.tables import kind_table
from tests.unit.test_report_measures import written
from tools.binlog_connector.histories import COLUMNS, KEY, SEEDS, has_truncates, read

from cdc import arrival, decode, sequence
from cdc.spec.model import ConnectorSpec
from dlt_local.observability.report import backwards

_COLUMNS = "\n".join(f"  {name}: {type_}" for name, type_ in COLUMNS.items())
_SHOWN = ("id", "region", "name", "total", "small", "date_format(made, 'yyyy-MM-dd HH:mm:ss.SSSSSS')")
_SOME = (3, 4)
"""Seeds for `make test`: with kills, incremental snapshots, new files of the log, and truncates."""


def test_all_histories_in_the_order_of_their_sequences(spark: SparkSession) -> None:
    """The changes of every seed, decoded at once and applied here one after the other, without the engine."""
    histories = {seed: read(seed) for seed in SEEDS}
    connector = ConnectorSpec("shop", "s", kind="mariadb")
    columns = {name: f"{type_}{' not null' if name in KEY else ''}" for name, type_ in COLUMNS.items()}
    table = kind_table(columns, connector=connector, source="shop.orders", name="orders")
    table = replace(table, key=KEY, history=False)
    rows = [
        (each.topic, seed, each.offset, None, 0, None, each.key, each.value)
        for seed, (records, _) in histories.items()
        for each in records
    ]
    decoded = decode(spark.createDataFrame(rows, RECORDS), table)
    ordered = decoded.where("_outcome <> 'ignored'").withColumn("sequence", sequence(table))
    shown = ordered.orderBy("_partition", "sequence", "_offset").selectExpr("_partition", "_outcome", "_op", *_SHOWN)
    applied = {seed: Applied() for seed in SEEDS}
    for seed, outcome, op, *row in shown.collect():
        assert outcome == "change"
        applied[seed].apply(op, _plain(tuple(row)))
    for seed, (_, truth) in histories.items():
        where = f"seed {seed}; records and truth are in its file"
        assert sorted(applied[seed].rows.values()) == sorted(map(tuple, truth["rows"])), where
        assert _differences(applied[seed].versions, map(tuple, truth["versions"])) == {}, where


def test_no_restart_or_snapshot_is_taken_for_another_server(tmp_path: Path) -> None:
    """The real positions of all seeds, as `silver.<table>_changes` has them, in three updates."""
    connector = ConnectorSpec("shop", "s", kind="mariadb")
    table = kind_table({"id": "int"}, connector=connector, source="shop.orders", name="orders")
    declared, counts = arrival(table)["report.backwards"], None
    seeds = [placed(seed) for seed in SEEDS]
    assert sum(later < earlier for rows in seeds for earlier, later in pairwise(map(_place, rows))) > len(SEEDS)
    for part in range(3):
        new = [row for rows in seeds for at, row in enumerate(rows) if at * 3 // len(rows) == part]
        written(tmp_path / "t", pa.Table.from_pylist(new, PLACED), mode="append")
        counts = backwards.counts(tmp_path / "t", declared, counts)
        assert counts is not None and counts.rows == {}
    # The control: the last change of a seed as another server's.
    other = {**seeds[0][-1], "_offset": len(seeds[0]), "_binlog_pos": 4, "_gtid": "0-102-9", "_server_id": 102}
    written(tmp_path / "t", pa.Table.from_pylist([other], PLACED), mode="append")
    found = backwards.counts(tmp_path / "t", declared, counts)
    assert found is not None and found.rows == {"the log runs backwards": 1}


PLACED = pa.schema(
    {
        **dict.fromkeys(("_topic", "_op", "_gtid", "_snapshot"), pa.string()),
        **dict.fromkeys(
            ("_partition", "_offset", "_incarnation", "_binlog_file", "_binlog_pos", "_binlog_row", "_server_id"),
            pa.int64(),
        ),
    }
)


def placed(seed: int) -> list[dict[str, Any]]:
    """The positions of a seed's changes, as they arrived."""
    found = []
    for number, record in enumerate(read(seed)[0]):
        if record.value is None:
            continue
        value = json.loads(record.value)
        source = value["source"]
        found.append(
            {
                "_topic": record.topic,
                "_partition": 0,
                "_offset": number,
                "_incarnation": 0,
                "_op": value["op"],
                "_snapshot": source.get("snapshot"),
                "_binlog_file": int(source["file"].rpartition(".")[2]),
                "_binlog_pos": source["pos"],
                "_binlog_row": source["row"],
                "_server_id": source["server_id"],
                "_gtid": source["gtid"],
            }
        )
    return found


def _place(row: dict[str, Any]) -> tuple[int, ...]:
    return (row["_binlog_file"], row["_binlog_pos"], row["_binlog_row"])


class Applied:
    """Changes of one table, applied in order."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.versions: list[tuple[str, ...]] = []

    def apply(self, op: str, row: tuple[str, ...]) -> None:
        """One change; one that is delivered again comes right after itself."""
        key = row[: len(KEY)]
        if op == "t":
            self.rows = {}
        elif op == "d":
            self.rows.pop(key, None)
        elif self.rows.get(key) != row:
            self.rows[key] = row
            self.versions.append(row)


def test_some_histories(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, _SOME, deliveries=1)


@pytest.mark.long
def test_all_histories(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, SEEDS, deliveries=2)


def check(folder: Path, spark: SparkSession, seeds: Sequence[int], *, deliveries: int) -> None:
    """Several histories in one pipeline, each a table of its own, with an update after each delivery."""
    histories = {seed: read(seed) for seed in seeds}
    specs = {f"tables/shop/orders{seed}.yml": spec(seed) for seed in seeds}
    pipeline = CdcPipeline(folder, spark, {"connectors/shop.yml": "topic_prefix: s\nkind: mariadb\n", **specs})
    for number in range(deliveries):
        parts = (_part(records, number, deliveries) for records, _ in histories.values())
        pipeline.deliver([record for part in parts for record in part])
        pipeline.update()
    for seed, (_, truth) in histories.items():
        where = f"seed {seed}; records and truth are in its file"
        found = pipeline.rows(f"gold.orders{seed}", *_SHOWN)
        assert sorted(map(_plain, found)) == sorted(map(tuple, truth["rows"])), where
        if has_truncates(seed):
            continue
        versions = pipeline.rows(f"gold.orders{seed}_history", *_SHOWN)
        assert _differences(map(_plain, versions), map(tuple, truth["versions"])) == {}, where


def spec(seed: int) -> str:
    """The table's spec; a table with history cannot apply truncates."""
    named = f"table: shop.orders\nname: orders{seed}\ntopic: s{seed}.shop.orders\n"
    if has_truncates(seed):
        named += "history: false\n"
    return f"{named}key: [{', '.join(KEY)}]\ncolumns:\n{_COLUMNS}\n"


def _part(records: list[Any], number: int, of: int) -> list[Any]:
    return records[len(records) * number // of : len(records) * (number + 1) // of]


def _plain(row: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple("NULL" if value is None else str(value) for value in row)


def _differences(found: Any, expected: Any) -> dict[tuple[str, ...], int]:
    """Version -> how many more times it was found than expected."""
    counts = Counter(found)
    counts.subtract(Counter(expected))
    return {row: count for row, count in counts.items() if count}
