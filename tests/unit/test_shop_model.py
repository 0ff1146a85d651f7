"""The model of the shop agrees with its golden files, with the scripted history and with facts checked by hand.

The replay below never sees a record: it applies the transactions of demo/scenario/shop.json as SQL would. The model
reads what the connector made of them, so an equal history means that captures and model are both right.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.support import shop_model
from tests.support.shop_model import CAPTURES, COLUMNS, KEYS, STAGES, Row, captures_until, expected, plain
from tools import shop_captures
from tools.captures import Record

SCENARIO = CAPTURES.parent / "scenario" / "shop.json"
SNAPSHOT_AT = datetime(2026, 3, 2, 5, 58, 0, 100_000, tzinfo=UTC)
"""The scenario's first clock, advanced by 20 ms for each of the five capture instances."""


@pytest.mark.parametrize("stage", STAGES)
def test_the_golden_files_are_the_model_s_rows(stage: str) -> None:
    for name, table in expected(captures_until(stage)).items():
        assert [plain(row) for row in table.rows] == shop_model.golden(stage, name)
        assert [plain(row) for row in table.history] == shop_model.golden(stage, f"{name}_history")
        assert vars(table.counts) == shop_model.golden_counts(stage)[name]


@pytest.mark.parametrize("stage", STAGES[:3])
@pytest.mark.parametrize("name", KEYS)
def test_the_model_s_history_equals_the_scripted_one(name: str, stage: str) -> None:
    table = expected(captures_until(stage))[name]
    assert table.history == list(_replayed_until(stage)[name].versions())
    assert table.rows == [{c: v[c] for c in COLUMNS[name]} for v in table.history if v["is_current"]]


@pytest.mark.parametrize("stage", STAGES)
def test_every_record_is_a_change_a_reject_or_a_tombstone(stage: str) -> None:
    for counts in (table.counts for table in expected(captures_until(stage)).values()):
        assert counts.records == counts.changes + counts.rejects + counts.tombstones


def test_offsets_have_no_gap_through_all_captures() -> None:
    seen: dict[tuple[str, int], list[int]] = defaultdict(list)
    for capture in captures_until(STAGES[-1]):
        for line in map(json.loads, capture.open(encoding="utf-8")):
            seen[line["topic"], line["partition"]].append(line["offset"])
    assert len(seen) == 6
    assert all(offsets == list(range(len(offsets))) for offsets in seen.values())


def test_a_capture_line_survives_reading_and_writing() -> None:
    for capture in captures_until(STAGES[-1]):
        for line in capture.read_text(encoding="utf-8").splitlines():
            assert Record.from_line(line).line() == line


@pytest.mark.long
def test_the_captures_can_be_made_again_byte_for_byte(tmp_path: Path) -> None:
    made = shop_captures.make(tmp_path)
    assert [capture.name for capture in made] == [capture.name for capture in captures_until(STAGES[-1])]
    for capture in made:
        assert capture.read_bytes() == (CAPTURES / capture.name).read_bytes()


def test_order_1007_has_eight_versions_without_a_gap() -> None:
    versions = _history("orders", order_id=1007)
    assert [(v["status"], str(v["total"])) for v in versions] == [
        ("new", "92.40"),
        ("paid", "92.40"),
        ("paid", "112.35"),
        ("packed", "112.35"),
        ("shipped", "112.35"),
        ("delivered", "112.35"),
        ("partly returned", "94.85"),
        ("closed", "94.85"),
    ]
    assert [v["valid_to"] for v in versions[:-1]] == [v["valid_from"] for v in versions[1:]]
    assert versions[-1]["valid_from"] == datetime(2026, 3, 9, 16, 30, tzinfo=UTC)


def test_an_order_deleted_and_inserted_again_has_a_gap() -> None:
    *_, cancelled, reinserted = _history("orders", order_id=1005)
    assert cancelled["valid_to"] == datetime(2026, 3, 2, 11, 0, 0, 1_000, tzinfo=UTC)
    assert reinserted["valid_from"] == datetime(2026, 3, 5, 15, 45, 10, 910_000, tzinfo=UTC)
    assert (cancelled["channel"], reinserted["channel"]) == (None, "store")


@pytest.mark.parametrize(("old", "new"), [(1011, 1111), (1014, 1114)], ids=["as a pair", "as an update"])
def test_a_key_change_ends_the_old_key_when_the_new_one_starts(old: int, new: int) -> None:
    before, after = _history("orders", order_id=old)[-1], _history("orders", order_id=new)[0]
    assert before["valid_to"] == after["valid_from"]
    assert before == {**after, "order_id": old} | {c: before[c] for c in ("valid_from", "valid_to")} | {
        c: before[c] for c in ("is_current", "version")
    }


def test_changes_of_one_transaction_are_versions_of_zero_duration() -> None:
    versions = _history("orders", order_id=1022)
    assert [str(v["total"]) for v in versions] == ["0.00", "44.00", "83.90", "83.90"]
    assert len({v["valid_from"] for v in versions}) == 1


