"""The SQL of specs parsed and resolved without Spark, where sqlglot is installed."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from cdc.spec.reading import Fault
from cdc.spec.sql_texts import SqlText, not_sql, sql_texts, unknown_column
from cdc.spec.table import ReadTable

_WITHOUT_PARENTHESES = (
    "current_catalog",
    "current_database",
    "current_date",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtimestamp",
    "session_user",
    "user",
)
"""Functions that SQL calls like columns."""


def check_sql(tables: Sequence[ReadTable]) -> None:
    """Report SQL texts that cannot be parsed, or that name columns which their tables do not have.

    Without sqlglot, which a run does not need, there is nothing to report: Spark checks the texts then.
    """
    try:
        import sqlglot
    except ImportError:
        return
    for table in tables:
        for sql in sql_texts(table):
            for fault in _faults(sqlglot, table, sql):
                table.reading.report(fault)


def _faults(sqlglot: Any, table: ReadTable, sql: SqlText) -> Iterator[Fault]:
    reading = table.reading
    try:
        tree = sqlglot.parse_one(sql.text, read="databricks")
    except sqlglot.errors.ParseError as error:
        first = error.errors[0] if error.errors else {}
        yield not_sql(reading, sql, _reason(first), _offset(sql.text, first))
        return
    except sqlglot.errors.SqlglotError:
        yield not_sql(reading, sql, "a quotation mark is not closed")
        return
    kinds = sqlglot.exp
    if isinstance(tree, (kinds.Block, kinds.Query, kinds.DDL, kinds.Command, kinds.Star, kinds.Alias)):
        yield not_sql(reading, sql, "it is not a single expression")
        return
    if tree.find(kinds.Query):
        return  # Whose columns a subquery names, only the catalog knows.
    if not table.columns:
        return  # That is a fault itself.
    known = {name.casefold() for name in (*sql.columns, *sql.others, *_WITHOUT_PARENTHESES)}
    found = {column.parts[0].name: column.parts[0].meta.get("start") for column in tree.find_all(kinds.Column)}
    for name, offset in found.items():
        # Of a table whose file has faults, the pipeline's own columns are not known.
        if name.casefold() not in known and (table.spec or not name.startswith("_")):
            yield unknown_column(reading, sql, name, offset)


def _reason(error: dict[str, Any]) -> str:
    """The parser's message in words that a user of SQL knows."""
    near = str(error.get("highlight") or "").strip()
    description = str(error.get("description") or "")
    if re.match(r"Required (keyword|argument)", description):
        return f"something is missing after `{near}`" if near else "something is missing"
    return f"`{near}` is not expected here" if near else "it cannot be read"


def _offset(text: str, error: dict[str, Any]) -> int | None:
    """Where the parser stopped; it counts the column of the last letter of a word, from 1."""
    near = str(error.get("highlight") or "")
    before = str(error.get("start_context") or "")
    return len(before) if near and text.startswith(before + near) else None
