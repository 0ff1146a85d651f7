"""PostgreSQL: its column types with defaults and ranges, its names of tables and topics."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.kinds.arguments import (
    Range,
    TypeFault,
    Types,
    at_most,
    each_of,
    fraction,
    plain,
    sized,
    without_nullability,
)
from cdc.spec.kinds.comparison import Blocks, Widths
from cdc.spec.kinds.kind import Kind
from cdc.spec.model import SourceType

_ARRAY = re.compile(r"\s*(?P<element>.*?)\s*(?P<dimensions>(\[\s*\d*\s*\]\s*)+)", re.DOTALL)
_LONGEST = 10_485_760
_MOST_DIGITS = 1000
EXACT_DIGITS = 38
"""The digits of the widest decimal; a numeric with more of them, or of any number, is a text."""

_TEXTS = ("char", "varchar", "text", "citext", "uuid", "xml", "json", "jsonb", "ltree", "enum", "tsvector")
_ADDRESSES = ("inet", "cidr", "macaddr", "macaddr8")
RANGES = ("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange")
_WHOLE_NUMBERS = ("smallint", "integer", "bigint")
_TIMES = ("time", "timetz", "timestamp", "timestamptz")
_SPATIAL = ("geometry", "geography")
_BINARY_MODES = ("bytes", "base64", "base64-url-safe", "hex")
_VECTORS = ("vector", "halfvec", "sparsevec")
UNKNOWN = (
    "tsquery",
    "box",
    "circle",
    "line",
    "lseg",
    "path",
    "polygon",
    "pg_lsn",
    "composite",
    "int4multirange",
    "int8multirange",
    "nummultirange",
    "tsmultirange",
    "tstzmultirange",
    "datemultirange",
)
"""Types that the connector writes only with `include.unknown.datatypes=true`: the bytes of the server's text."""
ELEMENTS = (
    "boolean",
    *_WHOLE_NUMBERS,
    "oid",
    "real",
    "double precision",
    "numeric",
    "char",
    "varchar",
    "text",
    "citext",
    "uuid",
    "json",
    "jsonb",
    "enum",
    *_ADDRESSES,
    *RANGES,
    "bytea",
    "date",
    *_TIMES,
    "hstore",
)
"""The types whose arrays the connector writes."""


def _numeric(name: str, arguments: list[str]) -> SourceType:
    """Without arguments, of any digits and scale."""
    digits, decimals = at_most(2, name, arguments)
    if digits is None:
        return SourceType(name)
    precision = Range("precision", 1, _MOST_DIGITS, 1).read(name, digits)
    scale = Range("scale", 0, precision, 0).read(f"{name}({precision})", decimals)
    return SourceType(name, precision=precision, scale=scale)


def _float(name: str, arguments: list[str]) -> SourceType:
    """As the server stores it: up to 24 bits is a real."""
    (bits,) = at_most(1, name, arguments)
    return SourceType("real" if Range("precision", 1, 53, 53).read(name, bits) <= 24 else "double precision")


def _sized_if_stated(name: str, arguments: list[str]) -> SourceType:
    """Of any length, unless one is stated."""
    return sized(_LONGEST)(name, arguments) if arguments else SourceType(name)


def _modified(name: str, arguments: list[str]) -> SourceType:
    """With arguments that say nothing about the value's form: ``geometry(Point,4326)``, ``vector(3)``."""
    return SourceType(name)


