"""Column lists in DDL text, read by Spark's parser: types, comments, generated columns, constraints."""

import re
from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from dlt_local.declarations.spark_errors import line_of
from dlt_local.spark import jvm

_STRING = r"'(?:[^'\\]|\\.|'')*'" + r'|"(?:[^"\\]|\\.|"")*"'
_NAME = r"(?:`(?:[^`]|``)+`|\w+)(?:\s*\.\s*(?:`(?:[^`]|``)+`|\w+))*"
_FOREIGN_KEY = re.compile(
    rf"(?P<text>{_STRING})|(?P<key>\bFOREIGN\s+KEY\s+)?\bREFERENCES\s+(?P<parent>{_NAME})(?P<columns>\s*\()?",
    re.IGNORECASE,
)
"""A foreign key; before it strings, such as comments, which may say the same words."""
_GENERATED = "delta.generationExpression"
_IDENTITY_START = "delta.identity.start"


@dataclass(frozen=True)
class Columns:
    """What a column list declares."""

    schema: StructType
    """Comments, generation expressions and identity columns are in the fields' metadata, as Delta stores them."""
    checks: dict[str, str] = field(default_factory=dict)
    """Constraint -> the condition that Delta enforces on every write."""
    not_enforced: tuple[str, ...] = ()
    """Names of primary and foreign keys, which are informational here and on Databricks."""


class NotDdl(ValueError):
    """The text is not a column list; the message is the parser's first line."""


def columns(session: SparkSession, text: str) -> Columns:
    """Parse a column list such as ``id INT NOT NULL COMMENT 'x', twice INT GENERATED ALWAYS AS (2 * id)``.

    Raises:
        NotDdl: Spark cannot parse it, or it has a DEFAULT.
    """
    text = _FOREIGN_KEY.sub(_as_spark_has_it, text)
    try:
        plan = jvm.parsed_plan(session, f"CREATE TABLE t ({text}\n) USING delta")
    except ParseException as error:
        raise NotDdl(line_of(error)) from error
    fields = [_field(column) for column in jvm.elements(plan.columns())]
    constraints = jvm.elements(plan.tableSpec().constraints())
    checks = {str(c.name()): str(c.condition()) for c in constraints if _is_check(c)}
    keys = tuple(str(c.name()) for c in constraints if not _is_check(c))
    return Columns(StructType(fields), checks, keys)


def _as_spark_has_it(found: "re.Match[str]") -> str:
    """A foreign key as Spark's parser takes it: a column's own without FOREIGN KEY, and with the parent's columns."""
    if found["text"]:
        return found["text"]
    return f"REFERENCES {found['parent']}{found['columns'] or ' (key)'}"


def _field(column: Any) -> StructField:
    schema: StructType = StructType.fromDDL(f"`c` {column.dataType().sql()}")  # type: ignore[assignment]
    if column.defaultValue().isDefined():
        message = f"column `{column.name()}`: DEFAULT is not supported; set the value in the query"
        raise NotDdl(message)
    metadata: dict[str, object] = {}
    if column.comment().isDefined():
        metadata["comment"] = str(column.comment().get())
    if column.generationExpression().isDefined():
        metadata[_GENERATED] = str(column.generationExpression().get())
    if column.identityColumnSpec().isDefined():
        identity = column.identityColumnSpec().get()
        metadata[_IDENTITY_START] = identity.getStart()
        metadata["delta.identity.step"] = identity.getStep()
        metadata["delta.identity.allowExplicitInsert"] = identity.isAllowExplicitInsert()
    return StructField(str(column.name()), schema.fields[0].dataType, bool(column.nullable()), metadata)


def _is_check(constraint: Any) -> bool:
    return bool(constraint.getClass().getSimpleName() == "CheckConstraint")


def is_generated(column: StructField) -> bool:
    """True for a generated or identity column: Delta fills it in when a row is written without it."""
    return _GENERATED in column.metadata or _IDENTITY_START in column.metadata
