"""MariaDB and MySQL: the column types that both have, with their ranges, and their names of tables and topics."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from cdc.spec.kinds.arguments import (
    Range,
    Types,
    at_most,
    decimal,
    each_of,
    fraction,
    plain,
    sized,
    without_nullability,
)
from cdc.spec.kinds.comparison import Blocks, Widths
from cdc.spec.model import SourceType

_LABELS = re.compile(r"\s*(?P<name>enum|set)\s*\(\s*'.*'\s*\)", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(r"\s+(character\s+set|charset|collate)\s*=?\s*[a-z0-9_]+", re.IGNORECASE)
_BINARY_CHARSET = re.compile(r"\s+(character\s+set|charset)\s*=?\s*binary\b", re.IGNORECASE)
_NO_VALUE = re.compile(
    r"\s+(auto_increment|signed|invisible|(ref_system_id\s*=?|srid)\s*\d+|primary\s+key|unique(\s+key)?)\b",
    re.IGNORECASE,
)
_UNSIGNED = re.compile(r"\s+(unsigned(\s+zerofill)?|zerofill(\s+unsigned)?)\b", re.IGNORECASE)
"""`zerofill` makes a number unsigned."""

TEXTS = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "json")
BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
_SIGNED = ("tinyint", "smallint", "mediumint", "int", "bigint")
_SHAPES = (
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
)
_OF_BYTES = {"char": "binary", "varchar": "varbinary", **dict(zip(TEXTS[2:6], BYTES[2:], strict=True))}
"""What a text type is with the character set `binary`."""
_FRACTIONS = ("time", "datetime", "timestamp")
_WITHOUT_ZONE = ("datetime",)
WHOLE_NUMBERS = (
    "tinyint",
    "tinyint unsigned",
    "smallint",
    "smallint unsigned",
    "mediumint",
    "mediumint unsigned",
    "int",
    "int unsigned",
    "bigint",
)
_DECIMALS = ("decimal",)
_SIZED = ("char", "varchar", "binary", "varbinary")

_STATED = "__debezium.source.column."
_PARTS = {"typeName": "type", "length": "length", "scale": "scale"}
"""Field of a described column -> the end of the parameter of a schema block that has it."""

TABLE_PARTS = ("database", "table")
TABLE_FIELDS = ("db", "table")
TOPIC_PATTERNS = ("{prefix}.{database}.{table}",)
TABLE_EXAMPLE = "shop.orders"
MODES: Mapping[str, tuple[str, ...]] = {
    # No order by the connector's count: it starts anew with each transaction, and a log file has many.
    "within_transaction": ("auto", "log"),
    "time_precision_mode": ("adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),
    "decimal_handling_mode": ("precise", "double", "string"),
    "binary_handling_mode": ("bytes", "base64", "base64-url-safe", "hex"),
    "bigint_unsigned_handling_mode": ("long", "precise"),
}
_SYNONYMS = {
    "bool": "boolean",
    "int1": "tinyint",
    "int2": "smallint",
    "int3": "mediumint",
    "middleint": "mediumint",
    "int4": "int",
    "integer": "int",
    "int8": "bigint",
    "dec": "decimal",
    "numeric": "decimal",
    "fixed": "decimal",
    "float4": "float",
    "float8": "double",
    "real": "double",
    "double precision": "double",
    "character": "char",
    "nchar": "char",
    "national char": "char",
    "national character": "char",
    "character varying": "varchar",
    "varcharacter": "varchar",
    "char varying": "varchar",
    "nvarchar": "varchar",
    "national varchar": "varchar",
    "national character varying": "varchar",
    "national varcharacter": "varchar",
    "nchar varchar": "varchar",
    "nchar varying": "varchar",
    "long": "mediumtext",
    "long varchar": "mediumtext",
    "long varbinary": "mediumblob",
    "char byte": "binary",
    "serial": "bigint unsigned",
    "geomcollection": "geometrycollection",
}
_UNSIGNED_SYNONYMS = {
    f"{name} unsigned": f"{of} unsigned" if of in _SIGNED else of
    for name, of in {**_SYNONYMS, "decimal": "decimal", "float": "float", "double": "double"}.items()
    if of in (*_SIGNED, "decimal", "float", "double")
}
"""Decimals and floats without a sign have no type of their own."""


def _whole_number(name: str, arguments: list[str]) -> SourceType:
    """The argument is a width for display."""
    at_most(1, name, arguments)
    return SourceType(name)


def _bit(name: str, arguments: list[str]) -> SourceType:
    (length,) = at_most(1, name, arguments)
    return SourceType(name, length=Range("length", 1, 64, 1).read(name, length))


def _decimal(name: str, arguments: list[str]) -> SourceType:
    return decimal(65, 10)(name, arguments)


def _float(name: str, arguments: list[str]) -> SourceType:
    """A float of 25 digits and more is a double; one with decimal places is a float of any number of digits."""
    digits, places = at_most(2, name, arguments)
    is_double = places is None and Range("precision", 0, 53, 0).read(name, digits) > 24
    return SourceType("double" if is_double else "float")


def _double(name: str, arguments: list[str]) -> SourceType:
    at_most(2, name, arguments)
    return SourceType(name)


def _of_any_length(name: str, arguments: list[str]) -> SourceType:
    """The argument of a text or blob chooses the type at the source, and no more."""
    at_most(1, name, arguments)
    return SourceType(name)


def _year(name: str, arguments: list[str]) -> SourceType:
    at_most(1, name, arguments)
    return SourceType(name)


def types(title: str, own: Mapping[str, Callable[[str, list[str]], SourceType]]) -> Types:
    """The column types of a database: those that both have, and its own."""
    return Types(
        title=title,
        examples="int unsigned, varchar(80) or decimal(18,2)",
        readers={
            "boolean": plain,
            **each_of(_SIGNED, _whole_number),
            **each_of((f"{name} unsigned" for name in _SIGNED), _whole_number),
            "bit": _bit,
            "decimal": _decimal,
            "float": _float,
            "double": _double,
            "char": sized(255),
            "varchar": sized(65_535),
            **each_of(TEXTS[2:6], _of_any_length),
            **each_of(("enum", "set", "json"), plain),
            "binary": sized(255),
            "varbinary": sized(65_535),
            **each_of(BYTES[2:], _of_any_length),
            "date": plain,
            **each_of(_FRACTIONS, fraction(6, 0)),
            "year": _year,
            **each_of(_SHAPES, plain),
            **own,
        },
        synonyms=_SYNONYMS,
        own="for a type that is not there, what SHOW CREATE TABLE prints",
    )


def parse(text: str, of_types: Types) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    Only what decides how values are read is kept: not a width for display, a character set, labels of an enum.

    >>> mysql = types("MySQL", {})
    >>> [str(parse(text, mysql)[0]) for text in ("INT(11) UNSIGNED ZEROFILL", "bit", "timestamp(3)", "float(30)")]
    ['int unsigned', 'bit(1)', 'timestamp(3)', 'double']
    >>> [str(parse(text, mysql)[0]) for text in ("enum('a','b,c)')", "varchar(9) character set binary", "numeric(9,2)")]
    ['enum', 'varbinary(9)', 'decimal(9,2)']
    >>> parse("decimal(6,1) unsigned not null", mysql)[1], parse("char(3) charset latin1 collate latin1_bin", mysql)[1]
    (False, None)

    Raises:
        TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
    """
    written, nullable = without_nullability(_NO_VALUE.sub("", text))
    if labels := _LABELS.match(written):
        written = labels["name"] + written[labels.end() :]
    is_binary = _BINARY_CHARSET.search(written) is not None
    written = _CHARSET.sub("", written)
    is_unsigned = _UNSIGNED.search(written) is not None
    if not is_unsigned:
        return _in_bytes(of_types.parse(written)[0], is_binary=is_binary), nullable
    signed = of_types.parse(_UNSIGNED.sub("", written))[0]
    return (SourceType(f"{signed.name} unsigned") if signed.name in _SIGNED else signed), nullable


