"""MongoDB's types: the conversion of each from extended JSON."""

from collections.abc import Mapping

from cdc.debezium.values import extended_json
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec


def _int(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return extended_json.integer("int")


def _long(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return extended_json.integer("bigint")


CONVERSIONS: Mapping[str, ConversionOf] = {
    "string": extended_json.text,
    "boolean": extended_json.boolean,
    "int": _int,
    "long": _long,
    "double": extended_json.floating,
    "decimal": extended_json.decimal,
    "decimal128": extended_json.decimal128,
    "date": extended_json.date,
    "objectid": extended_json.object_id,
    "binary": extended_json.binary,
    "uuid": extended_json.uuid,
    "timestamp": extended_json.timestamp,
    "json": extended_json.json,
}
"""Every type that a column of a document can have."""
