"""Expected values of the table of all PostgreSQL types, computed from the database's own rows.

Nothing here knows the decoder: the rules are PostgreSQL's (what a column holds) and the connectors' (what of it a mode
can carry, and what a version loses). Values are texts: bytes in hex, timestamps in microseconds since 1970, arrays as
lists of texts.
"""

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from tools.postgresql_connector.types import Modes, Version

Text = str | list[str | None] | None
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (these columns have no zone)
_UNKNOWN = (
    *("tsquery", "box", "circle", "line", "lseg", "path", "polygon", "pg_lsn", "composite"),
    *("int4multirange", "int8multirange", "nummultirange", "tsmultirange", "tstzmultirange", "datemultirange"),
)
_VECTORS = ("vector", "halfvec", "sparsevec")
_SNAPSHOT = ("1", "2", "68")
_DAYS_A_MONTH = 30.4375
_MICROSECONDS = {"day": 86_400 * 10**6, "hour": 3_600 * 10**6, "minute": 60 * 10**6}


class Unfit(Exception):
    """The record's value is none that the column's type in Spark can hold."""


@dataclass(frozen=True)
class Source:
    """Which connector wrote a record."""

    version: Version
    modes: Modes

    @property
    def is_old(self) -> bool:
        """True for 1.x."""
        return self.version.startswith("1.")


def expected(row: Mapping[str, Any], types: Mapping[str, str], source: Source) -> dict[str, Text] | None:
    """A row's columns as texts; None for a row that must be rejected."""
    try:
        return {name: _column(row[name], type_, row["id"], source) for name, type_ in types.items()}
    except Unfit:
        return None


def _column(value: Any, type_: str, row: str, source: Source) -> Text:
    if value is None:
        return None
    plain = type_.removesuffix(" not null")
    if _is_lost(plain, value, row, source):
        return None
    if plain.endswith("[]"):
        return _array(value, plain.removesuffix("[]"), row, source)
    return _value(value, plain, row, source)


def _is_lost(type_: str, value: Any, row: str, source: Source) -> bool:
    """True for what the connector leaves out, or writes as null."""
    if type_ in _UNKNOWN:
        return source.modes.unknown == "false"
    if source.is_old and type_ in _VECTORS and source.modes.unknown == "true":
        raise Unfit  # the bytes of the server's text
    if type_ == "hstore" and source.is_old and source.modes.hstore == "map" and row in _SNAPSHOT:
        return True
    if type_ == "tsvector" and source.is_old:
        return source.modes.unknown == "false"
    if source.is_old and type_ in (*_VECTORS, "bytea[]"):
        return True
    if type_ == "time[]" and source.is_old and source.modes.temporal == "connect":
        return bool(value)
    if source.version == "1.4.2.Final" and type_ == "oid[]":
        return True
    if type_ == "enum[]" and None in value:
        return True
    if type_ == "ltree":
        return source.is_old and row not in _SNAPSHOT and source.modes.unknown == "false"
    if type_.partition("(")[0] == "timestamp" and source.modes.temporal == "nanoseconds":
        return _beyond_nanoseconds(value)
    is_special = type_.startswith("numeric") and value in ("NaN", "Infinity", "-Infinity")
    return is_special and source.modes.decimal == "precise"


def _beyond_nanoseconds(value: str) -> bool:
    """True for what is null because its nanoseconds overflow 64 bits."""
    if value in ("infinity", "-infinity"):
        return False
    try:
        return not -(2**63) <= int(_micros(value)) * 1000 < 2**63
    except Unfit:
        return True


def _array(values: list[Any], element: str, row: str, source: Source) -> list[str | None]:
    if any(isinstance(each, list) for each in values):
        if element == "text":
            raise Unfit
        return [None] * len(values)
    if element == "timestamp" and source.modes.temporal == "nanoseconds":
        values = [None if each is None or _beyond_nanoseconds(each) else each for each in values]
    return [None if each is None else _element(each, element, row, source) for each in values]


def _element(value: str, type_: str, row: str, source: Source) -> str:
    """Elements of times are cut, by the connector's JDBC driver."""
    if type_ == "time":
        value = value[:12]
    if type_ == "timetz":
        value = re.sub(r"\.\d+", "", value)
    if type_ == "timestamp" and value.startswith("0001-01-01") and source.version != "1.4.2.Final":
        raise Unfit  # two days too early, by the Julian calendar
    found = _value(value, type_, row, source)
    assert isinstance(found, str)
    return found


def _value(value: str, type_: str, row: str, source: Source) -> str:
    kind, _, arguments = type_.removesuffix(")").partition("(")
    digits = [int(digit) for digit in arguments.split(",") if digit.isdigit()]
    match kind:
        case "real":
            return repr(struct.unpack("f", struct.pack("f", float(value)))[0])
        case "double precision":
            return repr(float(value))
        case "numeric":
            return _numeric(value, digits, source)
        case "money":
            return _money(value, row, source)
        case "char":
            return value.ljust(digits[0])
        case "inet":
            return value.removesuffix("/32" if "." in value else "/128")
        case "bit":
            return {"0": "false", "1": "true"}[value] if digits == [1] else value
        case "bit varying":
            return value.lstrip("0")
        case "bytea":
            return value.removeprefix("\\x")
        case "date":
            return _date(value)
        case "time":
            return _time(value, digits, source)
        case "timetz":
            return _time_in_utc(value, digits)
        case "timestamp":
            return _timestamp(value, source)
        case "timestamptz":
            return _micros(value.removesuffix("+00"))
        case "interval":
            return _interval(value, source)
        case "hstore":
            return _hstore(value)
        case "point":
            return _json(dict(zip(("x", "y"), map(float, value[1:-1].split(",")), strict=True)))
        case "geometry" | "geography":
            return _geometry(value)
        case "vector" | "halfvec":
            return _json([float(number) for number in value[1:-1].split(",")])
        case "sparsevec":
            return _sparse(value)
        case "box" | "circle" | "polygon" | "line" | "lseg" | "path":
            return re.sub(r"-?\d+(\.\d+)?", lambda number: repr(float(number[0])), value)
    return value


