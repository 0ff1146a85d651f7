"""Names and texts that an export writes into sdp-meta's files, and that an import recognizes there.

Its data quality rules and flows see bronze as `decode_bronze` leaves it: changes, rejects and ignored records. Each of
our conditions, which are on changes, is written with what makes it hold for all other rows.
"""

import re

from cdc import names
from cdc.debezium.rejects import Reason
from cdc.row_conditions import expectations, removes_row
from cdc.spec.model import Action, ConnectorSpec, TableSpec

ONLY_CHANGES = f"{names.OUTCOME} = '{names.CHANGE}'"
"""The `where_clause` of a silver transformation."""
NO_REJECT = ("record_is_no_reject", f"{names.OUTCOME} <> '{names.REJECT}'")
"""A rule of every table: it counts rejects, and with no rule but those of a quarantine the table itself is not made."""
QUARANTINE = "_quarantine"
"""Suffix of a quarantine's table."""
KEYS: dict[Action, str] = {
    "warn": "expect",
    "drop": "expect_or_drop",
    "fail": "expect_or_fail",
    "quarantine": "expect_or_quarantine",
}
"""Action of an expectation -> its key in a file of data quality rules."""
_MARK = "\0"
_NO_CHANGE = f"{names.OUTCOME} <> '{names.CHANGE}' OR "
_QUARANTINED = f"{names.REASON} <=> '{Reason.QUARANTINED.name}'"


def rule(condition: str, action: Action, row_filter: str | None) -> str:
    """An expectation as a data quality rule on bronze.

    >>> rule("total >= 0", "warn", None)
    "_outcome <> 'change' OR (\\ntotal >= 0\\n)"
    """
    before, after = _around(action, row_filter)
    return f"{before}{condition}{after}"


def condition_of(text: str, action: Action, row_filter: str | None) -> str | None:
    """The condition of an expectation that was written as this rule; None if it was not.

    >>> condition_of(rule("total >= 0", "drop", "id > 1"), "drop", "id > 1")
    'total >= 0'
    """
    return _inside(text, *_around(action, row_filter))


def filter_of(removal: str) -> str | None:
    """The filter of a table whose changes remove their row by this condition; None if it has no filter.

    >>> filter_of("_op = 'd' OR (_op IN ('c', 'u', 'r') AND NOT coalesce((\\nid > 1\\n), false))")
    'id > 1'
    """
    template = removes_row(_table(row_filter=_MARK)) or ""
    before, _, after = template.partition(_MARK)
    return _inside(removal, before, after)


def silver_table(table: TableSpec) -> str:
    """The table of silver that a data flow writes: the versions, or the changes of an append-only table."""
    dataset = names.changes_dataset(table) if table.append_only else names.versions_dataset(table)
    return dataset.rpartition(".")[2]


def column_name(quoted: str) -> str:
    """A column's name without the backticks around it.

    >>> column_name("`order no`"), column_name("id")
    ('order no', 'id')
    """
    found = re.fullmatch(r"`((?:[^`]|``)+)`", quoted.strip())
    return found[1].replace("``", "`") if found else quoted.strip()


def quoted(name: str) -> str:
    """A column's name as SQL."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else f"`{name.replace('`', '``')}`"


def _around(action: Action, row_filter: str | None) -> tuple[str, str]:
    """The texts before and after the condition."""
    if action == "quarantine":
        # Decoding has made a reject of every violation. Several rules of a quarantine are joined by AND, so that the
        # reason, which is the same for all, has to satisfy each of them.
        before, after = _around("drop", row_filter)
        return f"{_QUARANTINED} OR NOT coalesce({before}", f"{after}, false)"
    if action == "warn":
        return f"{_NO_CHANGE}(\n", "\n)"
    before, _, after = expectations(_table(row_filter, action), action)[_MARK].partition(_MARK)
    return f"{_NO_CHANGE}{before}", after


def _inside(text: str, before: str, after: str) -> str | None:
    if len(text) > len(before) + len(after) and text.startswith(before) and text.endswith(after):
        return text[len(before) : len(text) - len(after)]
    return None


def _table(row_filter: str | None, action: Action = "warn") -> TableSpec:
    """A table whose conditions are marks, so that texts around them are those of every table."""
    return TableSpec(
        source="",
        name="",
        connector=ConnectorSpec("", ""),
        topic="",
        key=(),
        columns=(),
        append_only=True,
        filter=row_filter,
        expectations={_MARK: _MARK},
        actions={_MARK: action},
    )
