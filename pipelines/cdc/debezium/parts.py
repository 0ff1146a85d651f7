"""What decoding takes of a record's value, whatever shape it has."""

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from cdc.debezium.json_texts import TEXTS, texts_of
from cdc.debezium.positions import position_of
from cdc.spec.model import TableSpec

COMMON_SOURCE_FIELDS = ("snapshot", "db", "schema", "table")


@dataclass(frozen=True)
class Parts:
    """The parts of one record's value, each a column; every leaf is text."""

    op: Column
    source: Column
    """Struct of `source_fields`."""
    transaction_id: Column
    total_order: Column
    """Place among the transaction's events, where the connector counts them."""
    before: Column
    """The row before, of the type that `before_type` says."""
    row: Column
    """The row image that the change is made of, as a map: a field that no spec knows is kept."""
    kind: Column
    """What the record is if it is no change of a row: ``heartbeat``, ``transaction`` ...; else null."""


def row_of(after: Column, before: Column, table: TableSpec) -> Column:
    """The row image that counts: without a key a delete says only by its whole row which row it was."""
    return F.coalesce(after, before) if table.append_only else after


def before_type(table: TableSpec) -> DataType:
    """Only the key is read of the row before, except where a delete has nothing else to name its row."""
    return TEXTS if table.append_only else texts_of(key_fields(table))


def source_fields(table: TableSpec) -> tuple[str, ...]:
    """The fields of ``source`` that are read: those of the position, and where the change comes from."""
    return (*position_of(table.connector).source_fields, *COMMON_SOURCE_FIELDS)


def source_type(table: TableSpec) -> StructType:
    """The type of ``source``."""
    return texts_of(source_fields(table))


def key_fields(table: TableSpec) -> tuple[str, ...]:
    """The key columns' names at the source, in the key's order."""
    by_target = {column.target: column.name for column in table.columns}
    return tuple(by_target[target] for target in table.key)
