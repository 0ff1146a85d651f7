"""Flattened records (ExtractNewRecordState): the row itself, with the fields of its change beside it.

The transformation adds only those fields that it is configured to: ``__op``, ``__deleted`` (rewrite mode), and
``__source_<field>`` or ``__<field>`` for a field of ``source``. A change without a position cannot be ordered, so
`add.fields` has to name at least op, the fields of the position, and source.ts_ms.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.json_texts import PAYLOAD, TEXTS, content, parse_object, struct_of
from cdc.debezium.parts import Parts, key_fields, source_fields
from cdc.debezium.positions.position import COMMIT_TIME_FIELD
from cdc.spec.model import TableSpec

_STARTS_WITH_SCHEMA = r'^\s*\{\s*"schema"\s*:\s*[{n]'


def parse(value: Column, table: TableSpec) -> Column:
    """The value parsed, for `open_parts`.

    >>> evaluate(content(parse(F.lit('{"id": 1}'), orders)).payload)
    {'id': '1'}
    """
    text = value.cast("string")
    bare = F.concat(F.lit(f'{{"{PAYLOAD}":'), text, F.lit("}"))
    in_payload = {
        "always": text,
        "never": bare,
        "auto": F.when(text.rlike(_STARTS_WITH_SCHEMA), text).otherwise(bare),
    }
    return parse_object(in_payload[table.connector.schemas], struct_of({PAYLOAD: TEXTS}))


def open_parts(parsed: Column, table: TableSpec) -> Parts:
    """The parts of the record; a rewritten delete has the row before, of which the key is enough."""
    fields = content(parsed).getField(PAYLOAD)
    prefix = table.connector.flat_prefix
    op = _op(fields[f"{prefix}op"], fields[f"{prefix}deleted"])
    row = F.map_filter(fields, lambda name, _: ~name.startswith(prefix))
    return Parts(
        op=op,
        source=F.struct(*(_of_source(fields, prefix, name).alias(name) for name in source_fields(table))),
        transaction_id=fields[f"{prefix}transaction_id"],
        total_order=fields[f"{prefix}transaction_total_order"],
        kind=F.lit(None).cast("string"),
        images={
            "before": row if table.append_only else F.struct(*(fields[name].alias(name) for name in key_fields(table))),
            "after": row if table.append_only else F.when(~op.eqNullSafe(names.DELETE), row),
        },
    )


def _op(op: Column, deleted: Column) -> Column:
    """The operation; without an ``__op``, ``__deleted`` separates deletes from upserts, which count as updates."""
    return F.when(deleted == "true", names.DELETE).otherwise(F.coalesce(op, F.when(deleted == "false", names.UPDATE)))


def _of_source(fields: Column, prefix: str, name: str) -> Column:
    """A field of ``source``; not ``__ts_ms``, which is when the connector handled the change."""
    of_source = fields[f"{prefix}source_{name}"]
    return of_source if name == COMMIT_TIME_FIELD else F.coalesce(of_source, fields[f"{prefix}{name}"])