_TYPES = Types(
    title="PostgreSQL",
    examples="integer, text or numeric(18,2)",
    readers={
        **each_of(("boolean", *_WHOLE_NUMBERS, "oid", "real", "double precision"), plain),
        "float": _float,
        "numeric": _numeric,
        "money": plain,
        "char": sized(_LONGEST),
        "varchar": _sized_if_stated,
        **each_of(_TEXTS[2:], plain),
        **each_of(_ADDRESSES, plain),
        "bit": sized(_LONGEST),
        "bit varying": _sized_if_stated,
        "bytea": plain,
        "date": plain,
        **each_of(_TIMES, fraction(6, 6)),
        "interval": _modified,
        "hstore": plain,
        **each_of(RANGES, plain),
        "point": plain,
        **each_of((*_SPATIAL, *_VECTORS), _modified),
        **each_of(UNKNOWN, plain),
    },
    synonyms={
        "bool": "boolean",
        "int2": "smallint",
        "smallserial": "smallint",
        "int": "integer",
        "int4": "integer",
        "serial": "integer",
        "int8": "bigint",
        "bigserial": "bigint",
        "float4": "real",
        "float8": "double precision",
        "decimal": "numeric",
        "dec": "numeric",
        "bpchar": "char",
        "character": "char",
        "character varying": "varchar",
        "varbit": "bit varying",
        "time without time zone": "time",
        "time with time zone": "timetz",
        "timestamp without time zone": "timestamp",
        "timestamp with time zone": "timestamptz",
    },
    own="for an enum write enum, for another user-defined type its base type",
)


def parse(text: str) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    >>> [str(parse(text)[0]) for text in ("int4", "timestamp(3) with time zone", "character varying(80)", "numeric")]
    ['integer', 'timestamptz(3)', 'varchar(80)', 'numeric']
    >>> [str(parse(text)[0]) for text in ("numeric(6,3)[]", "text[] not null", "float(24)", "geometry(Point,4326)")]
    ['numeric(6,3)[]', 'text[]', 'real', 'geometry']

    Raises:
        TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
    """
    written, nullable = without_nullability(text)
    array = _ARRAY.fullmatch(written)
    if array is None:
        return _TYPES.parse(text)
    element, _ = _TYPES.parse(array["element"])
    name = f"{element.name}[]"
    if element.name not in ELEMENTS:
        detail = f"Debezium does not write arrays of {element.name}, so this column would always be null"
        raise TypeFault(Condition.UNSUPPORTED_TYPE, detail, "remove the column, or set `{exclude: true}` as its value.")
    if array["dimensions"].count("[") > 1:
        detail = f"Debezium loses the elements of an array of more than one dimension, so `{text}` cannot be read"
        raise TypeFault(Condition.UNSUPPORTED_TYPE, detail, "remove the column, or set `{exclude: true}` as its value.")
    return SourceType(name, element=element), nullable


def _is_large(of_type: SourceType) -> bool:
    """True for the types of any length, whose values the server may store apart from the row (TOAST)."""
    if of_type.name == "numeric":
        return of_type.precision is None or of_type.precision > EXACT_DIGITS
    fixed = (
        *("boolean", "oid", "real", "double precision", "money", "uuid", "enum", "date", "interval", "point"),
        *_WHOLE_NUMBERS,
        *_TIMES,
        *_ADDRESSES,
        *("box", "circle", "line", "lseg", "pg_lsn"),
    )
    return of_type.name not in fixed


def _described(column: Mapping[str, Any]) -> str:
    """The type as in DDL, from a description of the table."""
    name, length, scale = str(column["typeName"]).lower(), column.get("length"), column.get("scale")
    if name.startswith("_"):
        return f"{name[1:]}[]"
    if name in ("numeric", "decimal"):
        return f"{name}({length},{scale or 0})" if length else name
    return f"{name}({length})" if name in ("char", "bpchar", "varchar", "bit", "varbit") and length else name


_DECIMAL, _PRECISION = "org.apache.kafka.connect.data.Decimal", "connect.decimal.precision"
_BLOCKS = Blocks(
    by_name={
        "io.debezium.time.Date": "date",
        "io.debezium.time.IsoDate": "date",
        "io.debezium.time.Time": "time(3)",
        "io.debezium.time.MicroTime": "time",
        "io.debezium.time.NanoTime": "time",
        "io.debezium.time.IsoTime": "time",
        "io.debezium.time.ZonedTime": "timetz",
        "io.debezium.time.Timestamp": "timestamp(3)",
        "io.debezium.time.MicroTimestamp": "timestamp",
        "io.debezium.time.NanoTimestamp": "timestamp",
        "io.debezium.time.IsoTimestamp": "timestamp",
        "io.debezium.time.ZonedTimestamp": "timestamptz",
        "io.debezium.time.MicroDuration": "interval",
        "io.debezium.time.Interval": "interval",
        "io.debezium.data.Uuid": "uuid",
        "io.debezium.data.Xml": "xml",
        "io.debezium.data.Json": "jsonb",
        "io.debezium.data.Ltree": "ltree",
        "io.debezium.data.Enum": "enum",
        "io.debezium.data.Tsvector": "tsvector",
        "io.debezium.data.VariableScaleDecimal": "numeric",
        "io.debezium.data.geometry.Point": "point",
        "io.debezium.data.geometry.Geometry": "geometry",
        "io.debezium.data.geometry.Geography": "geography",
        "io.debezium.data.DoubleVector": "vector",
        "io.debezium.data.FloatVector": "halfvec",
        "io.debezium.data.SparseDoubleVector": "sparsevec",
        "org.apache.kafka.connect.data.Date": "date",
        "org.apache.kafka.connect.data.Time": "time(3)",
        "org.apache.kafka.connect.data.Timestamp": "timestamp(3)",
    },
    by_type={
        "boolean": "boolean",
        "int16": "smallint",
        "int32": "integer",
        "int64": "bigint",
        "float": "real",
        "double": "double precision",
        "float32": "real",
        "float64": "double precision",
        "string": "text",
        "bytes": "bytea",
        "map": "hstore",
    },
    decimals=("numeric",),
    otherwise="text",
)


def _block_type(schema: Mapping[str, Any]) -> str:
    """The type that a field of a schema block most likely has; of a bit string with its length, of an array with its
    elements' type."""
    if schema.get("name") == "io.debezium.data.Bits":
        length = (schema.get("parameters") or {}).get("length")
        name = "bit varying" if _BLOCKS.stated_type(schema) == "varbit" else "bit"
        return f"{name}({length})" if length and int(length) < _LONGEST else "bit varying"
    if _is_array(schema):
        return f"{_block_type(schema['items'])}[]"
    return "money" if _is_money(schema) else _BLOCKS.type_of(schema)


