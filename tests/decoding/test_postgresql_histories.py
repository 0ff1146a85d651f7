"""Random histories through the real PostgreSQL connector: gold is the database's rows, history every version.

The seeds' records include redeliveries, incremental snapshots while other transactions run, transactions that commit in
another order than they write, changes of keys, and truncates.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import RECORDS
from tests.support.tables import table
from tools.captures import Record
from tools.postgresql_connector.histories import SEEDS, TABLES, file_of

from cdc import changes, decode, sequence
from cdc.spec.model import ConnectorSpec, TableSpec

COLUMNS = {"id": "integer not null", "n": "integer", "note": "text"}
PLACEHOLDER = "__debezium_unavailable_value"
EVERY = range(1, SEEDS + 1)
SOME = ((1, "by_full"), (5, "by_index"), (6, "by_default"))
"""For `make test`: a truncate, redeliveries, incremental snapshots, values stored apart from their row."""
Rows = dict[int, tuple[int, str | None]]
Versions = dict[int, list[tuple[int, str | None]]]


def history(seed: int) -> dict[str, Any]:
    """The history of a seed."""
    found: dict[str, Any] = json.loads(gzip.decompress(file_of(seed).read_bytes()))
    return found


def spec_of(name: str) -> TableSpec:
    """A table's spec for decoding alone."""
    connector = ConnectorSpec("shop", "shop", kind="postgresql")
    spec = table(COLUMNS, connector=connector, source=f"x.public.{name}", name=name, history=False)
    return replace(
        spec,
        columns=tuple(replace(each, unavailable="merge") if each.name == "note" else each for each in spec.columns),
    )


def test_every_seed_folds_to_the_rows_and_versions_of_its_database(spark: SparkSession) -> None:
    spec = spec_of("by_any")
    records = []
    expected: dict[str, tuple[Rows, Versions]] = {}
    for seed in EVERY:
        made = history(seed)
        for number, record in enumerate(map(Record.from_line, made["records"])):
            name = record.topic.rpartition(".")[2]
            records.append((f"{seed}.{name}", number, record.offset, None, 0, None, record.key, record.value))
        for name in TABLES:
            rows = {int(row["id"]): (int(row["n"]), row["note"]) for row in made["rows"][name]}
            versions = versions_of(made, name)
            assert_committed(versions, made["committed"], name, f"{seed}.{name}")
            expected[f"{seed}.{name}"] = rows, versions
    decoded = decode(spark.createDataFrame(records, RECORDS), spec).cache()
    outcomes = {row["_outcome"] for row in decoded.select("_outcome").distinct().collect()}
    assert outcomes <= {"change", "ignored"}
    found = changes(decoded, spec).select("*", sequence(spec).alias("seq")).collect()
    by_topic: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_topic[row["_topic"]].append(row)
    assert len(by_topic) > 3 * SEEDS
    for topic, rows in by_topic.items():
        made_by = Folded()
        for row in sorted(rows, key=lambda each: each["seq"]):
            carried = "note" in row["_columns_to_update"]
            made_by.apply(row["_op"], row["id"], row["n"], row["note"] if carried else PLACEHOLDER)
        assert (made_by.rows, made_by.versions) == expected[topic], topic
        assert_redeliveries_have_one_position(rows, topic)


class Folded:
    """Changes of one table, applied in order."""

    def __init__(self) -> None:
        self.rows: Rows = {}
        self.versions: Versions = {}

    def apply(self, op: str, id_: int | None, n: int | None, note: str | None) -> None:
        """One change; one that is delivered again comes right after itself."""
        if op == "t" or id_ is None:
            self.rows.clear()
        elif op == "d":
            self.rows.pop(id_, None)
        else:
            assert n is not None
            row = (n, self.rows[id_][1] if note == PLACEHOLDER else note)
            if self.rows.get(id_) != row:
                self.rows[id_] = row
                self.versions.setdefault(id_, []).append(row)


