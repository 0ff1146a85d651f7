"""Avro's JSON encoding: an envelope in which a nullable value is nested under the name of its type.

``kafka-avro-console-consumer`` and REST proxies write Avro records in this form:
``{"after": {"server1.shop.dbo.orders.Value": {"id": 1, "note": {"string": "new"}, "total": {"bytes": "\\u0001c"}}}}``.
A byte is one character.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from cdc.debezium.json_texts import ANY_LENGTH, TEXT, TEXTS, content, parse_object, struct_of, texts_of
from cdc.debezium.parts import Parts, before_type, key_fields, source_fields, source_type
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec

_OF_VALUE = r'^\{"(boolean|int|long|float|double|bytes|string|array|map)":'
_OF_RECORD = r'^\{"[A-Za-z_]\w*(\.\w+)+":\{'
"""A union's value of a type with a name: ``{"io.debezium.data.geometry.Point": {"x": 1.0}}``."""
_OF_BYTES = '{"bytes":'
_ONE_BYTE_EACH = "^[\u0000-\u00ff]*$"
_BYTES_OF_OBJECTS = ("wkb", "value")
"""The fields of objects (geometries, decimals with a scale of their own) that are bytes."""
_WITH_NULLS = {"ignoreNullFields": "false"}


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
    return Parts(
        op=event.getField("op"),
        source=F.struct(*(_unwrapped(source.getField(name)).alias(name) for name in source_fields(table))),
        transaction_id=transaction.getField("id"),
        total_order=transaction.getField("total_order"),
        kind=F.lit(None).cast("string"),
        images={
            "before": _row(before, table) if table.append_only else _key(before, table),
            "after": _row(after, table),
        },
    )


def _only_value(union: Column) -> Column:
    """The value of a union, whatever the name of its type."""
    return F.get(F.map_values(union), F.lit(0))


def _row(image: Column, table: TableSpec) -> Column:
    forms = _forms(table)
    # A value that is never null is not in a union, but its text may look like one.
    plain = [column.name for column in table.columns if not column.nullable and column.name not in forms]

    def value(name: Column, text: Column) -> Column:
        cases = F.when(name.isin(*plain), text) if plain else F.when(F.lit(False), text)
        for read in dict.fromkeys(forms.values()):
            cases = cases.when(name.isin(*(each for each, form in forms.items() if form is read)), read(text))
        return cases.otherwise(_value(text))

    return F.transform_values(image, value)


def _key(image: Column, table: TableSpec) -> Column:
    """The key of the row before; key columns are never null, hence not in a union."""
    forms = _forms(table)

    def value(name: str) -> Column:
        text = image.getField(name)
        return forms[name](text) if name in forms else text

    return F.struct(*(value(name).alias(name) for name in key_fields(table)))


def _forms(table: TableSpec) -> Mapping[str, Callable[[Column], Column]]:
    """The columns of which more than the union has to be undone, each with what undoes it."""
    found: dict[str, Callable[[Column], Column]] = {}
    for column in table.columns:
        wire = conversion_of(column, table.connector).wire
        if _is_bytes(column, table.connector):
            found[column.name] = _bytes
        elif wire.startswith("array"):
            found[column.name] = _array
        elif wire.startswith("object"):
            found[column.name] = _map if wire == "object" else _pairs if wire.endswith("pairs") else _record
    return found


def _is_bytes(column: ColumnSpec, connector: ConnectorSpec) -> bool:
    """Whether the connector passes a column's values to the converter as bytes: of some columns in every mode."""
    modes = (connector, replace(connector, binary_handling_mode="hex"))
    in_mode, in_hex = (conversion_of(column, each).wire.startswith("base64") for each in modes)
    return in_hex or (in_mode and connector.binary_handling_mode == "bytes")


def _unwrapped(text: Column) -> Column:
    """The value of a union; any other text is unchanged."""
    is_union = text.rlike(_OF_VALUE) | text.rlike(_OF_RECORD)
    return F.when(is_union, _only_value(F.from_json(text, "map<string,string>", ANY_LENGTH))).otherwise(text)


def _value(text: Column) -> Column:
    """A value in a union or not, as the JSON converter writes it; of bytes and records only those in a union."""
    cases = F.when(text.startswith(_OF_BYTES), _base64(_unwrapped(text)))
    return cases.when(text.rlike(_OF_RECORD), _record(text)).otherwise(_unwrapped(text))


def _bytes(text: Column) -> Column:
    """Bytes, in a union or not, as base64; the value of another union as it is."""
    is_union = text.rlike(_OF_VALUE) | text.rlike(_OF_RECORD)
    return F.when(is_union, _value(text)).otherwise(_base64(text))


def _base64(characters: Column) -> Column:
    """Bytes as base64, the JSON converter's form; any other text is unchanged."""
    is_bytes = characters.rlike(_ONE_BYTE_EACH)
    return F.when(is_bytes, F.base64(F.encode(characters, "ISO-8859-1"))).otherwise(characters)


def _array(text: Column) -> Column:
    """An array whose elements are in unions, as one of texts; any other text is unchanged."""
    elements = F.from_json(_unwrapped(text), "array<string>", ANY_LENGTH)
    return F.coalesce(F.to_json(F.transform(elements, _value), _WITH_NULLS), text)


def _map(text: Column) -> Column:
    """A map whose values are in unions, as an object of texts; any other text is unchanged."""
    entries = F.from_json(_unwrapped(text), "map<string,string>", ANY_LENGTH)
    return F.coalesce(F.to_json(F.transform_values(entries, lambda _, each: _value(each)), _WITH_NULLS), text)


def _record(text: Column) -> Column:
    """A record with fields of bytes, as an object of texts; any other text is unchanged."""

    def field(name: Column, each: Column) -> Column:
        unwrapped = _unwrapped(each)
        return F.when(name.isin(*_BYTES_OF_OBJECTS), _base64(unwrapped)).otherwise(unwrapped)

    fields = F.from_json(_unwrapped(text), "map<string,string>", ANY_LENGTH)
    return F.coalesce(F.to_json(F.transform_values(fields, field), _WITH_NULLS), text)


def _pairs(text: Column) -> Column:
    """A record of a map whose keys are numbers, which Avro has as a list of entries; any other text is unchanged."""
    form = "dimensions string, vector array<struct<key: string, value: string>>"
    parts = F.from_json(_unwrapped(text), form, ANY_LENGTH)
    pairs = F.transform(parts.vector, lambda entry: F.array(entry.key, entry.value))
    sparse = F.struct(parts.dimensions.alias("dimensions"), pairs.alias("vector"))
    return F.when(pairs.isNotNull(), F.to_json(sparse, _WITH_NULLS)).otherwise(text)
