"""What the changes of a table tell about their own order, and about the spec: ties, inversions, an LSN that runs
backwards, fields that the spec does not know.
"""

from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.sqlserver import LOWEST_LSN
from cdc.spec.model import TableSpec

SETTING = "cdc.findings"
_TRANSACTION = (names.INCARNATION, names.COMMIT_LSN)
_WITHIN = (names.CHANGE_LSN, names.EVENT_SERIAL_NO)


def wants_findings(spark: SparkSession) -> bool:
    """Whether the pipeline's configuration asks for them (``cdc.findings: true``): they read every change anew."""
    return str(spark.conf.get(SETTING, "false")).lower() == "true"


def findings(changes: Mapping[TableSpec, DataFrame]) -> DataFrame:
    """What is remarkable in the changes of some tables.

    Grain: one row per table and kind of finding; none where there is nothing. Columns: `table` (the source's),
    `finding`, `meaning` (as `FINDINGS` has them), `changes` (how many), `example` (topic[partition]@offset of
    the first), `detail`.
    """
    each = (find(frame, table) for table, frame in changes.items() for find in _finders(table))
    return reduce(DataFrame.unionByName, each)


def _tie(changes: DataFrame, table: TableSpec) -> DataFrame:
    position = Window.partitionBy(*_key(table), *_TRANSACTION, *_WITHIN)
    # The reads of a snapshot have one position, all of them.
    tied = changes.where(F.col(names.CHANGE_LSN) != LOWEST_LSN).select(
        "*", (F.size(F.collect_set(names.OP).over(position)) > 1).alias("_tied")
    )
    return _summed(tied.where("_tied"), table, "tie", F.concat(F.lit("at commit_lsn "), names.COMMIT_LSN))


def _inversion(changes: DataFrame, table: TableSpec) -> DataFrame:
    position = F.struct(*_WITHIN, names.OPERATION)
    arrival = Window.partitionBy(*_key(table), *_TRANSACTION).orderBy(names.PARTITION, names.OFFSET)
    inverted = _first_arrivals(changes, table).select(
        "*", (F.lag(position).over(arrival) > position).alias("_inverted")
    )
    return _summed(inverted.where("_inverted"), table, "inversion", F.concat(F.lit("at commit_lsn "), names.COMMIT_LSN))


def _lsn_backwards(changes: DataFrame, table: TableSpec) -> DataFrame:
    of_partition = Window.partitionBy(names.TOPIC, names.PARTITION, names.INCARNATION).orderBy(names.OFFSET)
    highest = F.max(names.COMMIT_LSN).over(of_partition.rowsBetween(Window.unboundedPreceding, -1))
    after = _first_arrivals(changes, table).select("*", highest.alias("_highest"))
    detail = F.concat(F.lit("commit_lsn "), F.col(names.COMMIT_LSN), F.lit(" after "), F.col("_highest"))
    return _summed(after.where(F.col("_highest") > F.col(names.COMMIT_LSN)), table, "lsn_backwards", detail)


def _unknown_field(changes: DataFrame, table: TableSpec) -> DataFrame:
    fields = F.concat_ws(", ", F.map_keys(names.UNKNOWN))
    return _summed(changes.where(F.col(names.UNKNOWN).isNotNull()), table, "unknown_field", fields)


FINDINGS: Mapping[str, str] = {
    "tie": "changes of one key with one position, ordered by their kind alone: a deferred update",
    "inversion": "changes of one key in one transaction that arrived in another order than that of their LSNs;"
    " with `data.query.mode=direct` arrival is right: write `within_transaction: total_order`",
    "lsn_backwards": "changes with a lower commit LSN than what had arrived before them: a restored database needs"
    " a higher `incarnation`",
    "unknown_field": "changes with fields that the spec does not know",
}


def _finders(table: TableSpec) -> tuple[Callable[[DataFrame, TableSpec], DataFrame], ...]:
    """Changes of one row can only be compared where a key tells which they are."""
    of_one_row = (_tie, _inversion) if table.key else ()
    return (*of_one_row, _lsn_backwards, _unknown_field)


def _first_arrivals(changes: DataFrame, table: TableSpec) -> DataFrame:
    """Each change once, where it came first: a connector that restarts delivers a stretch again."""
    same = Window.partitionBy(*_key(table), *_TRANSACTION, *_WITHIN, names.OP).orderBy(names.PARTITION, names.OFFSET)
    return changes.select("*", F.row_number().over(same).alias("_arrival")).where("_arrival = 1").drop("_arrival")


def _key(table: TableSpec) -> list[Column]:
    return [F.col(f"`{name}`") for name in table.key]


def _summed(found: DataFrame, table: TableSpec, finding: str, detail: Column) -> DataFrame:
    place = F.concat(names.TOPIC, F.lit("["), names.PARTITION, F.lit("]@"), names.OFFSET)
    first = F.min_by(F.struct(place.alias("example"), detail.alias("detail")), F.struct(names.PARTITION, names.OFFSET))
    counted = found.groupBy(F.lit(table.source).alias("table"), F.lit(finding).alias("finding"))
    return counted.agg(F.count("*").alias("changes"), first.alias("first")).select(
        "table", "finding", F.lit(FINDINGS[finding]).alias("meaning"), "changes", "first.example", "first.detail"
    )
