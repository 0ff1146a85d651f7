"""Source drift: what a connector's records and specs differ in, from the first record that shows it to the last."""

import json
from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.drift import EXPECTED, FIELD, FOUND, KIND, RECORD
from cdc.schema_drift import schema_drift
from cdc.spec.difference_kinds import Change
from cdc.spec.kinds import kind_of
from cdc.spec.model import ConnectorSpec, TableSpec
from cdc.switches import is_on

SETTING = "cdc.drift"
DRIFT_KEY = (KIND, FIELD, "is_first")
"""Key of the rows that `drift_records` gives: two of each kind and field, the first record's and the last one's."""
DRIFT_SEQUENCE = "_order"
DRIFT_COLUMNS = (*DRIFT_KEY, EXPECTED, FOUND, RECORD, "recorded_at")
"""The columns of ``silver.<table>_drift``."""


def wants_drift(spark: SparkSession) -> bool:
    """Whether the pipeline's configuration asks for tables of the source drift (``cdc.drift: true``)."""
    return is_on(spark, SETTING)


def notes_of_drift(table: TableSpec) -> Mapping[str, str]:
    """The table property of ``_decoded`` that lets each update say which new records differ from the spec."""
    notes = {
        "of": names.DRIFT,
        "text": [KIND, FIELD],
        "example": RECORD,
        "order": [names.RECORDED_AT, names.PARTITION, names.OFFSET],
        "hint": f"compare: {_compare(table.connector, '--diff')}",
    }
    return {"report.notes": json.dumps(notes)}


def drift_records(decoded: DataFrame) -> DataFrame:
    """The records that differ from a table's spec, as events of AUTO CDC: the greatest sequence of a key is kept.

    Grain: two rows per record, kind and field, one to be the first and one to be the last of them. Columns: `kind` (a
    value of `Change`), `field` (empty for a difference of the table itself), `is_first`, `expected`, `found`, `record`
    (topic[partition]@offset), `recorded_at`, `_order` (the sequence).
    """
    each = F.col("difference")
    # Kafka's timestamps come first, since the offsets of two partitions cannot be compared.
    order = (F.coalesce(F.unix_micros(names.RECORDED_AT), F.lit(0)), F.col(names.PARTITION), F.col(names.OFFSET))
    sign = F.when(F.col("is_first"), -1).otherwise(1)
    sequence = F.struct(*(((part * sign).cast("bigint")).alias(f"part_{n}") for n, part in enumerate(order)))
    # Most records differ in nothing, so they are left out before their differences are unfolded.
    differing = decoded.where(F.col(names.DRIFT).isNotNull())
    both = differing.select("*", F.explode(F.array(F.lit(True), F.lit(False))).alias("is_first"))
    return both.select("*", F.explode(names.DRIFT).alias("difference")).select(
        each.getField(KIND).alias(KIND),
        F.coalesce(each.getField(FIELD), F.lit("")).alias(FIELD),
        "is_first",
        *(each.getField(name).alias(name) for name in (EXPECTED, FOUND, RECORD)),
        F.col(names.RECORDED_AT).alias("recorded_at"),
        sequence.alias(DRIFT_SEQUENCE),
    )


def drift(records: Mapping[TableSpec, DataFrame], schema_changes: DataFrame | None = None) -> DataFrame:
    """What the records and the specs of a connector differ in.

    Grain: one row per source table, kind and field. Columns: `table` (the source's), `kind` (a value of `Change`),
    `field` (null for a difference of the table itself), `expected` (by the spec), `found` (the source's type where it
    is known, else the form of the first record's value), `first_record` and `last_record` (topic[partition]@offset),
    `since` and `last_recorded_at` (their timestamps), `to_do` (settings for the spec, beside those that the column
    has, or a command).

    Args:
        records: the differing records of each table, from ``silver.<table>_drift``.
        schema_changes: the connector's, if they are read (`schema_changes.read`).
    """
    tables = list(records)
    shown = reduce(DataFrame.unionByName, (_of_records(frame, table) for table, frame in records.items()))
    if schema_changes is not None:
        shown = shown.unionByName(_of_schemas(schema_changes, tables))
    return _summary(shown, tables[0].connector)


