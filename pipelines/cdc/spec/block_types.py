"""Column types from the schema block of a record, which tells less than the source's DDL does."""

from collections.abc import Mapping
from typing import Any

from cdc.spec.model import SourceType

_BY_NAME = {
    "io.debezium.time.Date": "date",
    "io.debezium.time.IsoDate": "date",
    "io.debezium.time.Time": "time(3)",
    "io.debezium.time.MicroTime": "time(6)",
    "io.debezium.time.NanoTime": "time(7)",
    "io.debezium.time.IsoTime": "time(7)",
    "io.debezium.time.Timestamp": "datetime2(3)",
    "io.debezium.time.MicroTimestamp": "datetime2(6)",
    "io.debezium.time.NanoTimestamp": "datetime2(7)",
    "io.debezium.time.IsoTimestamp": "datetime2(7)",
    "io.debezium.time.ZonedTimestamp": "datetimeoffset(7)",
    "io.debezium.data.Xml": "xml",
    "org.apache.kafka.connect.data.Date": "date",
    "org.apache.kafka.connect.data.Time": "time(3)",
    "org.apache.kafka.connect.data.Timestamp": "datetime2(3)",
}
_BY_TYPE = {
    "boolean": "bit",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "real",
    "double": "float",
    "float32": "real",
    "float64": "float",
    "string": "nvarchar(max)",
    "bytes": "varbinary(max)",
}
WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_FAMILIES = {
    "integer": WHOLE_NUMBERS,
    "decimal": ("decimal", "numeric", "money", "smallmoney"),
    "text": ("char", "varchar", "text", "nchar", "nvarchar", "ntext", "uniqueidentifier", "xml"),
    "bytes": ("binary", "varbinary", "image", "rowversion", "hierarchyid"),
    "timestamp": ("datetime", "smalldatetime", "datetime2"),
    "float": ("real", "float"),
}
_SIZED = ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary")
_PARAMETER = "__debezium.source.column."


def block_type(field: Mapping[str, Any]) -> str:
    """The SQL Server type that a field of a schema block most likely has in the source.

    With `column.propagate.source.type` the block has the source's own type.

    >>> block_type({"type": "int64", "name": "io.debezium.time.Timestamp"}), block_type({"type": "string"})
    ('datetime2(3)', 'nvarchar(max)')
    """
    stated = field.get("parameters") or {}
    if name := str(stated.get(f"{_PARAMETER}type", "")).lower():
        sizes = [stated[each] for each in (f"{_PARAMETER}length", f"{_PARAMETER}scale") if each in stated]
        return f"{name}({','.join(sizes)})" if sizes and name in ("decimal", "numeric") else name
    if field.get("name") == "org.apache.kafka.connect.data.Decimal":
        return f"decimal({stated.get('connect.decimal.precision', 38)},{stated.get('scale', 0)})"
    return _BY_NAME.get(str(field.get("name")), _BY_TYPE.get(str(field.get("type")), "nvarchar(max)"))


def holds(spec: SourceType, source: SourceType) -> bool:
    """Whether a column of the type in a spec reads every value of the source's type as the source has it.

    A wider type does, with two exceptions: records have decimals without their scale, and times in a unit that
    follows from their digits, so scale and digits must be the source's.
    """
    if spec.name in WHOLE_NUMBERS and source.name in WHOLE_NUMBERS:
        return WHOLE_NUMBERS.index(spec.name) >= WHOLE_NUMBERS.index(source.name)
    if spec.name in _SIZED and spec.name == source.name:
        return spec.is_max or (not source.is_max and (spec.length or 1) >= (source.length or 1))
    if spec.name in ("decimal", "numeric") and source.name in ("decimal", "numeric"):
        return spec.scale == source.scale and (spec.precision or 0) >= (source.precision or 0)
    return spec == source


def may_be(block: SourceType, spec: SourceType) -> bool:
    """Whether a column of the type in a spec can have a block that says the other.

    A block does not tell varchar from nvarchar, tinyint from smallint, or datetime from datetime2(3). Precision and
    scale of decimals are in it, and whole numbers, strings, bytes, times and so on are told apart.
    """
    if spec.name in ("decimal", "numeric") and block.name == "decimal":
        return holds(spec, block)
    if spec.name == "tinyint" and block.name == "smallint":
        return True
    return holds(spec, block) if block.name in WHOLE_NUMBERS else _family(block) == _family(spec)


def _family(of_type: SourceType) -> str:
    return next((name for name, types in _FAMILIES.items() if of_type.name in types), of_type.name)
