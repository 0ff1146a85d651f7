"""SQL Server: its column types with defaults and ranges, its names of tables and topics."""

import re
from collections.abc import Mapping
from typing import Any

from cdc.spec.kinds.arguments import Range, Types, at_most, decimal, each_of, fraction, plain, sized
from cdc.spec.kinds.comparison import Blocks, Widths
from cdc.spec.kinds.kind import Kind
from cdc.spec.model import SourceType

_IDENTITY = re.compile(r"\s+identity(\s*\([^()]*\))?(?=\s|$)", re.IGNORECASE)
_LONGEST = 8000
_TEXTS = ("char", "varchar", "text", "nchar", "nvarchar", "ntext", "uniqueidentifier", "xml")
_BYTES = ("binary", "varbinary", "image", "rowversion", "hierarchyid")
_WITHOUT_ZONE = ("datetime", "smalldatetime", "datetime2")
_FRACTIONS = ("time", "datetime2", "datetimeoffset")
_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_SIZED = ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary")
_DECIMALS = ("decimal", "numeric")


def _float(name: str, arguments: list[str]) -> SourceType:
    """As the server stores it: up to 24 bits is a real, more is float(53)."""
    (bits,) = at_most(1, name, arguments)
    if Range("precision", 1, 53, 53).read(name, bits) <= 24:
        return SourceType("real")
    return SourceType("float", precision=53)


_TYPES = Types(
    title="SQL Server",
    examples="int, nvarchar(80) or decimal(18,2)",
    readers={
        **each_of(("bit", "tinyint", "smallint", "int", "bigint", "real"), plain),
        "float": _float,
        **each_of(_DECIMALS, decimal(38, 18)),
        **each_of(("money", "smallmoney"), plain),
        "char": sized(_LONGEST),
        "varchar": sized(_LONGEST, may_be_max=True),
        "nchar": sized(4000),
        "nvarchar": sized(4000, may_be_max=True),
        **each_of(("text", "ntext"), plain),
        "binary": sized(_LONGEST),
        "varbinary": sized(_LONGEST, may_be_max=True),
        "image": plain,
        **each_of(("date", "datetime", "smalldatetime"), plain),
        **each_of(_FRACTIONS, fraction(7, 7)),
        **each_of(("uniqueidentifier", "xml", "rowversion", "hierarchyid"), plain),
    },
    synonyms={
        "timestamp": "rowversion",
        "integer": "int",
        "dec": "decimal",
        "double precision": "float",
        "character": "char",
        "char varying": "varchar",
        "character varying": "varchar",
        "binary varying": "varbinary",
        "national char": "nchar",
        "national character": "nchar",
        "national char varying": "nvarchar",
        "national character varying": "nvarchar",
        "national text": "ntext",
    },
    omitted=("sql_variant", "geography", "geometry"),
)


def parse(text: str) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    >>> parse("decimal(18, 2) not null")
    (SourceType(name='decimal', length=None, precision=18, scale=2, is_max=False), False)
    >>> [str(parse(text)[0]) for text in ("TIMESTAMP", "nvarchar(max)", "datetime2", "int identity")]
    ['rowversion', 'nvarchar(max)', 'datetime2(7)', 'int']

    Raises:
        TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
    """
    return _TYPES.parse(_IDENTITY.sub("", text, count=1))


def _is_large(of_type: SourceType) -> bool:
    """True for types stored off-row."""
    return of_type.is_max or of_type.name in ("text", "ntext", "image", "xml")


def _described(column: Mapping[str, Any]) -> str:
    """The type as in DDL; JDBC reports the length of a (max) type as the largest possible one."""
    name = str(column["typeName"]).lower().removesuffix("() identity").removesuffix(" identity")
    length, scale = column.get("length"), column.get("scale")
    if name in _SIZED and length is not None:
        return f"{name}({'max' if length > _LONGEST else length})"
    if name in _DECIMALS and length is not None:
        return f"{name}({length},{scale or 0})"
    if name in _FRACTIONS and scale is not None:
        return f"{name}({scale})"
    return name


_BLOCKS = Blocks(
    by_name={
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
    },
    by_type={
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
    },
    decimals=_DECIMALS,
    otherwise="nvarchar(max)",
)

KIND = Kind(
    name="sqlserver",
    title=_TYPES.title,
    connector_class="io.debezium.connector.sqlserver.SqlServerConnector",
    table_example="shop.dbo.orders",
    topic_patterns=("{prefix}.{database}.{schema}.{table}", "{prefix}.{schema}.{table}"),
    table_parts=("database", "schema", "table"),
    table_fields=("db", "schema", "table"),
    parser=parse,
    known_types=tuple(_TYPES.readers),
    texts=_TEXTS,
    modes={
        "within_transaction": ("auto", "lsn", "total_order", "arrival"),
        "reads_without_position": ("reject", "first"),
        "time_precision_mode": (
            "adaptive",
            "adaptive_time_microseconds",
            "connect",
            "isostring",
            "microseconds",
            "nanoseconds",
        ),
        "decimal_handling_mode": ("precise", "double", "string"),
        "binary_handling_mode": ("bytes", "base64", "base64-url-safe", "hex"),
    },
    is_large=_is_large,
    large="text, ntext, image, xml and (max) types",
    omitted=_TYPES.omitted,
    without_zone=_WITHOUT_ZONE,
    with_offset=("datetimeoffset",),
    overflowing=("datetime2",),
    widths=Widths(
        whole_numbers=_WHOLE_NUMBERS,
        decimals=_DECIMALS,
        sized=_SIZED,
        fractions=_FRACTIONS,
        # The driver calls an identity column `int identity`, and a rowversion `timestamp`.
        ignored=r"(\(\))? identity$",
        aliases={"timestamp": "rowversion"},
        with_length=("float",),
        longest=_LONGEST,
        families={
            "decimal": (*_DECIMALS, "money", "smallmoney"),
            "text": _TEXTS,
            "bytes": _BYTES,
            "timestamp": _WITHOUT_ZONE,
            "float": ("real", "float"),
        },
        smaller=(("tinyint", "smallint"),),
    ),
    described_type=_described,
    block_type=_BLOCKS.type_of,
)
