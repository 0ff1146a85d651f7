"""Decoding: every record becomes a change, a reject with its reason, or is ignored by kind."""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from cdc import names
from cdc.debezium import columns, drift, row_rules, rows, shapes
from cdc.debezium.positions import position_of
from cdc.debezium.positions.position import SNAPSHOT_FIELD
from cdc.debezium.verdict import Evidence, fault_of_columns, verdict
from cdc.spec.model import TableSpec

# Columns that one step adds for a later one.
_IN_ORDER, _HAS_ROW, _MISSING_FIELDS = "_in_order", "_has_row", "_missing_fields"
_FAULT, _VERDICT = "_fault", "_verdict"


def decode(records: DataFrame, table: TableSpec) -> DataFrame:
    """Every record with its outcome.

    Grain: one row per record, none dropped and none added. Columns: the table's own (target names and types;
    of a delete the key only), the change's (`change_columns`), then `_outcome` (``change``, ``reject`` or
    ``ignored``), `_reason` (a reject's code, an ignored record's kind), `_message`, and for rejects `_key` and
    `_value`, the record's bytes, and `_drift`, what the record and the spec differ in (null for most).
    """
    for projection in _projections(table, is_remote()):
        records = records.select(*projection)
    return records


def changes(decoded: DataFrame, table: TableSpec) -> DataFrame:
    """The changes among the decoded records.

    Grain: one row per change; a redelivered one is a row again, with the same position. Columns: the table's own,
    then the change's (`change_columns`).
    """
    kept = (*names.target_columns(table), *change_columns(table))
    return decoded.where(F.col(names.OUTCOME) == names.CHANGE).select(*(F.col(f"`{name}`") for name in kept))


def rejects(decoded: DataFrame, table: TableSpec) -> DataFrame:
    """The records that could not be decoded.

    Grain: one row per reject. Columns: `reason` (a code of `Reason`), `message`, and the record's `topic`,
    `partition`, `offset`, `timestamp`, `key` and `value`, unchanged.
    """
    renamed = zip((names.REASON, names.MESSAGE, *names.DECODED_AS.values()), names.REJECT_COLUMNS, strict=True)
    return decoded.where(F.col(names.OUTCOME) == names.REJECT).select(*(F.col(old).alias(new) for old, new in renamed))


def change_columns(table: TableSpec) -> tuple[str, ...]:
    """The columns of a change beside the table's own, in order; the position's depend on the connector."""
    return (
        names.OP,
        *position_of(table.connector).columns,
        names.SNAPSHOT,
        names.TRANSACTION_ID,
        names.TOPIC,
        names.PARTITION,
        names.OFFSET,
        names.RECORDED_AT,
        names.UNKNOWN,
        *((names.COLUMNS_TO_UPDATE,) if table.has_partial_changes else ()),
        *names.deletion_columns(table),
    )


@cache
def _projections(table: TableSpec, is_connect: bool) -> tuple[tuple[Column, ...], ...]:
    """Decoding as projections, each on the result of the one before.

    Cached: a pipeline evaluates its queries to plan an update and again to run it, and a wide table has thousands of
    expressions. The columns of a classic session and of a Connect client are of different classes, hence the flag.
    """
    # A step without columns has nothing to do for this table; each projection costs an analysis of the whole plan.
    return tuple(tuple(projection) for step in _STEPS if (projection := step(table)))


def _parse(table: TableSpec) -> list[Column]:
    renamed = (F.col(name).alias(decoded) for name, decoded in names.DECODED_AS.items())
    return [*renamed, *shapes.parse(table, F.col("value"))]


def _parse_others(table: TableSpec) -> list[Column]:
    others = shapes.parse_others(table, F.col(names.VALUE))
    return [F.col("*"), *others] if others else []


def _open_parts(table: TableSpec) -> list[Column]:
    return [*map(F.col, names.DECODED_AS.values()), *shapes.open_parts(table, F.col(names.VALUE))]


def _compare_field_order(table: TableSpec) -> list[Column]:
    return [F.col("*"), rows.is_in_order(F.col(shapes.ROW), columns.row_fields(table)).alias(_IN_ORDER)]


def _read_texts(table: TableSpec) -> list[Column]:
    row, in_order, fields = F.col(shapes.ROW), F.col(_IN_ORDER), columns.row_fields(table)
    return [
        F.col("*"),
        rows.texts(row, in_order, fields).alias(columns.TEXTS),
        rows.unknown(row, in_order, fields, table.excluded).alias(names.UNKNOWN),
        row.isNotNull().alias(_HAS_ROW),
        rows.missing(row, columns.required_fields(table)).alias(_MISSING_FIELDS),
        drift.absent(row, in_order, F.col(names.OP), table).alias(drift.ABSENT),
        drift.other_key(F.col(names.KEY), table).alias(drift.OTHER_KEY),
    ]


