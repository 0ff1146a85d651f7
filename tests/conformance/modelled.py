"""Run a case through the plain-Python model; SQLite evaluates its SQL conditions."""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.conformance.case import SNAPSHOT_VERSION, Case, Rows
from tests.support.auto_cdc_model import Event, Rules, snapshot_events, target

Row = Mapping[str, Any]


def is_modelled(case: Case) -> bool:
    """Whether the model covers the case: it has no clock (retention) and no types (a struct gains or loses a field)."""
    return "not-modelled" not in (case.facts.get("tags") or [])


def table_after(case: Case, batch: int) -> Rows:
    """The model's target after this batch.

    Raises:
        Refused: the events since the last full refresh include one that no batch may contain.
    """
    return _Modelled(case, range(case.last_reset(batch), batch + 1)).table()


def evaluate(sql: str, row: Row) -> Any:
    """The value of a SQL expression over one row; booleans are 0 and 1, structs and maps are JSON text."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.create_function("greatest", -1, max)
        columns = ", ".join(f'? AS "{name}"' for name in row)
        values = [json.dumps(value) if isinstance(value, dict | list) else value for value in row.values()]
        return database.execute(f"SELECT {sql} FROM (SELECT {columns})", values).fetchone()[0]


@dataclass(frozen=True)
class _Modelled:
    case: Case
    batches: range
    """The batches since the last full refresh."""

    def table(self) -> Rows:
        read = [index for index in self.batches if not self._has_run_once(index)]
        if self.case.is_snapshot:
            snapshots = [(self.case.snapshot_version(index), self._rows(index)) for index in read]
            events = snapshot_events(snapshots, self.rules.keys)
        else:
            events = [self._event(index, row) for index in read for row in self._rows(index)]
        rows = target(events, self.rules)
        return [{n: dict(v) if isinstance(v, tuple) else v for n, v in row.items()} for row in rows]

    @cached_property
    def rules(self) -> Rules:
        settings = self.case.settings(self.batches[-1])
        keys = tuple(map(self._spelled, settings["keys"]))
        rest = [name for name in self._columns if name not in keys]
        ignoring = settings.get("ignore_null_updates") or {"column_list": []}
        lists = ignoring if isinstance(ignoring, Mapping) else {}
        tracked = self._listed(rest, settings, "track_history_")
        ignored = self._listed(rest, lists)
        return Rules(
            keys,
            tuple(self._columns),
            scd_type=2 if int(settings["scd_type"]) == 2 else 1,
            tracked=frozenset(tracked),
            ignore_nulls=frozenset(ignored),
        )

    @cached_property
    def _columns(self) -> list[str]:
        """The target's columns: the first update's, then those that later ones add."""
        selected = (
            name
            for index in self.batches
            for name in self._listed(self.case.source_columns(index), self.case.settings(index))
        )
        return list(dict.fromkeys(map(self._spelled, selected)))

    def _spelled(self, name: str) -> str:
        """A column in the spelling of the first update that has it."""
        known = (column for index in self.batches for column in self.case.source_columns(index))
        return next(column for column in known if column.casefold() == name.casefold())

    def _listed(self, names: Iterable[str], lists: Mapping[str, Any], prefix: str = "") -> list[str]:
        only, without = lists.get(f"{prefix}column_list"), lists.get(f"{prefix}except_column_list")
        wanted = {name.casefold() for name in (names if only is None else only)}
        unwanted = {name.casefold() for name in without or []}
        return [name for name in names if name.casefold() in wanted - unwanted]

    def _has_run_once(self, batch: int) -> bool:
        """Whether the batch is of a `once` flow that ran in an earlier update; flows take turns."""
        earlier = any(index % 2 == batch % 2 for index in self.batches if index < batch)
        return bool(self.case.settings(batch).get("once")) and earlier

    def _rows(self, batch: int) -> list[Row]:
        rows = [
            {self._spelled(name): value for name, value in row.items() if name != SNAPSHOT_VERSION}
            for row in self.case.source_rows(batch)
        ]
        absent = {self._spelled(name): None for name in self.case.source_columns(batch)}
        return [absent | row for row in rows if evaluate(self.case.facts.get("where") or "1", row)]

    def _event(self, batch: int, row: Row) -> Event:
        settings = self.case.settings(batch)
        deletes, truncates = settings["apply_as_deletes"], settings["apply_as_truncates"]
        kind = "truncate" if _holds(truncates, row) else "delete" if _holds(deletes, row) else "upsert"
        types = self.case.source_columns(batch)
        maps = {self._spelled(name) for name, ddl in types.items() if ddl.upper().startswith("MAP")}
        selected = {name: row[name] for name in self._listed(row, settings)}
        frozen = {n: tuple(v.items()) if n in maps and v is not None else v for n, v in selected.items()}
        column = settings.get("columns_to_update")
        authored = frozenset(row[column]) if column and row[column] is not None else None
        return Event(kind, self._sequence(settings["sequence_by"], row), frozen, authored)  # type: ignore[arg-type]

    def _sequence(self, sequence_by: str | list[str], row: Row) -> Any:
        if isinstance(sequence_by, list):
            return {name: row[self._spelled(name)] for name in sequence_by}
        is_column = sequence_by.casefold() in map(str.casefold, row)
        return row[self._spelled(sequence_by)] if is_column else evaluate(sequence_by, row)


def _holds(condition: str | None, row: Row) -> bool:
    return bool(condition and evaluate(condition, row))
