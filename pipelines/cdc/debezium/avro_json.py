"""Avro's JSON encoding: an envelope in which a nullable value is nested under the name of its type.

``kafka-avro-console-consumer`` and REST proxies write Avro records in this form:
``{"after": {"server1.shop.dbo.orders.Value": {"id": 1, "note": {"string": "new"}, "total": {"bytes": "\\u0001c"}}}}``.
A byte is one character.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from cdc.debezium.json_texts import ANY_LENGTH, TEXT, TEXTS, content, parse_object, struct_of, texts_of
from cdc.debezium.parts import Parts, before_type, key_fields, row_of, source_fields, source_type
from cdc.debezium.values import conversion_of
from cdc.spec.model import TableSpec

_BRANCH = r'^\{"(boolean|int|long|float|double|bytes|string)":'
_ONE_BYTE_EACH = "^[\u0000-\u00ff]*$"


def parse(value: Column, table: TableSpec) -> Column:
    """The value parsed, for `open_parts`.

    >>> evaluate(content(parse(F.lit('{"op": "u", "after": {"Value": {"note": {"string": "new"}}}}'), orders)).after)
    {'Value': {'note': '{"string":"new"}'}}
    """
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
    """The value of a union, whatever the name of its type."""
    return F.get(F.map_values(union), F.lit(0))


def _row(image: Column, table: TableSpec) -> Column:
    of_bytes = _columns_of_bytes(table)
    # A value that is never null is not in a union, but its text may look like one.
    plain = [column.name for column in table.columns if not column.nullable and column.name not in of_bytes]

    def value(name: Column, text: Column) -> Column:
        cases = F.when(name.isin(*of_bytes), _bytes(text)) if of_bytes else F.when(F.lit(False), text)
        return (cases.when(name.isin(*plain), text) if plain else cases).otherwise(_unwrapped(text))

    return F.transform_values(image, value)


def _key(image: Column, table: TableSpec) -> Column:
    """The key of the row before; key columns are never null, hence not in a union."""
    of_bytes = _columns_of_bytes(table)

    def value(name: str) -> Column:
        text = image.getField(name)
        return _bytes(text) if name in of_bytes else text

    return F.struct(*(value(name).alias(name) for name in key_fields(table)))


def _columns_of_bytes(table: TableSpec) -> frozenset[str]:
    """The columns whose values the connector passes to the converter as bytes."""
    connector = table.connector
    is_bytes = {
        "binary": connector.binary_handling_mode == "bytes",
        "decimal": connector.decimal_handling_mode == "precise",
    }
    targets = {column.name: conversion_of(column, connector).target for column in table.columns}
    return frozenset(name for name, target in targets.items() if is_bytes.get(target.partition("(")[0], False))


def _unwrapped(text: Column) -> Column:
    """The value of a union; any other text is unchanged."""
    return F.when(text.rlike(_BRANCH), _only_value(F.from_json(text, "map<string,string>", ANY_LENGTH))).otherwise(text)


def _bytes(text: Column) -> Column:
    """Bytes, in a union or not, as base64, the JSON converter's form; any other text is unchanged."""
    characters = _unwrapped(text)
    is_bytes = characters.rlike(_ONE_BYTE_EACH)
    return F.when(is_bytes, F.base64(F.encode(characters, "ISO-8859-1"))).otherwise(characters)