def _numeric(value: str, digits: list[int], source: Source) -> str:
    mode = source.modes.decimal
    if digits and digits[0] <= 38:
        if value == "NaN":
            raise Unfit
        return _rounded(Decimal(repr(float(value)) if mode == "double" else value), *digits)
    if mode == "double" or value in ("NaN", "Infinity", "-Infinity"):
        return repr(float(value)) if mode == "double" else value
    text = format(Decimal(value), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    unscaled = text.replace(".", "").lstrip("-0")
    if digits:
        unscaled += "0" * (digits[1] - len(text.partition(".")[2]))
    if mode == "precise" and len(unscaled) > 38 and not (digits and source.modes.decimal_format == "numeric"):
        raise Unfit
    return text


def _money(value: str, row: str, source: Source) -> str:
    amount = Decimal(value.replace("$", "").replace(",", ""))
    through_double = source.modes.decimal == "double" or (source.is_old and row not in _SNAPSHOT)
    return _rounded(Decimal(repr(float(amount))) if through_double else amount, 19, 2)


def _rounded(value: Decimal, precision: int, scale: int) -> str:
    with localcontext(prec=80):
        rounded = value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(rounded).scaleb(scale) >= 10**precision:
            raise Unfit
    return format(rounded, "f")


def _date(value: str) -> str:
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        raise Unfit
    return value


def _time(value: str, digits: list[int], source: Source) -> str:
    held = digits[0] if digits else 6
    clock, _, fraction = value.partition(".")
    if clock == "24:00:00" and source.modes.temporal == "isostring":
        clock = "00:00:00"
    if source.modes.temporal == "connect":
        fraction = fraction[:3]
    return f"{clock}.{fraction.ljust(held, '0')}" if held else clock


def _time_in_utc(value: str, digits: list[int]) -> str:
    held = digits[0] if digits else 6
    clock, fraction, sign, hours, minutes = re.findall(r"([\d:]+)\.?(\d*)([+-])(\d\d):?(\d*)", value)[0]
    parts = [int(part) for part in clock.split(":")]
    offset = (int(hours) * 60 + int(minutes or 0)) * (1 if sign == "+" else -1)
    second = (parts[0] * 3600 + parts[1] * 60 + parts[2] - offset * 60) % 86_400
    shown = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    return f"{shown}.{fraction.ljust(held, '0')}Z" if held else f"{shown}Z"


def _timestamp(value: str, source: Source) -> str:
    micros = _micros(value)
    return str(int(micros) // 1000 * 1000) if source.modes.temporal == "connect" else micros


def _micros(value: str) -> str:
    """Microseconds since 1970."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.?(\d*)", value)
    if found is None:
        raise Unfit
    seconds = (datetime.fromisoformat(found[1]) - _EPOCH) // timedelta(seconds=1)
    return str(seconds * 10**6 + int(found[2].ljust(6, "0")))


def _interval(value: str, source: Source) -> str:
    parts = dict.fromkeys(("year", "mon", "day", "hour", "minute"), 0)
    for number, unit in re.findall(r"([+-]?\d+) (year|mon|day)", value):
        parts[unit] = int(number)
    seconds = Decimal(0)
    if clock := re.search(r"(-?)(\d+):(\d\d):(\d\d(?:\.\d+)?)", value):
        sign = -1 if clock[1] else 1
        parts["hour"], parts["minute"] = sign * int(clock[2]), sign * int(clock[3])
        seconds = sign * Decimal(clock[4])
    if source.modes.interval == "string":
        shown = format(seconds.normalize(), "f")
        return "P{year}Y{mon}M{day}DT{hour}H{minute}M{shown}S".format(**parts, shown=shown)
    days = (parts["year"] * 12 + parts["mon"]) * _DAYS_A_MONTH + parts["day"]
    clock_micros = parts["hour"] * _MICROSECONDS["hour"] + parts["minute"] * _MICROSECONDS["minute"]
    total = int(days * _MICROSECONDS["day"]) + clock_micros + int(seconds * 10**6)
    return str(min(total, 2**63 - 1))


def _hstore(value: str) -> str:
    pairs = re.findall(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|(NULL))', value)
    return _json({_unescaped(key): None if null else _unescaped(text) for key, text, null in sorted(pairs)})


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _geometry(value: str) -> str:
    content = bytes.fromhex(value)
    has_srid = int.from_bytes(content[1:5], "little") & 0x20000000
    srid = int.from_bytes(content[5:9], "little") if has_srid else None
    return _json({"wkb": value.lower(), "srid": srid})


def _sparse(value: str) -> str:
    pairs, _, dimensions = value.partition("/")
    elements = [pair.split(":") for pair in pairs[1:-1].split(",") if pair]
    return _json(
        {
            "dimensions": int(dimensions),
            "elements": [{"place": int(place), "value": float(number)} for place, number in elements],
        }
    )


def _json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
