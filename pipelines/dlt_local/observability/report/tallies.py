"""Tallies: the rows that an update added to a table, counted by value, and the rejects among them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dlt_local.errors import SetupError
from dlt_local.observability.report.arrival import OUT_OF_ORDER
from dlt_local.observability.report.measures import SEPARATOR, Counts

REJECTS = "report.rejects"
"""Table property beside `report.countBy`: the value, of its first column, that marks a row as a reject."""


@dataclass(frozen=True)
class Tally:
    """A table's rows by value: those that an update added, and all."""

    dataset: str
    column: str
    """What is counted: the table property that asks for it."""
    new: Mapping[str, int]
    """Since the counts before the update, so those of an update that was killed are in the next one's."""
    total: Mapping[str, int]
    rejected: str | None = None
    """The value that marks a reject."""
    examples: Mapping[str, str] = field(default_factory=dict)
    """Of notes: what the first row with each says of itself."""

    @property
    def rejects(self) -> Mapping[str, int]:
        """The new rejects by reason, the value of the second column."""
        return _nested(self.new).get(self.rejected, {}) if self.rejected else {}

    @property
    def is_of_notes(self) -> bool:
        """True if what is counted is remarkable in itself: notes, and rows out of order or whose position falls."""
        return bool(self.examples) or OUT_OF_ORDER in self.total

    def __str__(self) -> str:
        """One line, such as ``silver.orders_decoded: 12 new rows = 11 change + 1 reject (WRONG_TYPE 1)``."""
        if OUT_OF_ORDER in self.total:
            return f"{self.dataset}: {new_rows(self.new[OUT_OF_ORDER])} arrived out of order"
        if self.examples:
            return f"{self.dataset}: {self._notes}"
        parts = " + ".join(_part(value, reasons) for value, reasons in sorted(_nested(self.new).items()))
        return f"{self.dataset}: {new_rows(sum(self.new.values()))} = {parts}"

    @property
    def _notes(self) -> str:
        """The notes of new rows, then what to do about them."""
        new = sorted(self.new.items())
        notes = (f"{text} ({new_rows(count)}, first {self.examples.get(text)})" for text, count in new)
        hint = json.loads(self.column).get("hint")
        return ", ".join(notes) + (f"; {hint}" if hint else "")


def tally(dataset: str, before: Counts | None, after: Counts, rejected: str | None) -> Tally:
    """The difference of two counts; all rows are new if the table is another one or is counted differently."""
    is_same = before is not None and (before.table_id, before.column) == (after.table_id, after.column)
    earlier = before.rows if before is not None and is_same else {}
    new = {value: rows - earlier.get(value, 0) for value, rows in after.rows.items()}
    added = {value: n for value, n in new.items() if n > 0}
    return Tally(dataset, after.column, added, after.rows, rejected, after.examples)


class TooManyRejects(SetupError):
    """An update found more rejects than its user allows."""

    def __init__(self, tallies: Sequence[Tally], allowed: int) -> None:
        found = number_of_rejects(tallies)
        tables = "".join(f"\n  {each}" for each in tallies if each.rejects)
        super().__init__(
            "TOO_MANY_REJECTS",
            "",
            f"this update added {found:,} rejects, and --fail-on-rejects allows {allowed:,}:{tables}\n"
            "  the tables have all other rows, and the next update counts its own rejects only",
            f"correct what the reasons say, or allow this many with --fail-on-rejects={found}",
        )


def new_rows(count: int) -> str:
    """
    >>> new_rows(1), new_rows(1200)
    ('1 new row', '1,200 new rows')
    """
    return f"{count:,} new row" + ("s" if count != 1 else "")


def number_of_rejects(tallies: Sequence[Tally]) -> int:
    """The new rejects of all tables."""
    return sum(sum(each.rejects.values()) for each in tallies)


def _nested(rows: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """First value -> the others -> rows.

    >>> _nested({"change": 5, "reject: WRONG_TYPE": 1, "reject: NOT_UTF8": 2})
    {'change': {'': 5}, 'reject': {'WRONG_TYPE': 1, 'NOT_UTF8': 2}}
    """
    nested: dict[str, dict[str, int]] = {}
    for value, count in rows.items():
        first, _, rest = value.partition(SEPARATOR)
        nested.setdefault(first, {})[rest] = count
    return nested


def _part(value: str, reasons: Mapping[str, int]) -> str:
    """
    >>> _part("change", {"": 5}), _part("reject", {"WRONG_TYPE": 1, "NOT_UTF8": 2})
    ('5 change', '3 reject (NOT_UTF8 2, WRONG_TYPE 1)')
    """
    named = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()) if reason)
    return f"{sum(reasons.values()):,} {value}" + (f" ({named})" if named else "")
