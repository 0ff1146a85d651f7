"""What the report reads from a table's files, and how it keeps earlier updates."""

import doctest
import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.unit.test_cli_drawing import node

from dlt_local.cli.main import main
from dlt_local.delta.storage import Storage
from dlt_local.graph.graph import Graph
from dlt_local.observability.report import (
    DatasetRun,
    ExpectationRun,
    Run,
    backwards,
    measures,
    notes,
    page,
    tallies,
    write_report,
)
from dlt_local.observability.report.arrival import out_of_order
from dlt_local.observability.report.collect import counted
from dlt_local.observability.report.measures import Counts, counts, newest
from dlt_local.observability.report.page_data import expectations, page_data
from dlt_local.observability.report.runs import KEPT, History, from_json, to_json
from dlt_local.observability.report.source_text import SourceText
from dlt_local.observability.report.write import Found
from dlt_local.observability.shapes import ColumnShape, Shape

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def rows(*reasons: str, at: datetime = NOON) -> pa.Table:
    return pa.table({"reason": list(reasons), "at": pa.array([at] * len(reasons), pa.timestamp("us", "UTC"))})


def write_checksum(table: Path) -> None:
    """Write Delta's checksum file of the last commit, as Spark does."""
    version = DeltaTable(str(table)).version()
    checksum = {"metadata": {"id": str(DeltaTable(str(table)).metadata().id)}}
    (table / "_delta_log" / f"{version:020d}.crc").write_text(json.dumps(checksum))


def written(table: Path, data: pa.Table, **how: Any) -> None:
    write_deltalake(str(table), data, **how)
    write_checksum(table)


def test_only_new_files_are_counted_and_all_of_them_after_an_overwrite(tmp_path: Path) -> None:
    table = tmp_path / "t"
    written(table, rows("bad", "bad", "late"))
    first = counts(table, "reason", None)
    assert first is not None and first.rows == {"bad": 2, "late": 1}
    written(table, rows("late"), mode="append")
    # A wrong earlier count that survives shows that old files were not counted again.
    wrong = Counts(first.table_id, first.version, "reason", {"bad": 100})
    assert counts(table, "reason", wrong).rows == {"bad": 100, "late": 1}  # type: ignore[union-attr]
    assert counts(table, "at", wrong).rows == {str(NOON): 4}  # type: ignore[union-attr]
    written(table, rows("new"), mode="overwrite")
    assert counts(table, "reason", wrong).rows == {"new": 1}  # type: ignore[union-attr]


def test_several_columns_are_counted_together_without_their_nulls(tmp_path: Path) -> None:
    table = tmp_path / "t"
    written(table, pa.table({"outcome": ["change", "reject", "reject"], "reason": [None, "bad", "late"]}))
    found = counts(table, "outcome, reason", None)
    assert found is not None and found.rows == {"change": 1, "reject: bad": 1, "reject: late": 1}


def test_rows_of_a_compacted_table_are_not_counted_again(tmp_path: Path) -> None:
    table = tmp_path / "t"
    written(table, rows("bad"))
    first = counts(table, "reason", None)
    assert first is not None
    written(table, rows("late"), mode="append")
    DeltaTable(str(table)).optimize.compact()
    write_checksum(table)
    wrong = Counts(first.table_id, first.version, "reason", {"bad": 100})
    assert counts(table, "reason", wrong).rows == {"bad": 100, "late": 1}  # type: ignore[union-attr]
    # Once the files that were compacted are gone, all rows are counted.
    for file in DeltaTable(str(table)).vacuum(0, dry_run=True, enforce_retention_duration=False):
        (table / file).unlink()
    assert counts(table, "reason", wrong).rows == {"bad": 1, "late": 1}  # type: ignore[union-attr]


ORDER = {"of": ["id", "tx"], "by": ["lsn", "rank"], "arrival": ["at"]}


