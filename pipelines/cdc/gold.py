"""Gold: current rows and their history, both derived from the versions in silver, so that they agree."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions import committed_at
from cdc.spec.model import TableSpec


def current_rows(versions: DataFrame, table: TableSpec) -> DataFrame:
    """The current state of the source table.

    Grain: one row per key that is not deleted; with `deletes: soft` also per deleted key. Columns: the table's own,
    and with `deletes: soft` ``deleted_at``.
    """
    known = _known(versions, table)
    current = known.where(F.col(names.END_AT).isNull()) if table.history else known
    return current.select(*_table_columns(table))


def history(versions: DataFrame, table: TableSpec) -> DataFrame:
    """Every state that each row of the source table has had.

    Grain: one row per version. Columns: those of `current_rows`; ``valid_from`` and ``valid_to`` (commit times,
    half-open; ``valid_to`` is null while the version is current; of two versions from one transaction the first has an
    empty interval), ``is_current``, ``version`` (1 for the oldest of a key).
    """
    key_versions = Window.partitionBy(*map(_column, table.key)).orderBy(names.START_AT)
    return _known(versions, table).select(
        *_table_columns(table),
        committed_at(F.col(names.START_AT)).alias(names.VALID_FROM),
        committed_at(F.col(names.END_AT)).alias(names.VALID_TO),
        F.col(names.END_AT).isNull().alias(names.IS_CURRENT),
        F.row_number().over(key_versions).alias(names.VERSION),
    )


def _known(versions: DataFrame, table: TableSpec) -> DataFrame:
    """Without the versions of which nothing but a delete is known.

    A row that was never read, or that had left the filter, has one once the source deletes it.
    """
    return versions.where(F.col(names.HAS_ROW)) if table.keeps_deleted else versions


def _table_columns(table: TableSpec) -> list[Column]:
    own = [_column(name) for name in names.target_columns(table)]
    return [*own, *([_column(names.DELETED_AT).alias(names.GOLD_DELETED_AT)] if table.keeps_deleted else [])]


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
