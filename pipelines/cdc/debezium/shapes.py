"""The shapes of a record's value, and the choice between them.

A connector spec may state the shape. With ``auto`` each record is parsed as an envelope; if the result shows another
shape, that record, and only that one, is parsed again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import avro_json, cloud_event, envelope, flattened
from cdc.debezium.images import images_of
from cdc.debezium.json_texts import is_damaged
from cdc.debezium.parts import Parts, readable
from cdc.spec.kinds import kind_of
from cdc.spec.model import TableSpec

DAMAGED = "_damaged"
"""True if the value could not be parsed as its shape."""
SOURCE, BEFORE, ROW, KIND, TOTAL_ORDER = "_source", "_before", "_row", "_kind", "_in_transaction"
"""Parts that do not leave decoding under these names; `TOTAL_ORDER` is the connector's count as text."""
_PART_COLUMNS = {
    "op": names.OP,
    "source": SOURCE,
    "transaction_id": names.TRANSACTION_ID,
    "total_order": TOTAL_ORDER,
    "kind": KIND,
}
"""The columns of a frame that hold `Parts`, but for the row images."""
_DETECTED = ("flattened", "cloudevents", "envelope")
"""The shapes that `shape: auto` tells apart."""


@dataclass(frozen=True)
class Shape:
    """One shape: how to parse a value, and where the parts are in the result."""

    parse: Callable[[Column, TableSpec], Column]
    open_parts: Callable[[Column, TableSpec], Parts]


SHAPES: Mapping[str, Shape] = {
    "envelope": Shape(envelope.parse, envelope.open_parts),
    "flattened": Shape(flattened.parse, flattened.open_parts),
    "cloudevents": Shape(cloud_event.parse, cloud_event.open_parts),
    "avro_json": Shape(avro_json.parse, avro_json.open_parts),
}


def parse(table: TableSpec, value: Column) -> list[Column]:
    """The value parsed as the shape in the spec; with ``auto``, as an envelope."""
    first = "envelope" if table.connector.shape == "auto" else table.connector.shape
    return [SHAPES[first].parse(readable(value, table), table).alias(_parsed_as(first))]


def parse_others(table: TableSpec, value: Column) -> list[Column]:
    """With ``auto``, the value parsed as each other shape; null if it does not have that shape."""
    as_envelope = F.col(_parsed_as("envelope"))
    is_shape = {
        "flattened": lambda: envelope.is_flattened(as_envelope, table),
        "cloudevents": lambda: envelope.is_cloud_event(as_envelope),
    }
    return [
        F.when(is_shape[other](), SHAPES[other].parse(readable(value, table), table)).alias(_parsed_as(other))
        for other in _candidates(table)[:-1]
    ]


def open_parts(table: TableSpec, value: Column) -> list[Column]:
    """Whether the record is damaged, its parts and its row images, from the parsed columns."""
    candidates, images = _candidates(table), images_of(table.connector)
    parts = {name: SHAPES[name].open_parts(F.col(_parsed_as(name)), table) for name in candidates}

    def first_parsed(column_of: Callable[[str], Column]) -> Column:
        cases = column_of(candidates[-1])
        for name in reversed(candidates[:-1]):
            cases = F.when(F.col(_parsed_as(name)).isNotNull(), column_of(name)).otherwise(cases)
        return cases

    def part(field: str) -> Column:
        return first_parsed(lambda name: getattr(parts[name], field)).alias(_PART_COLUMNS[field])

    def image(field: str) -> Column:
        return first_parsed(lambda name: parts[name].images[field])

    damaged = first_parsed(lambda name: is_damaged(F.col(_parsed_as(name)), value))
    # A document's row is a large expression: over the shapes' fields it is in the plan once, not once for each shape.
    rows = {BEFORE: images.before(image, table), ROW: images.row(image, table), **images.extras(image, table)}
    return [damaged.alias(DAMAGED), *map(part, _PART_COLUMNS), *(column.alias(name) for name, column in rows.items())]


def _candidates(table: TableSpec) -> tuple[str, ...]:
    """The shapes that a value may have: the one in the spec, or of those that are detected the ones that its kind has.

    Envelope last: every value was parsed as one, so only the other columns are null for a shape it does not have.
    """
    if table.connector.shape != "auto":
        return (table.connector.shape,)
    return tuple(each for each in _DETECTED if each in kind_of(table.connector).shapes)


def _parsed_as(shape: str) -> str:
    return f"_as_{shape}"
