"""Debezium's envelope: one parse of the value's JSON, with and without the schema block around it."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, MapType, StringType, StructField, StructType

from cdc.debezium.positions import position_of
from cdc.spec.model import TableSpec

_TEXT = StringType()
_DAMAGED = "_damaged"
_VALUE = "value"
_STRICT = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _DAMAGED, "allowSingleQuotes": "false"}

ROW = MapType(_TEXT, _TEXT)
"""A row image, every field as text: exact for whole numbers of any size, and with names no spec knows."""


def parse(value: Column, table: TableSpec) -> Column:
    """The record's value as a struct for `part` and `is_damaged`; every leaf is text.

    The text is wrapped, so that it has to be one JSON object from its first to its last character:
    from_json on its own ignores what follows the object, and takes an array of one for its element.
    """
    wrapped = F.concat(F.lit(f'{{"{_VALUE}":'), value.cast("string"), F.lit("}"))
    schema = _struct({_VALUE: _with_payload(_fields(table)), _DAMAGED: _TEXT})
    return F.from_json(wrapped, schema, _STRICT)


def part(parsed: Column, name: str) -> Column:
    """One field of the envelope, wherever it is: under the schema block's ``payload``, or at the top."""
    value = parsed.getField(_VALUE)
    return F.coalesce(value.getField("payload").getField(name), value.getField(name))


def is_damaged(parsed: Column, value: Column) -> Column:
    """True where the value is no text, no JSON object, or a field has another form than an envelope's."""
    # The JSON reader puts U+FFFD for bytes that are no UTF-8, and says nothing.
    is_text = F.is_valid_utf8(value.cast("string"))
    return parsed.getField(_DAMAGED).isNotNull() | parsed.getField(_VALUE).isNull() | ~is_text


def kind_of_no_row(parsed: Column) -> Column:
    """Which of Debezium's other records this is, by name; null for a change of a row and for anything else.

    They have topics of their own, but a router may lead them into a table's.
    """
    without_op = part(parsed, "op").isNull()
    return F.coalesce(
        F.when(part(parsed, "op") == "m", "logical_decoding_message"),
        F.when(without_op & part(parsed, "tableChanges").isNotNull(), "schema_change"),
        F.when(without_op & part(parsed, "status").isin("BEGIN", "END"), "transaction"),
        F.when(without_op & part(parsed, "source").isNull() & part(parsed, "ts_ms").isNotNull(), "heartbeat"),
    )


def key_texts(key: Column, names: tuple[str, ...]) -> Column:
    """The record key's fields as a struct of texts, under a schema block or not; nulls if it is no JSON."""
    fields = dict.fromkeys(names, _TEXT)
    parsed = F.from_json(key.cast("string"), _with_payload(fields), _STRICT)
    return F.struct(
        *(F.coalesce(parsed.getField("payload").getField(name), parsed.getField(name)).alias(name) for name in names)
    )


def _fields(table: TableSpec) -> Mapping[str, DataType]:
    """The envelope's fields that decoding takes; the others are skipped unread."""
    source = (*position_of(table.connector).source_fields, "snapshot", "db", "schema", "table")
    return {
        "op": _TEXT,
        "before": ROW if table.append_only else texts_of(key_fields(table)),
        "after": ROW,
        "source": texts_of(source),
        "transaction": texts_of(("id",)),
        "ts_ms": _TEXT,
        "status": _TEXT,
        "tableChanges": _TEXT,
    }


def key_fields(table: TableSpec) -> tuple[str, ...]:
    """The key columns' names at the source, in the key's order."""
    by_target = {column.target: column.name for column in table.columns}
    return tuple(by_target[target] for target in table.key)


def texts_of(names: tuple[str, ...]) -> StructType:
    """A struct of texts."""
    return _struct(dict.fromkeys(names, _TEXT))


def _with_payload(fields: Mapping[str, DataType]) -> StructType:
    """The fields at the top, and once more under the schema block's ``payload``."""
    return _struct({**fields, "payload": _struct(fields)})


def _struct(fields: Mapping[str, DataType]) -> StructType:
    return StructType([StructField(name, type_) for name, type_ in fields.items()])
