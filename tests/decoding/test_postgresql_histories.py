"""Random histories through the real PostgreSQL connector: gold is the database's rows, history what was committed.

The seeds' records include redeliveries, incremental snapshots while other transactions run, transactions that commit in
another order than they write, changes of keys, and truncates. The expected rows and versions are none of the
connector's: the database's tables were read by SQL after each statement.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import RECORDS
from tests.support.tables import table
from tools.captures import Record
from tools.postgresql_connector.histories import SEEDS, TABLES, Entry, file_of

from cdc import changes, decode, sequence
from cdc.spec.model import ConnectorSpec, TableSpec

COLUMNS = {"id": "integer not null", "n": "integer", "note": "text"}
PLACEHOLDER = "__debezium_unavailable_value"
EVERY = range(1, SEEDS + 1)
Rows = dict[int, tuple[int, str | None]]
Versions = dict[int, list[tuple[int, str | None]]]


@dataclass(frozen=True)
class History:
    """The history of a seed."""

    records: tuple[Record, ...]
    committed: tuple[Entry, ...]
    """What each statement of a committed transaction did, in the order of the commits."""
    rows: dict[str, Rows]
    """The rows at the end, read by SQL, by table."""

    def versions(self, name: str) -> Versions:
        """Every version of each row of a table."""
        found: Versions = defaultdict(list)
        for of, *version in self.committed:
            if of == name and len(version) == 3:
                id_, n, note = version
                found[id_].append((n, note))
        return found

    def rows_of(self, name: str, *, with_truncates: bool = True) -> Rows:
        """The rows of a table at the end, from what was committed; or as they would be if no truncate had been."""
        rows: Rows = {}
        for of, *version in self.committed:
            if of != name:
                continue
            if not version:
                rows = {} if with_truncates else rows
            elif len(version) == 1:
                del rows[version[0]]
            else:
                id_, n, note = version
                rows[id_] = n, note
        return rows

    def truncates(self, name: str) -> int:
        """How often a table was truncated."""
        return self.committed.count((name,))


@cache
def history(seed: int) -> History:
    """The history of a seed."""
    found = json.loads(gzip.decompress(file_of(seed).read_bytes()))
    rows: dict[str, Rows] = {name: {} for name in TABLES}
    for name, id_, n, note in found["rows"]:
        rows[name][id_] = n, note
    return History(
        tuple(map(Record.from_line, found["records"])), tuple(tuple(entry) for entry in found["committed"]), rows
    )


def spec_of(name: str) -> TableSpec:
    """A table's spec for decoding alone."""
    connector = ConnectorSpec("shop", "shop", kind="postgresql")
    spec = table(COLUMNS, connector=connector, source=f"x.public.{name}", name=name, history=False)
    return replace(
        spec,
        columns=tuple(replace(each, unavailable="merge") if each.name == "note" else each for each in spec.columns),
    )


def test_what_was_committed_leads_to_the_rows_at_the_end() -> None:
    for seed in EVERY:
        for name in TABLES:
            assert history(seed).rows_of(name) == history(seed).rows[name], f"{seed}.{name}"


def test_every_seed_folds_to_the_rows_and_versions_of_its_database(spark: SparkSession) -> None:
    spec = spec_of("by_any")
    records = [
        (f"{seed}.{table_of(each)}", number, each.offset, None, 0, None, each.key, each.value)
        for seed in EVERY
        for number, each in enumerate(history(seed).records)
    ]
    decoded = decode(spark.createDataFrame(records, RECORDS), spec).cache()
    outcomes = {row["_outcome"] for row in decoded.select("_outcome").distinct().collect()}
    assert outcomes <= {"change", "ignored"}
    found = changes(decoded, spec).select("*", sequence(spec).alias("seq")).collect()
    by_topic: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        by_topic[row["_topic"]].append(row)
    assert len(by_topic) == len(TABLES) * SEEDS
    for topic, rows in by_topic.items():
        made_by = Folded()
        for row in sorted(rows, key=lambda each: each["seq"]):
            carried = "note" in row["_columns_to_update"]
            made_by.apply(row["_op"], row["id"], row["n"], row["note"] if carried else PLACEHOLDER)
        seed, _, name = topic.partition(".")
        of_database = history(int(seed))
        assert (made_by.rows, made_by.versions) == (of_database.rows[name], of_database.versions(name)), topic
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


def assert_redeliveries_have_one_position(rows: list[Row], topic: str) -> None:
    """What the log has once is at one position, however often it was delivered."""
    positions: dict[tuple[object, ...], set[object]] = defaultdict(set)
    for row in rows:
        if row["_snapshot"] in (None, "false"):
            positions[row["id"], row["_op"], row["_lsn"]].add(row["seq"])
    assert all(len(found) == 1 for found in positions.values()), topic


