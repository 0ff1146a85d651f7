"""Records flattened by ExtractNewRecordState: the row itself, with the change's own fields beside it.

Those fields are there as far as the transformation adds them: ``__op``, ``__deleted`` (rewrite mode), and
``__source_commit_lsn`` or ``__commit_lsn`` for a field of ``source``. Without a position there is no order,
so `add.fields` has to name at least op, the fields of the position, and source.ts_ms.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.json_texts import PAYLOAD, TEXTS, content, parse_object, struct_of
from cdc.debezium.parts import Parts, key_fields, source_fields
from cdc.spec.model import TableSpec

_BEGINS_WITH_SCHEMA = r'^\s*\{\s*"schema"\s*:\s*[{n]'


def parse(value: Column, table: TableSpec) -> Column:
    """Reads the value, for `open_parts`."""
    text = value.cast("string")
    bare = F.concat(F.lit(f'{{"{PAYLOAD}":'), text, F.lit("}"))
    in_payload = {
        "always": text,
        "never": bare,
        "auto": F.when(text.rlike(_BEGINS_WITH_SCHEMA), text).otherwise(bare),
    }
    return parse_object(in_payload[table.connector.schemas], struct_of({PAYLOAD: TEXTS}))


def open_parts(parsed: Column, table: TableSpec) -> Parts:
    """The parts of the record; a rewritten delete has the row before, of which the key is enough to name it."""
    fields = content(parsed).getField(PAYLOAD)
    prefix = table.connector.flat_prefix
    op = _op(fields[f"{prefix}op"], fields[f"{prefix}deleted"])
    row = F.map_filter(fields, lambda name, _: ~name.startswith(prefix))
    return Parts(
        op=op,
        source=F.struct(*(_of_source(fields, prefix, name).alias(name) for name in source_fields(table))),
        transaction_id=fields[f"{prefix}transaction_id"],
        total_order=fields[f"{prefix}transaction_total_order"],
        before=row if table.append_only else F.struct(*(fields[name].alias(name) for name in key_fields(table))),
        row=row if table.append_only else F.when(~op.eqNullSafe("d"), row),
        kind=F.lit(None).cast("string"),
    )


def _op(op: Column, deleted: Column) -> Column:
    """Without an op the mark of rewrite mode tells a delete from an upsert, which an update is."""
    return F.when(deleted == "true", "d").otherwise(F.coalesce(op, F.when(deleted == "false", "u")))


def _of_source(fields: Column, prefix: str, name: str) -> Column:
    """A field of ``source``; ``__ts_ms`` is not one: it is when the connector handled the change."""
    of_source = fields[f"{prefix}source_{name}"]
    return of_source if name == "ts_ms" else F.coalesce(of_source, fields[f"{prefix}{name}"])