def versions_of(made: dict[str, Any], name: str) -> Versions:
    """Every version of each row, from the records in the order in which the connector first delivered them.

    It delivers transactions in the order of their commits, so no position is needed.
    """
    folded = Folded()
    seen = set()
    for record in map(Record.from_line, made["records"]):
        value = json.loads(record.value) if record.value else None
        if value is None or value["source"]["table"] != name:
            continue
        op, lsn = value["op"], value["source"]["lsn"]
        change = (op, record.key, lsn)
        if lsn is None or change not in seen:
            row = value["after"] or value["before"] or {"id": None, "n": None, "note": None}
            folded.apply(op, row["id"], row["n"], row["note"])
        seen.add(change)
    return folded.versions


def assert_committed(
    versions: Versions, committed: list[dict[str, dict[str, list[Any]]]], name: str, where: str
) -> None:
    """Each row that was there after a commit is a version, in the order of the commits; inside of a transaction there
    may be more."""
    expected: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for state in committed:
        for id_, row in state[name].items():
            if not expected[int(id_)] or expected[int(id_)][-1] != tuple(row):
                expected[int(id_)].append(tuple(row))
    assert set(expected) <= set(versions), where
    for id_, rows in expected.items():
        found = iter(versions[id_])
        assert all(row in found for row in rows), f"{where}, key {id_}: {versions[id_]} has not {rows}"


def assert_redeliveries_have_one_position(rows: list[Row], topic: str) -> None:
    """What the log has once is at one position, however often it was delivered."""
    positions: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for row in rows:
        if row["_snapshot"] in (None, "false"):
            positions[row["id"], row["_op"], row["_lsn"]].add(row["seq"])
    assert all(len(found) == 1 for found in positions.values()), topic


def test_some_tables_through_the_pipeline(tmp_path: Path, spark: SparkSession) -> None:
    check(tmp_path, spark, SOME)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1, SEEDS + 1, 4))
def test_every_seed_through_the_pipeline(tmp_path: Path, spark: SparkSession, first: int) -> None:
    seeds = range(first, min(first + 4, SEEDS + 1))
    check(tmp_path, spark, [(seed, name) for seed in seeds for name in TABLES[:3]])


def conf(tables: Sequence[tuple[int, str]]) -> dict[str, str]:
    """The tables' specs, with history where no truncate came, since a history cannot apply one."""
    files = {"connectors/shop.yml": "{topic_prefix: shop, kind: postgresql}"}
    for seed, name in tables:
        files[f"tables/shop/{name}_{seed}.yml"] = f"""
            table: history{seed}.public.{name}
            name: {name}_{seed}
            topic: shop.{seed}.{name}
            key: [id]
            history: {str(name not in truncated_tables(seed)).lower()}
            columns:
              id: integer not null
              n: integer
              note: {{type: text, unavailable: merge}}
        """
    return files


def truncated_tables(seed: int) -> set[str]:
    """The tables of a seed that were truncated."""
    found = set()
    for record in map(Record.from_line, history(seed)["records"]):
        value = json.loads(record.value) if record.value else {}
        if value.get("op") == "t":
            found.add(value["source"]["table"])
    return found


def check(folder: Path, spark: SparkSession, tables: Sequence[tuple[int, str]]) -> None:
    """In two updates, the second from mid-history: gold has the database's rows, history every version."""
    pipeline = CdcPipeline(folder, spark, conf(tables))
    captured = [records_of(seed, name) for seed, name in tables]
    for part in (0, 1):
        for records in captured:
            half = len(records) // 2
            pipeline.deliver(records[half:] if part else records[:half])
        pipeline.update()
    for seed, name in tables:
        made = history(seed)
        expected = [(int(row["id"]), int(row["n"]), row["note"]) for row in made["rows"][name]]
        assert pipeline.rows(f"gold.{name}_{seed}", "id", "n", "note") == sorted(expected, key=repr), (seed, name)
        if name not in truncated_tables(seed):
            versions: Versions = defaultdict(list)
            found = pipeline.rows(f"gold.{name}_{seed}_history", "id", "version", "n", "note")
            for id_, _, n, note in sorted(found, key=lambda each: each[:2]):
                versions[id_].append((n, note))
            assert versions == versions_of(made, name), f"seed {seed}, {name}"


def records_of(seed: int, name: str) -> list[Record]:
    """A table's records, with a topic of the seed's own."""
    found = map(Record.from_line, history(seed)["records"])
    return [replace(record, topic=f"shop.{seed}.{name}") for record in found if record.topic.rpartition(".")[2] == name]