def _of_records(records: DataFrame, table: TableSpec) -> DataFrame:
    settled = [column.name for column in table.columns if column.may_be_absent]
    is_settled = (F.col(KIND) == Change.GONE.value) & F.col(FIELD).isin(*settled)
    return (records.where(~is_settled) if settled else records).select(
        F.lit(table.source).alias("table"), *DRIFT_COLUMNS, F.lit(False).alias("is_exact")
    )


def _of_schemas(schema_changes: DataFrame, tables: Sequence[TableSpec]) -> DataFrame:
    found = schema_drift(schema_changes, tables)
    both = F.explode(F.array(F.lit(True), F.lit(False))).alias("is_first")
    return found.select("table", *DRIFT_COLUMNS[:2], both, *DRIFT_COLUMNS[3:], F.lit(True).alias("is_exact"))


def _summary(shown: DataFrame, connector: ConnectorSpec) -> DataFrame:
    """One row per difference: the source's own description of it, if there is one, and the records that show it."""
    # A table's records come before the schema changes, which have a topic of their own.
    first = F.when(F.col("is_first"), F.struct("is_exact", RECORD, F.col("recorded_at")))
    last = F.when(~F.col("is_first"), F.struct(~F.col("is_exact"), RECORD, F.col("recorded_at")))
    described = F.when(F.col("is_first"), F.struct("is_exact", EXPECTED, FOUND))
    each = shown.groupBy("table", KIND, FIELD).agg(
        F.min(first).alias("first"), F.max(last).alias("last"), F.max(described).alias("described")
    )
    named = each.select(
        "table",
        KIND,
        F.nullif(FIELD, F.lit("")).alias(FIELD),
        f"described.{EXPECTED}",
        f"described.{FOUND}",
        F.col(f"first.{RECORD}").alias("first_record"),
        F.col("first.recorded_at").alias("since"),
        F.col(f"last.{RECORD}").alias("last_record"),
        F.col("last.recorded_at").alias("last_recorded_at"),
        F.col("described.is_exact").alias("is_exact"),
    )
    records = ("first_record", "since", "last_record", "last_recorded_at")
    return named.select("table", KIND, FIELD, EXPECTED, FOUND, *records, _to_do(connector).alias("to_do"))


def _to_do(connector: ConnectorSpec) -> Column:
    """Lines for the spec where they follow from the difference, else the command that finds them."""
    field, found = F.col(FIELD), F.col(FOUND)
    quoted = F.concat(F.lit('"'), F.regexp_replace(field, r'(["\\])', r"\\$1"), F.lit('"'))
    name = F.when(field.rlike(r"^[A-Za-z_]\w*$"), field).otherwise(quoted)

    def column(settings: Column) -> Column:
        return F.concat(F.lit("columns: {"), name, F.lit(": {"), settings, F.lit("}}"))

    def type_(text: Column) -> Column:
        return F.concat(F.lit('type: "'), text, F.lit('"'))

    absent = F.lit("on_missing: as_null")
    # The connector sends no values of these types.
    is_omitted = F.regexp_replace(found, " not null$", "").isin(*kind_of(connector).omitted)
    added = F.when(is_omitted, F.lit("exclude: true")).otherwise(F.concat(type_(found), F.lit(", "), absent))
    by_hand = {
        Change.ADDED: F.when(F.col("is_exact"), column(added)),
        Change.GONE: column(absent),
        Change.TYPE: F.when(F.col("is_exact"), column(type_(found))),
        Change.NULLABLE: column(type_(F.regexp_replace(EXPECTED, " not null$", ""))),
        Change.KEY: F.concat(F.lit("key: "), found),
        Change.DROPPED: F.lit("remove the file of the spec, or keep it for the table's history"),
    }
    lines = [F.when(F.col(KIND) == kind.value, text) for kind, text in by_hand.items()]
    return F.coalesce(*lines, F.lit(_compare(connector, "--update")))


def _compare(connector: ConnectorSpec, what: str) -> str:
    return f"python -m cdc scaffold --connector {connector.name} --capture <folder> {what}"
