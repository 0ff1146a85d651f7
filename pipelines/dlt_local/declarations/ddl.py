"""A table's columns as DDL text, read by Spark's own parser: types, comments, generated columns, constraints."""

from dataclasses import dataclass, field
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

_GENERATED = "delta.generationExpression"
_IDENTITY = ("delta.identity.start", "delta.identity.step", "delta.identity.allowExplicitInsert")


@dataclass(frozen=True)
class Columns:
    """What a column list declares."""

    schema: StructType
    """Comments, and what Delta works out by itself, stand in the fields' metadata as Delta keeps them."""
    checks: dict[str, str] = field(default_factory=dict)
    """Constraint -> the condition that Delta enforces on every write."""
    not_enforced: tuple[str, ...] = ()
    """Names of the keys, which are for readers only, here and on Databricks."""


class NotDdl(ValueError):
    """The text is no list of columns; the parser's first line says why."""


def columns(session: SparkSession, text: str) -> Columns:
    """Read a column list such as ``id INT NOT NULL COMMENT 'x', twice INT GENERATED ALWAYS AS (2 * id)``.

    Raises:
        NotDdl: Spark's parser refuses it.
    """
    statement = f"CREATE TABLE t ({text}\n) USING delta"
    try:
        plan = session._jsparkSession.sessionState().sqlParser().parsePlan(statement)
    except ParseException as error:
        raise NotDdl(_first_line(error)) from error
    definitions = plan.columns()
    fields = [_field(definitions.apply(i)) for i in range(definitions.size())]
    constraints = [plan.tableSpec().constraints().apply(i) for i in range(plan.tableSpec().constraints().size())]
    checks = {str(c.name()): str(c.condition()) for c in constraints if _is_check(c)}
    others = tuple(str(c.name()) for c in constraints if not _is_check(c))
    return Columns(StructType(fields), checks, others)


def _field(column: Any) -> StructField:
    schema: StructType = StructType.fromDDL(f"`c` {column.dataType().sql()}")  # type: ignore[assignment]
    if column.defaultValue().isDefined():
        message = f"column `{column.name()}`: DEFAULT is not taken; give the value in the query"
        raise NotDdl(message)
    metadata: dict[str, object] = {}
    if column.comment().isDefined():
        metadata["comment"] = str(column.comment().get())
    if column.generationExpression().isDefined():
        metadata[_GENERATED] = str(column.generationExpression().get())
    if column.identityColumnSpec().isDefined():
        identity = column.identityColumnSpec().get()
        told = (identity.getStart(), identity.getStep(), identity.isAllowExplicitInsert())
        metadata.update(zip(_IDENTITY, told, strict=True))
    return StructField(str(column.name()), schema.fields[0].dataType, bool(column.nullable()), metadata)


def _is_check(constraint: Any) -> bool:
    return bool(constraint.getClass().getSimpleName() == "CheckConstraint")


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def is_worked_out(column: StructField) -> bool:
    """True where Delta makes the column's values itself when a row is written without them."""
    return _GENERATED in column.metadata or _IDENTITY[0] in column.metadata
