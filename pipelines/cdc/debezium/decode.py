"""From records to changes: every record ends as a change, a reject with its reason, or ignored by name."""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from cdc import names
from cdc.debezium import columns, rows, shapes
from cdc.debezium.positions import position_of
from cdc.debezium.verdict import CHANGE, REJECT, fault_of_columns, verdict
from cdc.spec.model import TableSpec

# The record's columns, as decoding calls them: the table may have columns of Kafka's names.
_RECORD = {
    "topic": names.TOPIC,
    "partition": names.PARTITION,
    "offset": names.OFFSET,
    "timestamp": names.RECORDED_AT,
    "key": names.KEY,
    "value": names.VALUE,
}
# Columns that live between two steps only.
_IN_ORDER, _HAS_ROW, _MISSING_FIELDS = "_in_order", "_has_row", "_missing_fields"
_FAULT, _VERDICT = "_fault", "_verdict"


def decode(records: DataFrame, table: TableSpec) -> DataFrame:
    """Every record with what became of it.

    Grain: one row per record, none dropped and none added. Columns: the table's own (target names and types;
    of a delete the key only), the change's (`_op`, its position, `_snapshot`, `_transaction_id`, `_topic`,
    `_partition`, `_offset`, `_recorded_at`, `_unknown`, where the spec merges `_columns_to_update`), then
    `_outcome` (``change``, ``reject`` or ``ignored``), `_reason` (a reject's code, an ignored record's kind),
    `_message`, and for rejects `_key` and `_value`, the record's bytes.
    """
    for projection in _projections(table, is_remote()):
        records = records.select(*projection)
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
        *position_of(table.connector).column_names(table.connector),
        names.SNAPSHOT,
        names.TRANSACTION_ID,
        names.TOPIC,
        names.PARTITION,
        names.OFFSET,
        names.RECORDED_AT,
        names.UNKNOWN,
        *((names.COLUMNS_TO_UPDATE,) if table.merges else ()),
    )


@cache
def _projections(table: TableSpec, is_connect: bool) -> tuple[tuple[Column, ...], ...]:
    """Decoding as projections, one after the other. Each is one of its own because the next reads its columns more than
    once.

    Kept, because a pipeline evaluates its queries to plan an update and again to run it, and a wide table has
    thousands of expressions; the columns of a classic session and of a Connect client are not of one kind.
    """
    # A step without columns has nothing to do for this table; each one costs an analysis of the whole plan.
    return tuple(tuple(projection) for step in _STEPS if (projection := step(table)))


def _parse(table: TableSpec) -> list[Column]:
    return [*(F.col(kafkas).alias(own) for kafkas, own in _RECORD.items()), *shapes.parse(table, F.col("value"))]


def _parse_others(table: TableSpec) -> list[Column]:
    others = shapes.parse_others(table, F.col(names.VALUE))
    return [F.col("*"), *others] if others else []


def _open_parts(table: TableSpec) -> list[Column]:
    return [*map(F.col, _RECORD.values()), *shapes.open_parts(table, F.col(names.VALUE))]


def _place_fields(table: TableSpec) -> list[Column]:
    return [F.col("*"), rows.is_in_order(F.col(shapes.ROW), columns.row_fields(table)).alias(_IN_ORDER)]


def _read_texts(table: TableSpec) -> list[Column]:
    row, in_order, fields = F.col(shapes.ROW), F.col(_IN_ORDER), columns.row_fields(table)
    return [
        F.col("*"),
        rows.texts(row, in_order, fields).alias(columns.TEXTS),
        rows.unknown(row, in_order, fields, table.excluded).alias(names.UNKNOWN),
        row.isNotNull().alias(_HAS_ROW),
        rows.missing(row, columns.required_fields(table)).alias(_MISSING_FIELDS),
    ]


def _read_key(table: TableSpec) -> list[Column]:
    if not columns.key_columns(table):
        return []
    texts = columns.key_texts(table, F.col(columns.TEXTS), F.col(shapes.BEFORE), F.col(names.KEY))
    return [F.col("*"), texts.alias(columns.KEY_TEXTS)]


def _measure(table: TableSpec) -> list[Column]:
    measures = tuple(columns.measures(table))
    of_change = F.col(shapes.SOURCE), F.col(names.OP), F.col(shapes.TOTAL_ORDER)
    of_position = position_of(table.connector).columns(*of_change, table.connector)
    return [
        F.col("*"),
        *(column.alias(name) for name, column in of_position.items()),
        *((F.struct(*measures).alias(columns.MEASURES),) if measures else ()),
    ]


def _convert(table: TableSpec) -> list[Column]:
    return [F.col("*"), *columns.typed(table)]


def _find_fault(table: TableSpec) -> list[Column]:
    fault = fault_of_columns(table, op=F.col(names.OP), missing_fields=F.col(_MISSING_FIELDS))
    return [F.col("*"), fault.alias(_FAULT)]


def _judge(table: TableSpec) -> list[Column]:
    judged = verdict(
        table,
        value=F.col(names.VALUE),
        damaged=F.col(shapes.DAMAGED),
        kind=F.col(shapes.KIND),
        op=F.col(names.OP),
        source=F.col(shapes.SOURCE),
        total_order=F.col(shapes.TOTAL_ORDER),
        has_row=F.col(_HAS_ROW),
        fault=F.col(_FAULT),
    )
    return [F.col("*"), judged.alias(_VERDICT)]


def _finish(table: TableSpec) -> list[Column]:
    outcome = F.col(_VERDICT).getField(names.OUTCOME)
    return [
        *columns.masked(table),
        F.col(names.OP),
        *map(F.col, position_of(table.connector).column_names(table.connector)),
        F.lower(F.col(shapes.SOURCE).getField("snapshot")).alias(names.SNAPSHOT),
        F.col(names.TRANSACTION_ID),
        *map(F.col, (names.TOPIC, names.PARTITION, names.OFFSET, names.RECORDED_AT)),
        F.col(names.UNKNOWN),
        *((_columns_to_update(table),) if table.merges else ()),
        *(F.col(_VERDICT).getField(name).alias(name) for name in (names.OUTCOME, names.REASON, names.MESSAGE)),
        *(F.when(outcome == REJECT, F.col(name)).alias(name) for name in (names.KEY, names.VALUE)),
    ]


def _columns_to_update(table: TableSpec) -> Column:
    return columns.columns_to_update(table, F.col(names.OP)).alias(names.COLUMNS_TO_UPDATE)


_STEPS = (
    _parse,
    _parse_others,
    _open_parts,
    _place_fields,
    _read_texts,
    _read_key,
    _measure,
    _convert,
    _find_fault,
    _judge,
    _finish,
)