@pytest.mark.parametrize(
    ("arrived", "expected"),
    [
        ([(1, "a", 1, 0), (1, "a", 2, 0), (1, "b", 1, 0)], 0),
        ([(1, "a", 2, 0), (1, "a", 1, 0)], 1),
        ([(1, "a", 1, 1), (1, "a", 1, 0)], 1),
        ([(1, "a", 2, 0), (2, "a", 1, 0), (1, "a", 3, 0)], 0),
        ([(1, "a", 2, 0), (2, "a", 9, 0), (1, "a", 1, 0), (1, "a", 3, 0)], 1),
        ([(1, "a", 1, 0), (1, "a", 2, 0), (1, "a", 1, 0), (1, "a", 2, 0)], 0),
        ([(1, "a", None, 0), (1, "a", 2, 0), (1, "a", None, 0)], 0),
        ([], 0),
    ],
    ids=["in order", "falls", "falls in the second column", "other rows", "between", "delivered again", "null", "none"],
)
def test_rows_out_of_order_are_counted(tmp_path: Path, arrived: list[tuple[Any, ...]], expected: int) -> None:
    schema = pa.schema({"id": pa.int64(), "tx": pa.string(), "lsn": pa.int64(), "rank": pa.int64(), "at": pa.int64()})
    placed = [dict(zip(schema.names, (*row, at), strict=True)) for at, row in enumerate(arrived)]
    files = []
    # The later half is in the first file: files have no order.
    for number, part in enumerate((placed[len(placed) // 2 :], placed[: len(placed) // 2])):
        files.append(tmp_path / f"{number}.parquet")
        pa.parquet.write_table(pa.Table.from_pylist(part, schema), files[-1])
    assert out_of_order(tuple(files), json.dumps(ORDER))["out of order"] == expected


WAY = {
    "of": ["topic", "life"],
    "by": ["file", "pos"],
    "arrival": "at",
    "same": ["op", "gtid"],
    "without": {"snapshot": "incremental"},
    "text": "runs backwards",
    "example": "{topic}@{at}",
    "hint": "look: there",
}
PLACED = ("life", "file", "pos", "gtid")


def placed(at: int, *positions: tuple[int, int, int, str | None], **others: Any) -> pa.Table:
    """Rows that arrive from ``at`` on."""
    constant = {"topic": "t", "op": "u", "snapshot": None, **others}
    schema = [(name, pa.int64()) for name in ("life", "file", "pos", "at")]
    schema += [(name, pa.string()) for name in ("gtid", "topic", "op", "snapshot")]
    found = [
        {**constant, "at": at + number, **dict(zip(PLACED, each, strict=True))} for number, each in enumerate(positions)
    ]
    return pa.Table.from_pylist(found, pa.schema(schema))


def falls(folder: Path, *updates: pa.Table) -> list[int]:
    """How many rows fall in each of some updates of a table."""
    declared, so_far, new = json.dumps(WAY), None, []
    for number, rows_ in enumerate(updates):
        written(folder / "t", rows_, mode="append")
        after = backwards.counts(folder / "t", declared, so_far)
        assert after is not None
        new.append(sum(after.rows.values()) - (sum(so_far.rows.values()) if so_far else 0))
        stored = to_json(History((), {"t (backwards)": after}))
        so_far = from_json(json.loads(json.dumps(stored))).counts["t (backwards)"]
        assert so_far == after, number
    return new


A, B = "0-101-", "0-102-"


@pytest.mark.parametrize(
    ("updates", "expected"),
    [
        ([placed(0, (0, 1, 9, "a"), (0, 2, 1, "b")), placed(2, (0, 2, 1, "b"), (0, 2, 3, "c"))], [0, 0]),
        ([placed(0, (0, 7, 1, A + "1")), placed(1, (0, 1, 5, B + "2")), placed(2, (0, 1, 9, B + "3"))], [0, 1, 1]),
        ([placed(0, (0, 7, 5, A + "1"), (0, 7, 4, B + "2"))], [1]),
        ([placed(0, (0, 7, 5, A + "1"), (0, 1, 4, B + "2"), (0, 8, 4, B + "3"), (0, 1, 6, B + "4"))], [2]),
        ([placed(0, (0, 1, 5, A + "1"), (0, 1, 6, A + "2")), placed(2, (0, 1, 5, B + "2"))], [0, 1]),
        (
            [placed(0, (0, 1, 1, "a"), (0, 1, 2, "b"), (0, 1, 3, "c")), placed(3, (0, 1, 2, "b"), (0, 1, 3, "c"))],
            [0, 0],
        ),
        ([placed(0, (0, 1, 1, "a"), (0, 1, 2, "b"), (0, 1, 1, "a"), (0, 1, 2, "b"), (0, 1, 3, "c"))], [0]),
        (
            [placed(0, (0, 2, 1, A + "1"), (0, 1, 1, B + "2")), placed(2, (0, 1, 1, B + "2"), (0, 1, 2, B + "3"))],
            [1, 1],
        ),
        ([placed(0, *((0, 1, at, (A, B, None)[at % 3]) for at in range(9)))], [0]),
        ([placed(0, (0, 7, 1, A + "1")), placed(1, (1, 1, 5, B + "2"))], [0, 0]),
        ([placed(0, (0, 7, 1, "a")), placed(1, (0, 6, 5, "b"), snapshot="incremental")], [0, 0]),
        ([placed(0, (0, 7, 1, "a")), placed(1, (0, 6, 5, "b"), topic="other")], [0, 0]),
        ([placed(0), placed(0, (0, 7, 1, "a"))], [0, 0]),
    ],
    ids=[
        "a change at the end is delivered again",
        "another server",
        "another server in the same file",
        "highest so far",
        "another change at the same place",
        "delivered again in another update",
        "delivered again in the same update",
        "the other server's change is delivered again",
        "a replica has changes of several servers",
        "after restored_at",
        "a read of an incremental snapshot",
        "another topic",
        "none",
    ],
)
def test_rows_whose_position_falls_are_counted_unless_delivered_before(
    tmp_path: Path, updates: list[pa.Table], expected: list[int]
) -> None:
    assert falls(tmp_path, *updates) == expected


def test_rows_whose_position_falls_are_told_of_with_the_first_and_what_to_do(tmp_path: Path) -> None:
    table, declared = tmp_path / "t", json.dumps(WAY)
    written(table, placed(0, (0, 7, 1, "a")))
    first = backwards.counts(table, declared, None)
    written(table, placed(1, (0, 1, 1, "b"), (0, 1, 2, "c")), mode="append")
    # Compacted, the files hold old and new rows: a row is no earlier delivery of itself.
    DeltaTable(str(table)).optimize.compact()
    write_checksum(table)
    second = backwards.counts(table, declared, first)
    whole = backwards.counts(table, declared, None)
    assert second is not None and whole is not None and whole.rows == second.rows
    found = tallies.tally("silver.t", first, second, None)
    assert str(found) == "silver.t: runs backwards (2 new rows, first t@1); look: there"
    run, shape = Run("x", "COMPLETED", "y", 0.0), Shape("silver.t", "streaming table", "f.py:3")
    (shown,) = page_data("p", History((run,), {"silver.t (backwards)": second}, (shape,)))["datasets"]
    assert (shown["counts"]["notes"], shown["counts"]["hint"]) == ([["runs backwards", 2, "t@1"]], "look: there")


def test_a_tally_is_of_the_rows_since_the_last_counts() -> None:
    before = Counts("t", 1, "outcome, reason", {"change": 10, "reject: bad": 1})
    after = Counts("t", 2, "outcome, reason", {"change": 12, "reject: bad": 1, "reject: late": 2})
    found = tallies.tally("silver.t", before, after, "reject")
    assert (str(found), found.rejects) == ("silver.t: 4 new rows = 2 change + 2 reject (late 2)", {"late": 2})
    rebuilt = tallies.tally("silver.t", Counts("another", 1, "outcome, reason", {"change": 10}), after, "reject")
    assert str(rebuilt) == "silver.t: 15 new rows = 12 change + 3 reject (bad 1, late 2)"
    assert doctest.testmod(tallies).failed == doctest.testmod(measures).failed == 0


@pytest.mark.parametrize(
    ("arguments", "limit"),
    [([], None), (["--fail-on-rejects"], 0), (["--fail-on-rejects=3"], 3), (["--fail-on-rejects", "--continuous"], 0)],
)
def test_the_command_line_limits_rejects(arguments: list[str], limit: int | None) -> None:
    assert main.commands["run"].make_context("run", arguments).params["fail_on_rejects"] == limit


def test_a_missing_table_has_no_counts_and_no_newest_time(tmp_path: Path) -> None:
    assert counts(tmp_path, "reason", None) is None
    assert newest(tmp_path, "at") is None


@pytest.mark.parametrize("indexed", [-1, 0], ids=["from statistics", "from the files"])
def test_the_newest_time_is_that_of_the_last_commit_with_rows(indexed: int, tmp_path: Path) -> None:
    table = tmp_path / "t"
    properties = {"delta.dataSkippingNumIndexedCols": str(indexed)}
    written(table, rows("a", at=NOON + timedelta(days=1)), configuration=properties)
    written(table, rows("b", at=NOON), mode="append")
    found = newest(table, "at")
    assert found is not None and found.time == NOON
    assert found.lag_seconds == pytest.approx((datetime.now(UTC) - NOON).total_seconds(), abs=60)
    assert newest(table, "reason") is None
    assert newest(table, "nothing.such") is None


def test_the_history_survives_a_round_trip_through_json() -> None:
    dataset = DatasetRun("a.b", "view", "FAILED", "f.py:3", 1.5, 2, 3, 4, 5, {"f": 2}, excerpt=((3, "x = 1"),))
    run = Run("id", "FAILED", "2026-01-01T00:00:00+00:00", 2.0, (dataset,), ("bad",), ("note",))
    shape = Shape("a.b", "view", "f.py:3", False, "why", (ColumnShape("x", "int", "c"),), "s.yml", {"a.a": ("f",)})
    history = History(
        (run,),
        {"a.b": Counts("table", 3, "reason", {"bad": 2})},
        (shape,),
        {"f.py:3": SourceText(3, ("x = 1",))},
        {"a.b": ({"reason": "bad"},)},
    )
    stored = to_json(history)
    assert from_json(json.loads(json.dumps(stored))) == history
    assert len(to_json(History((run,) * (KEPT + 5)))["runs"]) == KEPT
    assert from_json(stored | {"runs": [stored["runs"][0] | {"of another version": 1}]}) == history
    # Of the version before the page had several views.
    earlier = {"runs": stored["runs"], "counts": stored["counts"], "picture": "<svg/>"}
    assert from_json(earlier) == History(history.runs, history.counts)


def run_with(started: str, passed: int, failed: int) -> Run:
    checked = ExpectationRun("named", "name IS NOT NULL", "warn", passed, failed)
    return Run(
        started, "COMPLETED", started, 1.0, (DatasetRun("t", "view", "IDLE", "f.py:1", expectations=(checked,)),)
    )


def test_an_expectation_has_a_trend_over_the_updates() -> None:
    runs = [run_with("2026-01-01", 3, 1), Run("x", "COMPLETED", "y", 0.0), run_with("2026-01-03", 2, 0)]
    trend = expectations(runs)["t"]["named"]
    assert (trend["name"], trend["onViolation"]) == ("named", "keep")
    assert trend["results"] == [["2026-01-01", 3, 1], ["2026-01-03", 2, 0]]


def test_datasets_of_earlier_updates_are_known_without_a_graph() -> None:
    runs = (Run("k" * 6, "CANCELED", "2026-01-01T00:00:00+00:00", 0.0), run_with("2026-01-02", 1, 0))
    (dataset,) = page_data("p", History(runs))["datasets"]
    assert (dataset["name"], dataset["group"], dataset["declared"]) == ("t", "t", False)


def test_user_text_is_escaped() -> None:
    hostile = "<script>alert(1)</script>"
    run = Run("x", "FAILED", "2026-01-01T00:00:00+00:00", 1.0, (), (hostile,), (hostile,))
    history = History((run,), {}, (Shape(hostile, "view", hostile, comment=hostile),))
    assert hostile not in page.render(hostile, history)


def test_a_report_on_two_hundred_datasets_takes_less_than_a_second(tmp_path: Path) -> None:
    nodes = []
    for number in range(50):
        raw, changes, rows_, history = (f"{layer}.t{number}" for layer in ("raw", "changes", "rows", "history"))
        nodes += [node(raw, "streaming table"), node(changes, "streaming table", (raw,))]
        nodes += [node(rows_, "materialized view", (changes,)), node(history, "materialized view", (changes,))]
    datasets = tuple(DatasetRun(n.name, n.kind, "COMPLETED", "f.py:1", 1.0, 5, written={n.name: 5}) for n in nodes)
    graph = Graph(tuple(nodes), ())
    started = time.monotonic()
    run = Run("x", "COMPLETED", NOON.isoformat(), 1.0, datasets)
    page = write_report(Storage(tmp_path), "big", run, [], Found(graph))
    assert time.monotonic() - started < 1
    assert [page.read_text().count(f'"group":"t{number}"') for number in range(50)] == [4] * 50


def test_each_update_is_in_the_report_once(tmp_path: Path) -> None:
    def ended(update: str, state: str) -> Run:
        return Run(update, state, NOON.isoformat(), 1.0)

    storage = Storage(tmp_path)
    write_report(storage, "p", ended("a", "RUNNING"), [], None)
    write_report(storage, "p", ended("a", "RUNNING"), [], None)
    write_report(storage, "p", ended("c", "COMPLETED"), [ended("a", "CANCELED"), ended("b", "CANCELED")], None)
    stored = json.loads((tmp_path / "system/report/history.json").read_text())["runs"]
    assert [(run["id"], run["state"]) for run in stored] == [("a", "CANCELED"), ("b", "CANCELED"), ("c", "COMPLETED")]


NOTES = {"of": "notes", "text": ["kind", "field"], "example": "record", "order": ["at"], "hint": "look: there"}


def with_notes(*rows: tuple[int, list[tuple[str, str | None, str]] | None]) -> pa.Table:
    note = pa.struct({"kind": pa.string(), "field": pa.string(), "record": pa.string()})
    listed = [
        None if notes is None else [dict(zip(("kind", "field", "record"), each, strict=True)) for each in notes]
        for _, notes in rows
    ]
    return pa.table({"at": [at for at, _ in rows], "notes": pa.array(listed, pa.list_(note))})


def test_notes_of_rows_are_counted_with_the_first_row_of_each(tmp_path: Path) -> None:
    table, declared = tmp_path / "t", json.dumps(NOTES)
    added, gone = ("added", "a"), ("gone", None)
    written(table, with_notes((9, [(*added, "t@9")]), (3, None), (2, [(*gone, "t@2"), (*added, "t@2")])))
    first = counts(table, declared, None, notes.noted, notes.examples)
    assert first is not None
    assert (first.rows, first.examples) == ({"added: a": 2, "gone": 1}, {"added: a": "t@2", "gone": "t@2"})
    written(table, with_notes((11, [(*added, "t@11")]), (12, [])), mode="append")
    second = counts(table, declared, first, notes.noted, notes.examples)
    assert second is not None and second.examples == first.examples
    found = tallies.tally("silver.t", first, second, None)
    assert str(found) == "silver.t: added: a (1 new row, first t@2); look: there"
    stored = to_json(History((), {"silver.t (notes)": second}))
    assert from_json(json.loads(json.dumps(stored))).counts["silver.t (notes)"] == second


def test_a_table_without_notes_says_nothing(tmp_path: Path) -> None:
    table, declared = tmp_path / "t", json.dumps(NOTES)
    written(table, with_notes((1, None), (2, None)))
    found = counts(table, declared, None, notes.noted, notes.examples)
    assert found is not None and (found.rows, found.examples) == ({}, {})
    # A file from before the column existed.
    written(tmp_path / "old", pa.table({"at": [1]}))
    old = counts(tmp_path / "old", declared, None, notes.noted, notes.examples)
    assert old is not None and old.rows == {}


def test_a_dataset_s_result_has_what_became_of_its_new_rows() -> None:
    of_rows = tallies.Tally("a.b", "outcome, reason", {"change": 5, "reject: bad": 2}, {"change": 9}, "reject")
    of_notes = tallies.Tally("a.b", "{}", {"added: x": 1}, {"added: x": 1}, "reject", {"added: x": "t@2"})
    other = tallies.Tally("a.c", "outcome", {"change": 7}, {"change": 7})
    (found,) = counted([DatasetRun("a.b", "streaming table", "COMPLETED", "f.py:3")], [of_rows, of_notes, other])
    assert (found.counted, found.rejects, found.noted) == ({"change": 5, "reject: bad": 2}, 2, {"added: x": 1})
