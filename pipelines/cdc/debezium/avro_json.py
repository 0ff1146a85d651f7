"""Avro's own JSON: an envelope in which every value that may be null stands under the name of its type.

So ``kafka-avro-console-consumer`` and REST proxies write Avro records: ``{"after": {"server1.shop.dbo.orders.Value":
{"id": 1, "customer": {"string": "Ada"}, "total": {"bytes": "\\u0001\\u0004c"}}}}``; bytes are one character each.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from cdc.debezium.json_texts import TEXT, TEXTS, content, parse_object, struct_of, texts_of
from cdc.debezium.parts import Parts, before_type, key_fields, row_of, source_fields, source_type
from cdc.debezium.values import conversion_of
from cdc.spec.model import TableSpec

_BRANCH = r'^\{"(boolean|int|long|float|double|bytes|string)":'
_ONE_BYTE_EACH = "^[\u0000-\u00ff]*$"


def parse(value: Column, table: TableSpec) -> Column:
    """Reads the value, for `open_parts`."""
    fields = {
        "op": TEXT,
        "before": MapType(TEXT, before_type(table)),
        "after": MapType(TEXT, TEXTS),
        "source": source_type(table),
        "transaction": MapType(TEXT, texts_of(("id", "total_order"))),
    }
    return parse_object(value, struct_of(fields))


def open_parts(parsed: Column, table: TableSpec) -> Parts:
    """The parts of the record."""
    event = content(parsed)
    before, after = (_only_value(event.getField(image)) for image in ("before", "after"))
    source, transaction = event.getField("source"), _only_value(event.getField("transaction"))
    row_before = _row(before, table) if table.append_only else _key(before, table)
    return Parts(
        op=event.getField("op"),
        source=F.struct(*(_unwrapped(source.getField(name)).alias(name) for name in source_fields(table))),
        transaction_id=transaction.getField("id"),
        total_order=transaction.getField("total_order"),
        before=row_before,
        row=row_of(_row(after, table), row_before, table),
        kind=F.lit(None).cast("string"),
    )


def _only_value(union: Column) -> Column:
    """What a union holds, whatever the type is called."""
    return F.get(F.map_values(union), F.lit(0))


def _row(image: Column, table: TableSpec) -> Column:
    of_bytes = _columns_of_bytes(table)
    # What is never null is in no union, and a text of it may look like one.
    as_it_is = [column.name for column in table.columns if not column.nullable and column.name not in of_bytes]

    def value(name: Column, text: Column) -> Column:
        cases = F.when(name.isin(*of_bytes), _bytes(text)) if of_bytes else F.when(F.lit(False), text)
        return (cases.when(name.isin(*as_it_is), text) if as_it_is else cases).otherwise(_unwrapped(text))

    return F.transform_values(image, value)


def _key(image: Column, table: TableSpec) -> Column:
    """The key of the row before: of columns that are never null, hence in no union."""
    of_bytes = _columns_of_bytes(table)

    def value(name: str) -> Column:
        text = image.getField(name)
        return _bytes(text) if name in of_bytes else text

    return F.struct(*(value(name).alias(name) for name in key_fields(table)))


def _columns_of_bytes(table: TableSpec) -> frozenset[str]:
    """The columns whose values the connector gives to the converter as bytes."""
    wires = ((column.name, conversion_of(column, table.connector)) for column in table.columns)
    modes = table.connector.binary_handling_mode, table.connector.decimal_handling_mode
    kinds = {"binary": modes[0] == "bytes", "decimal": modes[1] == "precise"}
    return frozenset(name for name, wire in wires if kinds.get(wire.target.partition("(")[0], False))


def _unwrapped(text: Column) -> Column:
    """The value of a union; a text that is none stays as it is."""
    return F.when(text.rlike(_BRANCH), _only_value(F.from_json(text, "map<string,string>"))).otherwise(text)


def _bytes(text: Column) -> Column:
    """Bytes, in a union or not, in base64, as the JSON converter writes them; what is no bytes stays as it is."""
    characters = _unwrapped(text)
    is_bytes = characters.rlike(_ONE_BYTE_EACH)
    return F.when(is_bytes, F.base64(F.encode(characters, "ISO-8859-1"))).otherwise(characters)