def _read_key(table: TableSpec) -> list[Column]:
    if not columns.key_columns(table):
        return []
    texts = columns.key_texts(table, F.col(columns.TEXTS), F.col(shapes.BEFORE), F.col(names.KEY))
    return [F.col("*"), texts.alias(columns.KEY_TEXTS)]


def _measure(table: TableSpec) -> list[Column]:
    measures = tuple(columns.measures(table))
    position = position_of(table.connector)
    values = position.values(F.col(shapes.SOURCE), F.col(names.OP), F.col(shapes.TOTAL_ORDER))
    return [
        F.col("*"),
        *(column.alias(name) for name, column in values.items()),
        *((F.struct(*measures).alias(columns.MEASURES),) if measures else ()),
    ]


def _convert(table: TableSpec) -> list[Column]:
    return [F.col("*"), *columns.typed(table)]


def _find_fault(table: TableSpec) -> list[Column]:
    fault = fault_of_columns(table, op=F.col(names.OP), missing_fields=F.col(_MISSING_FIELDS))
    return [F.col("*"), fault.alias(_FAULT)]


def _judge(table: TableSpec) -> list[Column]:
    record = Evidence(
        value=F.col(names.VALUE),
        damaged=F.col(shapes.DAMAGED),
        kind=F.col(shapes.KIND),
        op=F.col(names.OP),
        source=F.col(shapes.SOURCE),
        total_order=F.col(shapes.TOTAL_ORDER),
        has_row=F.col(_HAS_ROW),
        fault=F.col(_FAULT),
    )
    return [F.col("*"), verdict(table, record).alias(_VERDICT)]


def _finish(table: TableSpec) -> list[Column]:
    verdict_field = F.col(_VERDICT).getField
    is_reject = verdict_field(names.OUTCOME) == names.REJECT
    # A rule may make a reject of what is a change so far.
    kept = F.lit(True) if row_rules.has_row_rules(table) else is_reject
    computed = {names.SNAPSHOT: F.lower(F.col(shapes.SOURCE).getField(SNAPSHOT_FIELD)).alias(names.SNAPSHOT)}
    if table.keeps_deleted:
        op = F.col(names.OP)
        computed[names.DELETED_AT] = F.when(op == names.DELETE, F.col(names.COMMITTED_AT)).alias(names.DELETED_AT)
        computed[names.HAS_ROW] = F.when(op.isin(*names.WITH_ROW), F.lit(True)).alias(names.HAS_ROW)
    if table.has_partial_changes:
        carried = columns.columns_to_update(table, F.col(names.OP))
        computed[names.COLUMNS_TO_UPDATE] = carried.alias(names.COLUMNS_TO_UPDATE)
    return [
        *columns.masked(table),
        *(computed.get(name, F.col(name)) for name in change_columns(table)),
        _apart(verdict_field(names.OUTCOME)).alias(names.OUTCOME),
        *(verdict_field(name).alias(name) for name in (names.REASON, names.MESSAGE)),
        *(F.when(kept, F.col(name)).alias(name) for name in (names.KEY, names.VALUE)),
        drift.differences(table, F.col(_VERDICT), F.col(_FAULT)).alias(names.DRIFT),
    ]


def _apart(outcome: Column) -> Column:
    """The outcome, by an expression that counts as not deterministic: Spark moves no filter to before this step.

    Before 4.2 it would take the condition of `changes` down to the records, and on the way write each column out
    wherever a step reads it: over these steps the condition grows exponentially, and planning does not end. From 4.2 on
    it leaves expensive columns alone. The number of a partition is such an expression, and streams may have it; `rand`
    would make the query one whose result changes by itself.
    """
    return F.coalesce(F.when(F.spark_partition_id() < 0, F.lit("")), outcome)


def _conclude(table: TableSpec) -> list[Column]:
    return row_rules.conclude(table, (*names.target_columns(table), *change_columns(table)))


_STEPS = (
    # Each step is a projection of its own because a later one reads its columns more than once; Spark would compute
    # an expression inlined there again for each use.
    _parse,
    # Needs the parsed envelope, which shows whether a record has another shape.
    _parse_others,
    # Drops the parsed values: from here on the shape no longer matters.
    _open_parts,
    # Before the texts: whether the fields are in the spec's order decides how every one of them is found.
    _compare_field_order,
    _read_texts,
    # After the row's texts, which have precedence over the record key.
    _read_key,
    # After both kinds of texts; a second projection because `_convert` reads a measure several times.
    _measure,
    _convert,
    # After conversion: a text of the wrong type is one that has become null.
    _find_fault,
    # After the fault and the position, whose columns it checks.
    _judge,
    # Masks replace values that earlier steps check, and the intermediate columns are dropped.
    _finish,
    # After the masks: the SQL of these steps is over the columns of silver.
    row_rules.try_computed,
    row_rules.compute,
    # After the computed columns, which the filter and expectations may name.
    row_rules.judge,
    _conclude,
)
"""Decoding, in order."""
