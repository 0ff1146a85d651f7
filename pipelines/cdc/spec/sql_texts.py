"""The SQL texts of a table's spec, with the columns that they may name and their places in the file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cdc.debezium.decode import change_columns
from cdc.errors import Condition, Location, near_match
from cdc.spec.columns import MASKS
from cdc.spec.document import ValuePath
from cdc.spec.expectations import actions, conditions
from cdc.spec.model import ColumnSpec
from cdc.spec.reading import Fault, Reading, listed
from cdc.spec.table import ReadTable

_LEFT_OUT = (
    "a change may leave it out (`large_nulls: unchanged`, `unavailable: merge`), and then has null in it",
    "use columns that every change carries, or remove that setting of the column.",
)
_COMPUTED = ("it is computed itself", "write out what that column computes, in the source's columns.")


@dataclass(frozen=True)
class SqlText:
    """One SQL expression over a table's columns."""

    what: str
    """As the subject of a sentence: ``the mask of column `email` ``."""
    path: ValuePath
    text: str
    columns: tuple[str, ...]
    """Target names of the table's own columns."""
    others: tuple[str, ...]
    """The columns of a change beside them: ``_op`` and so on."""
    is_value: bool = True
    """False: a condition, which is true or false."""
    barred: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)
    """Columns that exist but must not be named here, in lower case -> why, and the fix."""
    computes: str | None = None
    """The name of the column that the text computes."""


def sql_texts(table: ReadTable) -> Iterator[SqlText]:
    """The masks, computed columns, filter and expectations of a table, as far as its file could be read."""
    data = table.reading.data
    source, computed = _targets(table.columns), tuple(data.get("computed", {}))
    others = change_columns(table.spec) if table.spec else ()
    kept = {each.name for each in table.columns}
    for name, settings in data.get("columns", {}).items():
        mask = settings.get("mask") if isinstance(settings, dict) else None
        if name in kept and mask is not None and mask not in MASKS:
            yield SqlText(f"the mask of column `{name}`", ("columns", name, "mask"), mask, source, others)
    left_out = {} if data.get("append_only") else _left_out(table.columns)
    carried = tuple(name for name in source if name.casefold() not in left_out)
    for name, text in data.get("computed", {}).items():
        barred = {**left_out, **{each.casefold(): _COMPUTED for each in computed}}
        what = f"the computed column `{name}`"
        yield SqlText(what, ("computed", name), text, carried, (), barred=barred, computes=name)
    if "filter" in data:
        columns = (*source, *computed)
        yield SqlText("the filter", ("filter",), data["filter"], columns, (), is_value=False)
    for name, condition in conditions(data).items():
        what, stated = f"the expectation `{name}`", data["expectations"][name]
        path: ValuePath = ("expectations", name) if isinstance(stated, str) else ("expectations", name, "condition")
        if name in actions(data):
            columns = (*carried, *computed)
            yield SqlText(what, path, condition, columns, others, is_value=False, barred=left_out)
        else:
            yield SqlText(what, path, condition, (*source, *computed), others, is_value=False)


def unknown_column(reading: Reading, sql: SqlText, name: str, offset: int | None = None) -> Fault:
    """The fault of a column that the table does not have, or that the text must not use.

    Args:
        reading: the table's file.
        sql: the text that names the column.
        name: the column as written there.
        offset: where in the text it starts, if that is known.
    """
    at = position(reading, sql, offset)
    if bar := sql.barred.get(name.casefold()):
        why, fix = bar
        detail = f"{sql.what} names `{name}`: {why}"
        return Fault(Condition.UNUSABLE_SQL_COLUMN, sql.path, detail, fix, value=name, at=at)
    renamed = {
        source: settings["rename"]
        for source, settings in reading.data.get("columns", {}).items()
        if isinstance(settings, dict) and "rename" in settings
    }
    detail = f"{sql.what} names `{name}`, which is not one of the table's columns: {listed(sql.columns)}"
    near = near_match(name, [*sql.columns, *sql.others])
    if name in renamed:
        detail, near = f"{sql.what} names `{name}`; silver calls this column `{renamed[name]}`", renamed[name]
    fix = "write the column's name in silver (its `rename`, if it has one), or add the column to `columns:`."
    return Fault(Condition.UNKNOWN_SQL_COLUMN, sql.path, detail, fix, value=name, near=near, at=at)


def not_sql(reading: Reading, sql: SqlText, reason: str, offset: int | None = None) -> Fault:
    """The fault of a text that is not an SQL expression."""
    fix = "write one Spark SQL expression, such as `total >= 0`, in the column names of silver."
    at = position(reading, sql, offset)
    return Fault(Condition.BAD_SQL, sql.path, f"{sql.what} is not valid SQL: {reason}", fix, value=sql.text, at=at)


def position(reading: Reading, sql: SqlText, offset: int | None) -> Location:
    """The place of a character of the text; the text's own where YAML's quotes or line breaks hide it."""
    start = reading.document.place(sql.path)
    line = reading.document.line(start.line)
    for first in (start.column - 1, start.column):
        if offset is not None and line[first : first + len(sql.text)] == sql.text:
            return Location(start.file, start.line, first + 1 + offset)
    return start


def _targets(columns: tuple[ColumnSpec, ...]) -> tuple[str, ...]:
    return tuple(name for each in columns for name in (each.target, each.offset_target) if name)


def _left_out(columns: tuple[ColumnSpec, ...]) -> dict[str, tuple[str, str]]:
    return {each.target.casefold(): _LEFT_OUT for each in columns if each.merges}
