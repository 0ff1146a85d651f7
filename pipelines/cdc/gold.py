"""Gold: what people query, derived from the versions in silver, so that current rows and history agree."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdc import names
from cdc.spec.model import TableSpec


def current_rows(versions: DataFrame, table: TableSpec) -> DataFrame:
    """The current state of the source table.

    Grain: one row per key that is not deleted. Columns: the table's own.
    """
    current = versions.where(F.col(names.END_AT).isNull()) if table.history else versions
    return current.select(*_table_columns(table))


def history(versions: DataFrame, table: TableSpec) -> DataFrame:
    """Every state that each row of the source table has had.

    Grain: one row per version. Columns: the table's own; ``valid_from`` and ``valid_to`` (commit times,
    half-open, ``valid_to`` null while valid: of two versions made by one transaction the first is valid for
    no time), ``is_current``, ``version`` (1 for the oldest of a key).
    """
    of_key = Window.partitionBy(*map(_column, table.key)).orderBy(names.START_AT)
    return versions.select(
        *_table_columns(table),
        F.col(names.START_AT).getField("committed_at").alias(names.VALID_FROM),
        F.col(names.END_AT).getField("committed_at").alias(names.VALID_TO),
        F.col(names.END_AT).isNull().alias(names.IS_CURRENT),
        F.row_number().over(of_key).alias(names.VERSION),
    )


def _table_columns(table: TableSpec) -> list[Column]:
    return [_column(name) for name in names.target_columns(table)]


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
