"""The shapes that a record's value comes in, and which of them a record has.

A connector spec may say which. ``auto`` reads each record as an envelope, sees from the same reading when it
is of another shape, and reads those, and only those, once more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import avro_json, cloud_event, envelope, flattened
from cdc.debezium.json_texts import is_damaged
from cdc.debezium.parts import Parts
from cdc.spec.model import TableSpec

DAMAGED = "_damaged"
"""True where the value could not be read as its shape says."""
SOURCE, BEFORE, ROW, KIND, TOTAL_ORDER = "_source", "_before", "_row", "_kind", "_in_transaction"
_PART_COLUMNS = {
    "op": names.OP,
    "source": SOURCE,
    "transaction_id": names.TRANSACTION_ID,
    "total_order": TOTAL_ORDER,
    "before": BEFORE,
    "row": ROW,
    "kind": KIND,
}
"""A frame's columns for `Parts`."""


@dataclass(frozen=True)
class Shape:
    """One shape: how to read a value, and where its parts are then."""

    parse: Callable[[Column, TableSpec], Column]
    open_parts: Callable[[Column, TableSpec], Parts]


SHAPES: Mapping[str, Shape] = {
    "envelope": Shape(envelope.parse, envelope.open_parts),
    "flattened": Shape(flattened.parse, flattened.open_parts),
    "cloudevents": Shape(cloud_event.parse, cloud_event.open_parts),
    "avro_json": Shape(avro_json.parse, avro_json.open_parts),
}


def parse(table: TableSpec, value: Column) -> list[Column]:
    """What was read of `value` as the shape that it has, or is looked at for first."""
    first = _first(table)
    return [SHAPES[first].parse(value, table).alias(_read_as(first))]


def parse_others(table: TableSpec, value: Column) -> list[Column]:
    """The same for each other shape that it may have: null where it has it not."""
    if table.connector.shape != "auto":
        return []
    as_envelope = F.col(_read_as("envelope"))
    others = {
        "flattened": envelope.is_flattened(as_envelope, table),
        "cloudevents": envelope.is_cloud_event(as_envelope),
    }
    return [
        F.when(is_one, SHAPES[other].parse(value, table)).alias(_read_as(other)) for other, is_one in others.items()
    ]


def open_parts(table: TableSpec, value: Column) -> list[Column]:
    """The parts of the record, and whether it is damaged, of what was read."""
    shape = table.connector.shape
    # The other shapes first: what is one of them can be read, badly, as an envelope too.
    read = ("flattened", "cloudevents", "envelope") if shape == "auto" else (shape,)
    opened = {name: SHAPES[name].open_parts(F.col(_read_as(name)), table) for name in read}

    def of_shape(choose: Callable[[str], Column]) -> Column:
        cases = choose(read[-1])
        for name in reversed(read[:-1]):
            cases = F.when(F.col(_read_as(name)).isNotNull(), choose(name)).otherwise(cases)
        return cases

    def part(name: str) -> Column:
        return of_shape(lambda of: getattr(opened[of], name)).alias(_PART_COLUMNS[name])

    damaged = of_shape(lambda of: is_damaged(F.col(_read_as(of)), value))
    return [damaged.alias(DAMAGED), *(part(field.name) for field in fields(Parts))]


def _first(table: TableSpec) -> str:
    return "envelope" if table.connector.shape == "auto" else table.connector.shape


def _read_as(shape: str) -> str:
    return f"_as_{shape}"
