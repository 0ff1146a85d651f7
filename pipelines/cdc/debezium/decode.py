"""From records to changes: every record ends as a change, a reject with its reason, or ignored by name."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import columns, rows, shapes
from cdc.debezium.positions import position_of
from cdc.debezium.verdict import CHANGE, REJECT, verdict
from cdc.spec.model import TableSpec

_RECORD = ("topic", "partition", "offset", "timestamp", "key", "value")
# Columns that live between two steps only.
_IN_ORDER, _HAS_ROW, _MISSING_FIELDS, _VERDICT = "_in_order", "_has_row", "_missing_fields", "_verdict"


def decode(records: DataFrame, table: TableSpec) -> DataFrame:
    """Every record with what became of it.

    Grain: one row per record, none dropped and none added. Columns: the table's own (target names and types;
    of a delete the key only), the change's (`_op`, its position, `_snapshot`, `_transaction_id`, `_topic`,
    `_partition`, `_offset`, `_recorded_at`, `_unknown`), then `_outcome` (``change``, ``reject`` or
    ``ignored``), `_reason` (a reject's code, an ignored record's kind), `_message`, and for rejects `_key`
    and `_value`, the record's bytes.
    """
    # Each step is a projection of its own because the next one reads its columns more than once.
    for step in _STEPS:
        records = step(records, table)
    return records


def changes(decoded: DataFrame, table: TableSpec) -> DataFrame:
    """The changes among the decoded records.

    Grain: one row per change; a redelivered one again, with the same position. Columns: the table's own, then
    the change's.
    """
    wanted = (*names.target_columns(table), *change_columns(table))
    return decoded.where(F.col(names.OUTCOME) == CHANGE).select(*(F.col(f"`{name}`") for name in wanted))


def rejects(decoded: DataFrame, table: TableSpec) -> DataFrame:
    """The records that could not be decoded.

    Grain: one row per reject. Columns: `reason` (a code of `Reason`), `message`, and the record's `topic`,
    `partition`, `offset`, `timestamp`, `key` and `value`, unchanged.
    """
    kept = (names.REASON, names.MESSAGE, names.TOPIC, names.PARTITION, names.OFFSET, names.RECORDED_AT)
    renamed = zip((*kept, names.KEY, names.VALUE), names.REJECT_COLUMNS, strict=True)
    return decoded.where(F.col(names.OUTCOME) == REJECT).select(*(F.col(old).alias(new) for old, new in renamed))


def change_columns(table: TableSpec) -> tuple[str, ...]:
    """The columns of a change beside the table's own, in order."""
    return (
        names.OP,
        *position_of(table.connector).column_names,
        names.SNAPSHOT,
        names.TRANSACTION_ID,
        names.TOPIC,
        names.PARTITION,
        names.OFFSET,
        names.RECORDED_AT,
        names.UNKNOWN,
    )


def _parse(records: DataFrame, table: TableSpec) -> DataFrame:
    return shapes.parse(records.select(*_RECORD), table)


def _place_fields(opened: DataFrame, table: TableSpec) -> DataFrame:
    return opened.select("*", rows.is_in_order(F.col(shapes.ROW), columns.row_fields(table)).alias(_IN_ORDER))


def _read_texts(placed: DataFrame, table: TableSpec) -> DataFrame:
    row, in_order, fields = F.col(shapes.ROW), F.col(_IN_ORDER), columns.row_fields(table)
    read = placed.select(
        "*",
        rows.texts(row, in_order, fields).alias(columns.TEXTS),
        rows.unknown(row, in_order, fields, table.excluded).alias(names.UNKNOWN),
        row.isNotNull().alias(_HAS_ROW),
        rows.missing(row, columns.required_fields(table)).alias(_MISSING_FIELDS),
    )
    return read.drop(shapes.ROW, _IN_ORDER)


def _read_key(with_texts: DataFrame, table: TableSpec) -> DataFrame:
    if not columns.key_columns(table):
        return with_texts
    texts = columns.key_texts(table, F.col(columns.TEXTS), F.col(shapes.BEFORE), F.col("key"))
    return with_texts.select("*", texts.alias(columns.KEY_TEXTS)).drop(shapes.BEFORE)


def _measure(with_texts: DataFrame, table: TableSpec) -> DataFrame:
    measures = tuple(columns.measures(table))
    of_position = position_of(table.connector).columns(F.col(shapes.SOURCE), F.col(names.OP), table.connector)
    return with_texts.select(
        "*",
        *(column.alias(name) for name, column in of_position.items()),
        *((F.struct(*measures).alias(columns.MEASURES),) if measures else ()),
    )


def _convert(measured: DataFrame, table: TableSpec) -> DataFrame:
    return measured.select("*", *columns.typed(table)).drop(columns.MEASURES)


def _judge(converted: DataFrame, table: TableSpec) -> DataFrame:
    judged = verdict(
        table,
        value=F.col("value"),
        damaged=F.col(shapes.DAMAGED),
        kind=F.col(shapes.KIND),
        op=F.col(names.OP),
        source=F.col(shapes.SOURCE),
        has_row=F.col(_HAS_ROW),
        missing_fields=F.col(_MISSING_FIELDS),
    )
    return converted.select("*", judged.alias(_VERDICT))


def _finish(judged: DataFrame, table: TableSpec) -> DataFrame:
    outcome = F.col(_VERDICT).getField(names.OUTCOME)
    return judged.select(
        *columns.masked(table),
        names.OP,
        *position_of(table.connector).column_names,
        F.lower(F.col(shapes.SOURCE).getField("snapshot")).alias(names.SNAPSHOT),
        names.TRANSACTION_ID,
        F.col("topic").alias(names.TOPIC),
        F.col("partition").alias(names.PARTITION),
        F.col("offset").alias(names.OFFSET),
        F.col("timestamp").alias(names.RECORDED_AT),
        names.UNKNOWN,
        *(F.col(_VERDICT).getField(name).alias(name) for name in (names.OUTCOME, names.REASON, names.MESSAGE)),
        F.when(outcome == REJECT, F.col("key")).alias(names.KEY),
        F.when(outcome == REJECT, F.col("value")).alias(names.VALUE),
    )


_STEPS = (
    _parse,
    shapes.open_parts,
    _place_fields,
    _read_texts,
    _read_key,
    _measure,
    _convert,
    _judge,
    _finish,
)
