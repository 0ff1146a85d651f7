"""The SQL of specs resolved by Spark when a pipeline loads them: its faults name the YAML file, not a query."""

import re
import weakref
from collections.abc import Iterator, Sequence
from itertools import groupby

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DataType

from cdc import names
from cdc.debezium.decode import change_columns
from cdc.debezium.values import conversion_of
from cdc.errors import Diagnostic, SpecError
from cdc.spec.load import Conf
from cdc.spec.model import TableSpec
from cdc.spec.reading import Fault, Reading
from cdc.spec.sql_texts import SqlText, not_sql, sql_texts, unknown_column
from cdc.spec.table import ReadTable

_TYPES = {
    names.COMMITTED_AT: "timestamp",
    names.RECORDED_AT: "timestamp",
    names.PARTITION: "int",
    names.OFFSET: "bigint",
    names.UNKNOWN: "map<string, string>",
    names.COLUMNS_TO_UPDATE: "array<string>",
    names.DELETED_AT: "timestamp",
    names.HAS_ROW: "boolean",
}
"""Types of the columns of a change; the others, a position's among them, stand in as strings."""
_sound: weakref.WeakSet[Conf] = weakref.WeakSet()
"""The confs without faults: every source file of a pipeline loads the specs, and they are resolved once."""


def check_sql(spark: SparkSession, conf: Conf) -> None:
    """Resolve every SQL text of all tables; nothing is executed.

    Raises:
        SpecError: with each text that Spark refuses.
    """
    if conf in _sound:
        return
    if faults := list(_conf_faults(spark, conf)):
        raise SpecError(faults)
    _sound.add(conf)


def _conf_faults(spark: SparkSession, conf: Conf) -> Iterator[Diagnostic]:
    for table in conf.read:
        if table.spec and (texts := tuple(sql_texts(table))):
            yield from map(table.reading.diagnostic, _table_faults(_placeholder(spark, table.spec), table, texts))


def _table_faults(frame: DataFrame, table: ReadTable, texts: Sequence[SqlText]) -> Iterator[Fault]:
    computing = [sql for sql in texts if sql.computes]
    if found := list(_faults_of(frame, table.reading, computing)):
        yield from found
        computing = []
    frame = frame.select("*", *(F.expr(sql.text).alias(sql.computes or "") for sql in computing))
    known = set(frame.columns)
    # A text that names a computed column cannot be resolved before that column is.
    others = [sql for sql in texts if not sql.computes and known.issuperset(sql.columns)]
    yield from _faults_of(frame, table.reading, others)


def _faults_of(frame: DataFrame, reading: Reading, texts: Sequence[SqlText]) -> Iterator[Fault]:
    """The faults of texts, each over the columns that it may name."""
    for visible, group in groupby(sorted(texts, key=_visible), key=_visible):
        seen, same = frame.select(*(F.col(f"`{name}`") for name in visible)), tuple(group)
        # One analysis for all: they are sound as a rule.
        if not _is_sound(seen, same):
            for sql in same:
                yield from _faults(seen, reading, sql)


def _visible(sql: SqlText) -> tuple[str, ...]:
    return (*sql.columns, *sql.others)


def _is_sound(frame: DataFrame, texts: Sequence[SqlText]) -> bool:
    try:
        schema = frame.select("*", *(F.expr(sql.text) for sql in texts)).schema
    except AnalysisException:
        return False
    types = [field.dataType for field in schema.fields[-len(texts) :]]
    return all(_unfit(sql, type_) is None for sql, type_ in zip(texts, types, strict=True))


def _faults(frame: DataFrame, reading: Reading, sql: SqlText) -> Iterator[Fault]:
    try:
        found = frame.select("*", F.expr(sql.text)).schema.fields[-1].dataType
    except AnalysisException as error:
        yield from _explained(error, reading, sql)
        return
    if reason := _unfit(sql, found):
        yield not_sql(reading, sql, reason)


def _unfit(sql: SqlText, found: DataType) -> str | None:
    """Why a text must not have values of this type; None if it may."""
    if not sql.is_value and found != BooleanType():
        return f"its value is {found.simpleString()}; expected true or false"
    if sql.computes and re.search(r"\b(void|map|variant|interval)\b", found.simpleString()):
        return f"its value is {found.simpleString()}, which a table of changes cannot have; cast it"
    return None


def _explained(error: AnalysisException, reading: Reading, sql: SqlText) -> Iterator[Fault]:
    condition, message = error.getCondition() or "", str(error).strip()
    if condition.startswith("UNRESOLVED_COLUMN"):
        name = (error.getMessageParameters() or {}).get("objectName", "").strip("`").replace("`.`", ".")
        found = re.search(rf"(?i)(?<!\w){re.escape(name)}(?!\w)", sql.text)
        yield unknown_column(reading, sql, name, found.start() if found else None)
    elif condition.startswith("PARSE") or not any(name in sql.text.casefold() for name in sql.others):
        # Of the columns beside the table's own only the names are certain here, not the types.
        place = re.search(r"pos (\d+)\)", message)
        reason = re.sub(r"^\[\S+\]\s*", "", message.partition("\n")[0]).partition(" SQLSTATE")[0].rstrip(". ")
        yield not_sql(reading, sql, f"{reason} ({condition})", int(place[1]) if place else None)


def _placeholder(spark: SparkSession, table: TableSpec) -> DataFrame:
    """A frame without rows and with the columns of the table's changes."""
    own = [(each.target, conversion_of(each, table.connector).target) for each in table.columns]
    offsets = [(each.offset_target, "string") for each in table.columns if each.offset_target]
    others = [(name, _TYPES.get(name, "string")) for name in change_columns(table)]
    columns = ", ".join(f"`{name}` {type_}" for name, type_ in (*own, *offsets, *others))
    return spark.createDataFrame([], columns)