def _in_bytes(source_type: SourceType, *, is_binary: bool) -> SourceType:
    if not is_binary or source_type.name not in _OF_BYTES:
        return source_type
    return SourceType(_OF_BYTES[source_type.name], length=source_type.length)


def described(column: Mapping[str, Any]) -> str:
    """The type as in DDL of a column of a schema-change record.

    >>> described({"typeName": "FLOAT", "length": 30}), described({"typeName": "FLOAT", "length": 7, "scale": 4})
    ('float(30)', 'float')
    >>> described({"typeName": "VARCHAR", "length": 9, "charsetName": "binary"})
    'varchar(9) character set binary'
    """
    name = " ".join(str(column["typeName"]).lower().split())
    length, scale = column.get("length"), column.get("scale")
    if column.get("charsetName") == "binary" and name in _OF_BYTES:
        return f"{name}({length}) character set binary" if length else f"{name} character set binary"
    if name.startswith("decimal") or name.startswith("numeric"):
        return name if length is None else f"{name.split()[0]}({length},{scale or 0})"
    has_length = name in (*_SIZED, *_FRACTIONS, "bit", "vector") or (name == "float" and scale is None)
    return f"{name}({length})" if has_length and length is not None else name


BLOCKS = Blocks(
    by_name={
        "io.debezium.time.Date": "date",
        "io.debezium.time.IsoDate": "date",
        "io.debezium.time.Time": "time(3)",
        "io.debezium.time.MicroTime": "time(6)",
        "io.debezium.time.NanoTime": "time(6)",
        "io.debezium.time.IsoTime": "time(6)",
        "io.debezium.time.Timestamp": "datetime(3)",
        "io.debezium.time.MicroTimestamp": "datetime(6)",
        "io.debezium.time.NanoTimestamp": "datetime(6)",
        "io.debezium.time.IsoTimestamp": "datetime(6)",
        "io.debezium.time.ZonedTimestamp": "timestamp(6)",
        "io.debezium.time.Year": "year",
        "io.debezium.data.Bits": "bit(64)",
        "io.debezium.data.Enum": "enum",
        "io.debezium.data.EnumSet": "set",
        "io.debezium.data.Json": "json",
        "io.debezium.data.geometry.Geometry": "geometry",
        "io.debezium.data.geometry.Point": "point",
        "org.apache.kafka.connect.data.Date": "date",
        "org.apache.kafka.connect.data.Time": "time(3)",
        "org.apache.kafka.connect.data.Timestamp": "datetime(3)",
    },
    by_type={
        "boolean": "boolean",
        "int8": "tinyint",
        "int16": "smallint",
        "int32": "int",
        "int64": "bigint",
        "float": "float",
        "double": "double",
        "float32": "float",
        "float64": "double",
        "string": "longtext",
        "bytes": "longblob",
    },
    decimals=_DECIMALS,
    otherwise="longtext",
)
WIDTHS = Widths(
    whole_numbers=WHOLE_NUMBERS,
    decimals=_DECIMALS,
    sized=_SIZED,
    fractions=_FRACTIONS,
    digits_are_length=True,
    # By a converter a tinyint(1) is a boolean, and `bool` is another name of tinyint(1).
    # A float of many digits is a double.
    also_held={"boolean": ("tinyint",), "tinyint": ("boolean",), "double": ("float",)},
    ignored=r" zerofill$",
    aliases=_SYNONYMS | _UNSIGNED_SYNONYMS,
    with_length=("bit", "vector"),
    families={
        "text": TEXTS,
        "bytes": BYTES,
        "timestamp": _WITHOUT_ZONE,
        "float": ("float", "double"),
        "boolean": ("boolean", "tinyint", "bit"),
        "shape": _SHAPES,
    },
    smaller=(
        ("tinyint", "smallint"),
        ("tinyint unsigned", "smallint"),
        ("smallint unsigned", "int"),
        ("mediumint", "int"),
        ("mediumint unsigned", "int"),
        ("int unsigned", "bigint"),
        ("bigint unsigned", "bigint"),
    ),
)
WITHOUT_ZONE = _WITHOUT_ZONE


def block_type(schema: Mapping[str, Any]) -> str:
    """The type that a field of a schema block most likely has in the source.

    With `column.propagate.source.type` the block has the source's own type.

    >>> block_type({"type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": "5"}})
    'bit(5)'
    >>> stated = {"__debezium.source.column.type": "DATETIME", "__debezium.source.column.length": "6"}
    >>> block_type({"type": "int64", "name": "io.debezium.time.MicroTimestamp", "parameters": stated})
    'datetime(6)'
    """
    stated = schema.get("parameters") or {}
    if f"{_STATED}type" in stated:
        return described({part: stated.get(f"{_STATED}{name}") for part, name in _PARTS.items()})
    if schema.get("name") == "io.debezium.data.Bits":
        return f"bit({(schema.get('parameters') or {}).get('length', 64)})"
    return BLOCKS.type_of(schema)
