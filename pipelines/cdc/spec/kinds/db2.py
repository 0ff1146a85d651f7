"""Db2 (Linux, Unix, Windows): its column types with defaults and ranges, its names of tables and topics."""

import re
from collections.abc import Mapping
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
from cdc.spec.kinds.kind import Kind
from cdc.spec.model import SourceType

_UNITS = re.compile(r"\s+(octets|codeunits16|codeunits32)(?=\s*\))")
_SIZES = {"k": 1024, "m": 1024**2, "g": 1024**3}
_LONGEST = 2**31 - 1
_DECIMALS = ("decimal", "numeric")
_TEXTS = ("char", "varchar", "clob", "graphic", "vargraphic", "dbclob", "xml")
_BIT_DATA = {"char": "char for bit data", "varchar": "varchar for bit data"}
_BYTES = ("binary", "varbinary", "blob", *_BIT_DATA.values())
_LOBS = ("clob", "dbclob", "blob", "xml")
_SIZED = (
    "char",
    "varchar",
    "graphic",
    "vargraphic",
    "binary",
    "varbinary",
    *_BIT_DATA.values(),
    "clob",
    "dbclob",
    "blob",
)


def _float(name: str, arguments: list[str]) -> SourceType:
    """As the server stores it: up to 24 bits is a real, more is a double."""
    (bits,) = at_most(1, name, arguments)
    return SourceType("real" if Range("precision", 1, 53, 53).read(name, bits) <= 24 else "double")


def _decfloat(name: str, arguments: list[str]) -> SourceType:
    (digits,) = at_most(1, name, arguments)
    precision = Range("precision", 16, 34, 34).read(name, digits)
    return SourceType(name, precision=16 if precision == 16 else 34)


def _large(name: str, arguments: list[str]) -> SourceType:
    """A large object: ``clob(1M)`` has 1,048,576 bytes; without a length, the type's default."""
    (length,) = at_most(1, name, arguments)
    unit = length[-1:] if length else None
    if length and unit in _SIZES and length[:-1].strip().isascii() and length[:-1].strip().isdecimal():
        length = str(min(int(length[:-1]) * _SIZES[unit], _LONGEST)) if len(length) < 12 else length
    return SourceType(name, length=Range("length", 1, _LONGEST, 1024**2).read(name, length))


_TYPES = Types(
    title="Db2",
    examples="integer, varchar(80) or decimal(18,2)",
    readers={
        **each_of(("smallint", "integer", "bigint", "real", "double"), plain),
        "float": _float,
        **each_of(_DECIMALS, decimal(31, 5)),
        "decfloat": _decfloat,
        "char": sized(255),
        "varchar": sized(32672),
        "clob": _large,
        "graphic": sized(127),
        "vargraphic": sized(16336),
        "dbclob": _large,
        "xml": plain,
        "char for bit data": sized(255),
        "varchar for bit data": sized(32672),
        "binary": sized(255),
        "varbinary": sized(32672),
        "blob": _large,
        **each_of(("boolean", "date", "time"), plain),
        "timestamp": fraction(12, 6),
    },
    synonyms={
        "int": "integer",
        "double precision": "double",
        "dec": "decimal",
        "num": "numeric",
        "character": "char",
        "char varying": "varchar",
        "character varying": "varchar",
        "char large object": "clob",
        "character large object": "clob",
        "binary large object": "blob",
        "binary varying": "varbinary",
        "character for bit data": "char for bit data",
        "char varying for bit data": "varchar for bit data",
        "character varying for bit data": "varchar for bit data",
    },
    own="for a distinct type, its source type",
)


def parse(text: str) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    >>> [str(parse(text)[0]) for text in ("INT", "timestamp", "char(8) for bit data", "clob(2k)", "varchar(9 octets)")]
    ['integer', 'timestamp(6)', 'char for bit data(8)', 'clob(2048)', 'varchar(9)']

    Raises:
        TypeFault: the type is unknown, or its arguments are invalid.
    """
    # The driver writes `CHAR () FOR BIT DATA`.
    written, nullable = without_nullability(_UNITS.sub("", text.lower()).replace("()", " "))
    source_type, _ = _TYPES.parse(written)
    return source_type, nullable


def _described(column: Mapping[str, Any]) -> str:
    """The type as in DDL, from what the driver says of the column."""
    name = " ".join(str(column["typeName"]).lower().replace("()", " ").split())
    length, scale = column.get("length"), column.get("scale")
    if name in _DECIMALS and length is not None:
        return f"{name}({length},{scale or 0})"
    if name in _SIZED and length is not None:
        return f"{name}({length})"
    if name == "timestamp" and scale is not None:
        return f"timestamp({scale})"
    return f"decfloat({length})" if name == "decfloat" and length in (16, 34) else name


_BLOCKS = Blocks(
    by_name={
        "io.debezium.time.Date": "date",
        "io.debezium.time.IsoDate": "date",
        "io.debezium.time.Time": "time",
        "io.debezium.time.MicroTime": "time",
        "io.debezium.time.NanoTime": "time",
        "io.debezium.time.IsoTime": "time",
        "io.debezium.time.Timestamp": "timestamp(3)",
        "io.debezium.time.MicroTimestamp": "timestamp(6)",
        "io.debezium.time.NanoTimestamp": "timestamp(9)",
        "io.debezium.time.IsoTimestamp": "timestamp(9)",
        "io.debezium.data.Xml": "xml",
        "io.debezium.data.VariableScaleDecimal": "decfloat(34)",
        "org.apache.kafka.connect.data.Date": "date",
        "org.apache.kafka.connect.data.Time": "time",
        "org.apache.kafka.connect.data.Timestamp": "timestamp(3)",
    },
    by_type={
        "boolean": "boolean",
        "int16": "smallint",
        "int32": "integer",
        "int64": "bigint",
        "float": "real",
        "double": "double",
        "float32": "real",
        "float64": "double",
        "string": "varchar(32672)",
        "bytes": "varbinary(32672)",
    },
    decimals=_DECIMALS,
    otherwise="varchar(32672)",
)

KIND = Kind(
    name="db2",
    title=_TYPES.title,
    connector_class="io.debezium.connector.db2.Db2Connector",
    table_example="SALES.ORDERS",
    topic_patterns=("{prefix}.{schema}.{table}",),
    # A connector reads one database, and names a table without it, in topics and schema changes too.
    table_parts=("schema", "table"),
    table_fields=("schema", "table"),
    parser=parse,
    known_types=tuple(name for name in _TYPES.readers if name != "float"),
    texts=_TEXTS,
    modes={
        "within_transaction": ("auto", "lsn", "total_order", "arrival"),
        "reads_without_position": ("reject", "first"),
        "time_precision_mode": (
            *("adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),
        ),
        "decimal_handling_mode": ("precise", "double", "string"),
    },
    is_large=lambda of_type: of_type.name in _LOBS,
    large="clob, dbclob, blob and xml",
    without_zone=("timestamp",),
    overflowing=("timestamp",),
    widths=Widths(
        whole_numbers=("smallint", "integer", "bigint"),
        decimals=_DECIMALS,
        sized=_SIZED,
        fractions=("timestamp",),
        ignored=r" ?\(\)",
        with_length=("decfloat",),
        families={
            "decimal": _DECIMALS,
            "text": _TEXTS,
            "bytes": _BYTES,
            "float": ("real", "double"),
            "timestamp": ("timestamp",),
            "time": ("time",),
        },
    ),
    described_type=_described,
    block_type=_BLOCKS.type_of,
)
