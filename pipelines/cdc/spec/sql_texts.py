"""The SQL texts of a table's spec, with the columns that they may name and their places in the file."""

from collections.abc import Iterator
from dataclasses import dataclass

from cdc.debezium.decode import change_columns
from cdc.errors import Condition, Location, near_match
from cdc.spec.columns import MASKS
from cdc.spec.document import ValuePath
from cdc.spec.reading import Fault, Reading, listed
from cdc.spec.table import ReadTable


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


def sql_texts(table: ReadTable) -> Iterator[SqlText]:
    """The masks and expectations of a table, as far as its file could be read."""
    columns = tuple(name for each in table.columns for name in (each.target, each.offset_target) if name)
    others = change_columns(table.spec) if table.spec else ()
    kept = {each.name for each in table.columns}
    data = table.reading.data
    for name, settings in data.get("columns", {}).items():
        mask = settings.get("mask") if isinstance(settings, dict) else None
        if name in kept and mask is not None and mask not in MASKS:
            path = ("columns", name, "mask")
            yield SqlText(f"the mask of column `{name}`", path, mask, columns, others)
    for name, condition in data.get("expectations", {}).items():
        yield SqlText(f"the expectation `{name}`", ("expectations", name), condition, columns, others, False)


def unknown_column(reading: Reading, sql: SqlText, name: str, offset: int | None = None) -> Fault:
    """The fault of a column that the table does not have.

    Args:
        reading: the table's file.
        sql: the text that names the column.
        name: the column as written there.
        offset: where in the text it starts, if that is known.
    """
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
    at = position(reading, sql, offset)
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
