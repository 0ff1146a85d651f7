"""The parts of a record's value that decoding needs, whatever the value's shape."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from cdc.debezium.json_texts import TEXTS, texts_of, with_exact_numbers
from cdc.debezium.positions import position_of
from cdc.debezium.positions.position import SNAPSHOT_FIELD
from cdc.spec.kinds import kind_of
from cdc.spec.model import TableSpec

CONNECTOR_FIELD = "connector"
"""The field of ``source`` that names the kind of the connector."""


@dataclass(frozen=True)
class Parts:
    """The parts of one record's value, each a column; every leaf is text."""

    op: Column
    source: Column
    """Struct of `source_fields`."""
    transaction_id: Column
    total_order: Column
    """Position among the transaction's events, if the connector counts them."""
    kind: Column
    """The kind of a record that is not a change of a row: ``heartbeat``, ``transaction`` ...; else null."""
    images: Mapping[str, Column]
    """What the row images are made from: the fields of `Images.fields`, by name."""


def readable(json: Column, table: TableSpec) -> Column:
    """The JSON of a record's key or value as it is parsed: with exact numbers if its decimals are numbers.

    >>> evaluate(readable(F.lit('{"total":1.10}'), orders))
    '{"total":1.10}'
    """
    return with_exact_numbers(json) if table.connector.decimal_format == "numeric" else json


def row_of(after: Column, before: Column, table: TableSpec) -> Column:
    """The row image that makes the change; without a key, a delete can name its row only by the whole row before.

    >>> evaluate(row_of(F.lit("after"), F.lit("before"), orders))
    'after'
    """
    return F.coalesce(after, before) if table.append_only else after


def before_type(table: TableSpec) -> DataType:
    """The type of the row before: its key; all its fields in a table without a key, where a delete needs them."""
    return TEXTS if table.append_only else texts_of(key_fields(table))


def source_fields(table: TableSpec) -> tuple[str, ...]:
    """The fields of ``source`` that are read: the position, the snapshot marker, the kind and the table's name."""
    position, of_table = position_of(table.connector).source_fields, kind_of(table.connector).table_fields
    return tuple(dict.fromkeys((*position, SNAPSHOT_FIELD, CONNECTOR_FIELD, *of_table)))


def source_type(table: TableSpec) -> StructType:
    """The type of ``source``."""
    return texts_of(source_fields(table))


def key_fields(table: TableSpec) -> tuple[str, ...]:
    """The key columns' names at the source, in the key's order."""
    by_target = {column.target: column.name for column in table.columns}
    return tuple(by_target[target] for target in table.key)