def _is_array(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "array" and "items" in schema and schema.get("name") is None


def _is_money(schema: Mapping[str, Any]) -> bool:
    """The only decimal whose precision is not in its block."""
    parameters = schema.get("parameters") or {}
    return schema.get("name") == _DECIMAL and _PRECISION not in parameters and parameters.get("scale") == "2"


def _block_other(schema: Mapping[str, Any]) -> str | None:
    """For a bit string, the one of varying length, which is read without zeros at its front; unless the block has the
    source's own type."""
    type_ = _block_type(schema)
    is_open = type_.startswith("bit(") and not _BLOCKS.stated_type(schema)
    return type_.replace("bit(", "bit varying(") if is_open else None


_MODE_OF_BLOCK = {
    **dict.fromkeys((f"io.debezium.time.Iso{each}" for each in ("Date", "Time", "Timestamp")), "isostring"),
    **dict.fromkeys((f"io.debezium.time.Nano{each}" for each in ("Time", "Timestamp")), "nanoseconds"),
    **dict.fromkeys((f"org.apache.kafka.connect.data.{each}" for each in ("Date", "Time", "Timestamp")), "connect"),
}
"""Times: the modes `adaptive`, `adaptive_time_microseconds` and `microseconds` have blocks of the types themselves."""


def _block_modes(schema: Mapping[str, Any]) -> Mapping[str, str]:
    """The connector's modes as far as a field shows them; money is a decimal in 1.4 whatever the mode."""
    name = schema.get("name")
    if _is_array(schema):
        return _block_modes(schema["items"])
    if name in _MODE_OF_BLOCK:
        return {"time_precision_mode": _MODE_OF_BLOCK[name]}
    if name in (_DECIMAL, "io.debezium.data.VariableScaleDecimal") and not _is_money(schema):
        return {"decimal_handling_mode": "precise"}
    if name in ("io.debezium.time.Interval", "io.debezium.time.MicroDuration"):
        return {"interval_handling_mode": "string" if name.endswith("Interval") else "numeric"}
    if name is None and schema.get("type") == "map":
        return {"hstore_handling_mode": "map"}
    return {"binary_handling_mode": "bytes"} if name is None and schema.get("type") == "bytes" else {}


def _block_doubts(types: Collection[str], shown: Collection[str]) -> Iterator[str]:
    """What the texts and numbers of blocks may be in other modes than those that blocks show."""
    names = {type_.removesuffix("[]") for type_ in types}
    if "decimal_handling_mode" not in shown:
        for of_block, mode in (("text", "string"), ("double precision", "double")):
            if of_block in names:
                condition = f"if the connector has decimal.handling.mode={mode}"
                yield f"A {of_block} may be a numeric or money {condition}: then write that mode in its spec, too"
    if "binary_handling_mode" not in shown and "text" in names:
        condition = "if the connector has another binary.handling.mode than bytes"
        yield f"A text may be a bytea {condition}: then write that mode in its spec, too"


KIND = Kind(
    name="postgresql",
    title=_TYPES.title,
    connector_class="io.debezium.connector.postgresql.PostgresConnector",
    table_example="shop.public.orders",
    topic_patterns=("{prefix}.{schema}.{table}",),
    table_parts=("database", "schema", "table"),
    table_fields=("db", "schema", "table"),
    parser=parse,
    known_types=(*(name for name in _TYPES.readers if name != "float"), *(f"{name}[]" for name in ELEMENTS)),
    texts=(*_TEXTS, *_ADDRESSES, *RANGES, *UNKNOWN, "hstore"),
    modes={
        "within_transaction": ("auto", "log", "total_order", "arrival"),
        "time_precision_mode": (
            "adaptive",
            "adaptive_time_microseconds",
            "connect",
            "isostring",
            "microseconds",
            "nanoseconds",
        ),
        "decimal_handling_mode": ("precise", "double", "string"),
        "binary_handling_mode": _BINARY_MODES,
        "interval_handling_mode": ("numeric", "string"),
        "hstore_handling_mode": ("json", "map"),
    },
    is_large=_is_large,
    large="types of any length, such as text, bytea, jsonb, numeric without a precision, and arrays",
    merges_by_default=True,
    omitted=tuple(f"{name}[]" for name in ("money", "interval", "ltree", "bit", "bit varying")),
    without_zone=("timestamp",),
    widths=Widths(
        whole_numbers=_WHOLE_NUMBERS,
        decimals=("numeric",),
        sized=("char", "varchar", "bit", "bit varying"),
        fractions=_TIMES,
        aliases=_TYPES.synonyms,
        longest=_LONGEST,
        families={
            "text": (*("char", "varchar", "text", "citext"), *_ADDRESSES, *RANGES, "hstore"),
            "json": ("json", "jsonb"),
            "bits": ("bit", "bit varying"),
        },
        same_block={
            None: {"boolean": ("bit(1)",), "bigint": ("oid",), "jsonb": ("hstore",)},
            ("decimal_handling_mode", "string"): {"text": ("numeric", "money")},
            ("decimal_handling_mode", "double"): {"double precision": ("numeric", "money")},
            ("binary_handling_mode", "bytes"): {"bytea": ("tsvector", *UNKNOWN)},
            **{("binary_handling_mode", mode): {"text": ("bytea", "tsvector", *UNKNOWN)} for mode in _BINARY_MODES[1:]},
        },
    ),
    described_type=_described,
    block_type=_block_type,
    block_other=_block_other,
    block_modes=_block_modes,
    block_doubts=_block_doubts,
    block_lacks="varchar, citext, time(0)",
)
