"""Debezium's envelope: before, after, source and op, with or without a schema block around them."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.images import images_of
from cdc.debezium.json_texts import PAYLOAD, TEXT, anywhere, content, parse_object, struct_of, texts_of
from cdc.debezium.parts import Parts, source_type
from cdc.spec.model import TableSpec


def parse(value: Column, table: TableSpec) -> Column:
    """The value parsed, for `open_parts`, and for `is_flattened` and `is_cloud_event`.

    >>> event = content(parse(F.lit('{"op": "c", "after": {"id": 1}}'), orders))
    >>> evaluate(F.struct(event.op, event.after))
    Row(op='c', after={'id': '1'})
    """
    fields = {
        "op": TEXT,
        **images_of(table.connector).fields(table),
        "source": source_type(table),
        "transaction": texts_of(("id", "total_order")),
        "ts_ms": TEXT,
        "status": TEXT,
        "tableChanges": TEXT,
        "databaseName": TEXT,
        "ddl": TEXT,
        "specversion": TEXT,
        **dict.fromkeys(flattened_markers(table), TEXT),
    }
    return parse_object(value, struct_of({**fields, PAYLOAD: struct_of(fields)}))


def open_parts(parsed: Column, table: TableSpec) -> Parts:
    """The parts of the record."""
    return Parts(
        op=_part(parsed, "op"),
        source=_part(parsed, "source"),
        transaction_id=_part(parsed, "transaction").getField("id"),
        total_order=_part(parsed, "transaction").getField("total_order"),
        kind=_kind_of_no_row(parsed),
        images={name: _part(parsed, name) for name in images_of(table.connector).fields(table)},
    )


def flattened_markers(table: TableSpec) -> tuple[str, ...]:
    """The fields that distinguish a flattened record from an envelope."""
    prefix = table.connector.flat_prefix
    return f"{prefix}op", f"{prefix}deleted"


def is_flattened(parsed: Column, table: TableSpec) -> Column:
    """True if the value is a flattened row.

    >>> evaluate(is_flattened(parse(F.lit('{"id": 1, "__op": "c"}'), orders), orders))
    True
    """
    return F.coalesce(*(_part(parsed, marker) for marker in flattened_markers(table))).isNotNull()


def is_cloud_event(parsed: Column) -> Column:
    """True if the value is a CloudEvent.

    >>> evaluate(is_cloud_event(parse(F.lit('{"specversion": "1.0", "data": {}}'), orders)))
    True
    """
    return _part(parsed, "specversion").isNotNull()


def _part(parsed: Column, name: str) -> Column:
    return anywhere(content(parsed), name)


def _kind_of_no_row(parsed: Column) -> Column:
    """Which of Debezium's other records this is; null for a change of a row and for anything else.

    They have topics of their own, but a router may send them to a table's.
    """
    without_op = _part(parsed, "op").isNull()
    return F.coalesce(
        F.when(_part(parsed, "op") == names.LOG_MESSAGE, "logical_decoding_message"),
        F.when(without_op & _part(parsed, "tableChanges").isNotNull(), "schema_change"),
        # Connectors before 1.5 may write the statement alone.
        F.when(
            without_op & _part(parsed, "databaseName").isNotNull() & _part(parsed, "ddl").isNotNull(), "schema_change"
        ),
        F.when(without_op & _part(parsed, "status").isin("BEGIN", "END"), "transaction"),
        F.when(without_op & _part(parsed, "source").isNull() & _part(parsed, "ts_ms").isNotNull(), "heartbeat"),
    )