def test_an_update_that_changes_nothing_starts_no_version() -> None:
    assert len(_history("products", product_id=6)) == 1


def test_an_incremental_snapshot_of_known_rows_starts_no_version() -> None:
    at_signal = datetime(2026, 3, 5, 20, tzinfo=UTC)
    later = datetime(2026, 3, 6, tzinfo=UTC)
    history = expected(captures_until("3-round"))["orders"].history
    assert not [v for v in history if at_signal <= v["valid_from"] < later]


def test_duplicates_are_the_records_of_two_redeliveries() -> None:
    after = {stage: expected(captures_until(stage)) for stage in ("2-round", "3-round")}
    # 15:05 to 17:01 on March 2nd and from 12:05 on March 3rd; a redelivered tombstone counts as a tombstone.
    assert [after["2-round"][name].counts.duplicates for name in KEYS] == [1, 0, 7, 6]
    assert [after["3-round"][name].counts.duplicates for name in KEYS] == [1, 1, 10, 10]


def test_damaged_records_are_rejects_and_change_no_row() -> None:
    before, after = expected(captures_until("3-round")), expected(captures_until("4-damaged"))
    changed = {
        (name, *(row[k] for k in KEYS[name]))
        for name in KEYS
        for row in after[name].rows
        if row not in before[name].rows
    }
    assert changed == {("orders", 1027), ("customers", 110), ("customers", 113)}
    assert {name: table.counts.rejects for name, table in after.items() if table.counts.rejects} == {
        "orders": 9,
        "customers": 4,
    }


def _history(table: str, **key: int) -> list[Row]:
    versions = expected(captures_until("3-round"))[table].history
    return [version for version in versions if key.items() <= version.items()]


class _Replayed:
    """A table as SQL leaves it, with every past state of each key."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.states: dict[tuple[Any, ...], list[tuple[datetime, Row | None]]] = defaultdict(list)

    def set(self, row: Row, at: datetime) -> None:
        self.states[self._key(row)].append((at, row))

    def remove(self, row: Row, at: datetime) -> None:
        self.states[self._key(row)].append((at, None))

    def rows(self) -> list[Row]:
        return [row for states in self.states.values() if (row := states[-1][1]) is not None]

    def versions(self) -> Iterator[Row]:
        for key in sorted(self.states):
            states = self.states[key]
            distinct = [s for i, s in enumerate(states) if i == 0 or s[1] != states[i - 1][1]]
            ends = [at for at, _ in distinct[1:]] + [None]
            spans = [(row, at, end) for (at, row), end in zip(distinct, ends, strict=True) if row is not None]
            for number, (row, start, end) in enumerate(spans, 1):
                times = {"valid_from": start, "valid_to": end, "is_current": end is None}
                yield {**row, **times, "version": number}

    def _key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[column] for column in KEYS[self.name])


def _replayed_until(stage: str) -> dict[str, _Replayed]:
    tables = {name: _Replayed(name) for name in KEYS}
    sections = iter(STAGES)
    reached = ""
    for step in json.loads(SCENARIO.read_text()):
        if "section" in step:
            if reached == stage:
                break
            reached = next(sections)
            assert step["section"] == reached
        elif "into" in step:
            for row in step["rows"]:
                _apply(tables, {"op": "i", "table": step["into"], "row": row}, SNAPSHOT_AT)
        elif "tx" in step:
            for operation in step["tx"]:
                _apply(tables, operation, datetime.fromisoformat(step["at"]))
    return tables


def _apply(tables: dict[str, _Replayed], operation: dict[str, Any], at: datetime) -> None:
    name = operation["table"].removeprefix("dbo.")
    if name not in tables:
        return
    table = tables[name]
    if operation["op"] == "i":
        table.set({column: _typed(name, column, operation["row"].get(column)) for column in COLUMNS[name]}, at)
        return
    for row in [row for row in table.rows() if operation["key"].items() <= row.items()]:
        after = row | {c: _typed(name, c, v) for c, v in operation.get("set", {}).items()}
        changes_key = any(row[column] != after[column] for column in KEYS[name])
        if operation["op"] == "d" or changes_key or operation.get("log") == "pair":
            table.remove(row, at)
        if operation["op"] == "u":
            table.set(after, at)


def _typed(table: str, column: str, value: Any) -> Any:
    """A value of the scenario, which is in SQL's notation."""
    type_ = COLUMNS[table][column].removesuffix(" not null")
    if value is None or type_ in ("int", "bit"):
        return value
    if column in ("tracking_id", "catalog_guid"):
        return value.upper()
    if type_.startswith("decimal"):
        scale = int(type_.rstrip(")").split(",")[1])
        return Decimal(value).quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    if type_ == "time":
        clock, _, fraction = value.partition(".")
        return f"{clock}.{fraction:0<7}"
    if type_ == "datetimeoffset":
        return datetime.fromisoformat(value).astimezone(UTC)
    return {"date": date, "datetime2": datetime}[type_].fromisoformat(value) if type_ != "text" else value