def test_the_records_are_of_what_the_module_says() -> None:
    """In the records of all seeds: what makes histories hard."""
    found: Counter[str] = Counter()
    for seed in EVERY:
        seen = set()
        changed: Counter[tuple[object, ...]] = Counter()
        for value in (json.loads(each.value) for each in history(seed).records if each.value):
            source, row = value["source"], value["after"] or value["before"] or {}
            place = (value["op"], source["table"], row.get("id"), source["lsn"])
            found[value["op"]] += 1
            found["incremental"] += source["snapshot"] == "incremental"
            found["placeholder"] += row.get("note") == PLACEHOLDER
            if value["op"] in "cudt":
                found["again"] += place in seen
                found["written before an earlier commit"] += int(json.loads(source["sequence"])[0] or 0) > source["lsn"]
            if value["op"] in "cu" and place not in seen:
                changed[source["txId"], source["table"], row["id"]] += 1
            found["changes nothing"] += value["op"] == "u" and value["before"] == value["after"]
            seen.add(place)
        found["several in a transaction"] += sum(times > 1 for times in changed.values())
    hard = ("d", "incremental", "placeholder", "again", "written before an earlier commit", "several in a transaction")
    assert all(found[each] > SEEDS for each in hard), found
    assert all(found[each] for each in ("t", "changes nothing")), found


@dataclass(frozen=True)
class Table:
    """A table of a seed in a pipeline."""

    seed: int
    name: str
    history: bool = True

    @property
    def dataset(self) -> str:
        """The name of its datasets."""
        return f"{self.name}_{self.seed}{'' if self.history else '_rows'}"

    @property
    def topic(self) -> str:
        """A topic of its own."""
        return f"shop.{self.dataset}"

    @property
    def records(self) -> list[Record]:
        """Its records."""
        return [replace(each, topic=self.topic) for each in history(self.seed).records if table_of(each) == self.name]

    @property
    def spec(self) -> str:
        """Its spec."""
        return f"""
            table: history{self.seed}.public.{self.name}
            name: {self.dataset}
            topic: {self.topic}
            key: [id]
            history: {str(self.history).lower()}
            columns:
              id: integer not null
              n: integer
              note: {{type: text, unavailable: merge}}
        """


SOME = (Table(3, "by_full", history=False), Table(14, "by_nothing"))
"""For `make test`: truncates without and with history. The other tests here decode every seed's records."""


def tables_of(seed: int) -> list[Table]:
    """Every table of a seed; one that was truncated also without history, since a history cannot apply a truncate."""
    truncated = [Table(seed, name, history=False) for name in TABLES if history(seed).truncates(name)]
    return [*(Table(seed, name) for name in TABLES), *truncated]


def test_some_tables_through_the_pipeline(tmp_path: Path, spark: SparkSession) -> None:
    assert {each.name for each in SOME if history(each.seed).truncates(each.name)} == {"by_full", "by_nothing"}
    check(tmp_path, spark, SOME)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1, SEEDS + 1, 4))
def test_every_seed_through_the_pipeline(tmp_path: Path, spark: SparkSession, first: int) -> None:
    seeds = range(first, min(first + 4, SEEDS + 1))
    check(tmp_path, spark, [each for seed in seeds for each in tables_of(seed)])


def check(folder: Path, spark: SparkSession, tables: Sequence[Table]) -> None:
    """In two updates, the second from mid-history: gold has the database's rows, history every version.

    Of a table with history a truncate is a reject: its rows stay, and its versions are the same.
    """
    specs = {f"tables/shop/{each.dataset}.yml": each.spec for each in tables}
    pipeline = CdcPipeline(folder, spark, {"connectors/shop.yml": "{topic_prefix: shop, kind: postgresql}", **specs})
    for part in (0, 1):
        for each in tables:
            half = len(each.records) // 2
            pipeline.deliver(each.records[half:] if part else each.records[:half])
        pipeline.update()
    for each in tables:
        expected = history(each.seed).rows_of(each.name, with_truncates=not each.history)
        rows = pipeline.rows(f"gold.{each.dataset}", "id", "n", "note")
        assert {id_: (n, note) for id_, n, note in rows} == expected, each
        assert len(rows) == len(expected), each
        if each.history:
            assert_versions(pipeline, each)


def assert_versions(pipeline: CdcPipeline, of: Table) -> None:
    """The versions of each row are those that were committed, in their order, and truncates are the only rejects."""
    versions: Versions = defaultdict(list)
    found = pipeline.rows(f"gold.{of.dataset}_history", "id", "version", "n", "note")
    for id_, _, n, note in sorted(found, key=lambda each: each[:2]):
        versions[id_].append((n, note))
    assert versions == history(of.seed).versions(of.name), of
    rejects = pipeline.rows(f"silver.{of.dataset}_rejects", "reason")
    truncates = [each for each in of.records if json.loads(each.value or b"{}").get("op") == "t"]
    assert rejects == [("TRUNCATED",)] * len(truncates), of
    assert len(truncates) >= history(of.seed).truncates(of.name), of


def table_of(record: Record) -> str:
    """The name of a record's table."""
    return record.topic.rpartition(".")[2]
