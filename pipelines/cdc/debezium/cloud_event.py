"""CloudEvents in JSON: `op` and `source` are attributes of the event, the row images are in its data."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.images import images_of
from cdc.debezium.json_texts import PAYLOAD, TEXT, anywhere, content, parse_object, struct_of
from cdc.debezium.parts import Parts, source_fields
from cdc.spec.model import TableSpec

_DATA, _OP, _TRANSACTION_ID, _TOTAL_ORDER = "data", "iodebeziumop", "iodebeziumtxid", "iodebeziumtxtotalorder"


def parse(value: Column, table: TableSpec) -> Column:
    """The value parsed, for `open_parts`.

    >>> event = content(parse(F.lit('{"iodebeziumop": "c", "data": {"after": {"id": 1}}}'), orders))
    >>> evaluate(F.struct(event.iodebeziumop, event.data.after))
    Row(iodebeziumop='c', after={'id': '1'})
    """
    images = images_of(table.connector).fields(table)
    attributes = (_OP, _TRANSACTION_ID, _TOTAL_ORDER, *map(_attribute, source_fields(table)))
    data = struct_of({**images, PAYLOAD: struct_of(images)})
    return parse_object(value, struct_of({**dict.fromkeys(attributes, TEXT), _DATA: data}))


def open_parts(parsed: Column, table: TableSpec) -> Parts:
    """The parts of the record."""
    event = content(parsed)
    return Parts(
        op=event.getField(_OP),
        source=F.struct(*(event.getField(_attribute(name)).alias(name) for name in source_fields(table))),
        transaction_id=event.getField(_TRANSACTION_ID),
        total_order=event.getField(_TOTAL_ORDER),
        kind=F.lit(None).cast("string"),
        images={name: anywhere(event.getField(_DATA), name) for name in images_of(table.connector).fields(table)},
    )


def _attribute(field: str) -> str:
    """The attribute for a field of ``source``; attribute names have no underscores: ``iodebeziumtsms``."""
    return "iodebezium" + field.replace("_", "")
