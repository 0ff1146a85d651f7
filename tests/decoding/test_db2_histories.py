"""Random histories through the real Db2 connector over a scripted server: restarts, kills, changed keys.

Gold has the server's own rows at the end, and history every version that its statements made.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tools.captures import Record
from tools.db2_connector.captures import HISTORIES

SEEDS = range(20)
SNAPSHOT_AGAIN = {5, 8, 12, 13, 17, 18}
"""Seeds in which the connector was killed before it had stored an offset, and took its snapshot again. What happened in
between is in no record: a row that was deleted then stays in gold, until its key is changed again. And a read may be of
a state that changes after its position lead to, so a version can be there twice."""
TABLE = """
table: SALES.T{seed}
key: [ID]
columns: {{ID: integer not null, NAME: varchar(20), TOTAL: "decimal(9,2)"}}
"""
Version = tuple[int, str | None, str | None]
_SHOWN = ("ID", "NAME", "cast(TOTAL AS string)")


def test_one_history(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, SEEDS[:1])


@pytest.mark.long
def test_all_histories(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, SEEDS)


def check(folder: Path, spark: SparkSession, seeds: Sequence[int]) -> None:
    """One pipeline over the tables of these seeds, in two updates: the second begins in mid-history."""
    tables = {f"tables/shop/t{seed}.yml": TABLE.format(seed=seed) for seed in seeds}
    pipeline = CdcPipeline(folder, spark, {"connectors/shop.yml": "{topic_prefix: db2, kind: auto}", **tables})
    captured = {seed: list(records(seed)) for seed in seeds}
    for part in (0, 1):
        for each in captured.values():
            half = len(each) // 2
            pipeline.deliver(each[half:] if part else each[:half])
        pipeline.update()
    for seed in seeds:
        history: Mapping[str, Any] = json.loads(gzip.decompress((HISTORIES / f"{seed}.rows.json.gz").read_bytes()))
        rows = set(map(version, history["rows"]))
        gold = pipeline.rows(f"gold.t{seed}", *_SHOWN)
        found = pipeline.rows(f"gold.t{seed}_history", *_SHOWN, "version", "is_current")
        assert pipeline.rows(f"silver.t{seed}_rejects", "reason") == []
        by_key: dict[int, list[tuple[Version, bool]]] = {}
        for *row, _number, is_current in sorted(found, key=lambda each: each[3]):
            by_key.setdefault(row[0], []).append(((row[0], row[1], row[2]), is_current))
        made = dict(versions(history))
        kept = present(captured[seed]) - {row[0] for row in rows}
        assert (kept == set()) or seed in SNAPSHOT_AGAIN, f"keys {kept} of seed {seed}"
        assert {row for row in gold if row[0] not in kept} == rows, f"rows of seed {seed}"
        assert sorted(row[0] for row in gold) == sorted(kept | {row[0] for row in rows}), f"keys of seed {seed}"
        if seed in SNAPSHOT_AGAIN:
            for key, each in by_key.items():
                assert {row for row, _ in each} <= {row for row, _ in made[key]}, f"key {key} of seed {seed}"
        else:
            assert by_key == made, f"versions of seed {seed}"


def test_which_histories_have_a_second_snapshot() -> None:
    assert {seed for seed in SEEDS if sum(_source(each)["snapshot"] == "last" for each in changes(seed)) > 1} == (
        SNAPSHOT_AGAIN
    )


def present(captured: Iterable[Record]) -> set[int]:
    """The keys of which the last record, by its position, is of a row that is there."""
    last: dict[int, tuple[tuple[str, str], bool]] = {}
    for record in captured:
        if record.value is None:
            continue
        value, source = _value(record), _source(record)
        key = (value["after"] or value["before"])["ID"]
        place = (source["commit_lsn"], source["change_lsn"] or "")
        if key not in last or last[key][0] <= place:
            last[key] = place, value["op"] != "d"
    return {key for key, (_, is_present) in last.items() if is_present}


def changes(seed: int) -> list[Record]:
    """The records of a history that are no tombstones."""
    return [record for record in records(seed) if record.value is not None]


def _value(record: Record) -> Mapping[str, Any]:
    value: Mapping[str, Any] = json.loads(record.value or b"")
    return value.get("payload", value)


def _source(record: Record) -> Mapping[str, Any]:
    source: Mapping[str, Any] = _value(record)["source"]
    return source


def records(seed: int) -> Iterator[Record]:
    """The records of a history in the order of emission."""
    with gzip.open(HISTORIES / f"{seed}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(Record.from_line, lines)


def version(row: Mapping[str, Any]) -> Version:
    """A row as gold shows it."""
    return row["ID"], row["NAME"], row["TOTAL"]


def versions(history: Mapping[str, Any]) -> Iterator[tuple[int, list[tuple[Version, bool]]]]:
    """Key -> its versions in order, each with whether it is the current one."""
    made: dict[int, list[Version | None]] = {}

    def put(key: int, row: Version | None) -> None:
        # A statement that changes nothing makes no version.
        if not made.setdefault(key, []) or made[key][-1] != row:
            made[key].append(row)

    rows = {row["ID"]: dict(row) for row in history["loaded"]}
    for row in rows.values():
        put(row["ID"], version(row))
    for transaction in history["transactions"]:
        last_deleted = None
        for op, _, row in transaction:
            deleted = None
            if op == "i":
                rows[row["ID"]] = dict(row)
                if last_deleted == row["ID"]:
                    # A delete with an insert of its key after it is an update for the connector.
                    made[row["ID"]].pop()
                put(row["ID"], version(row))
            elif op == "d":
                del rows[row["ID"]]
                put(row["ID"], None)
                deleted = row["ID"]
            else:
                old = row.get("old", row)["ID"]
                rows[row["ID"]] = rows.pop(old) | {name: value for name, value in row.items() if name != "old"}
                if old != row["ID"]:
                    put(old, None)
                put(row["ID"], version(rows[row["ID"]]))
            last_deleted = deleted
    for key, each in made.items():
        kept = [row for row in each if row is not None]
        yield key, [(row, row is kept[-1] and each[-1] is not None) for row in kept]
