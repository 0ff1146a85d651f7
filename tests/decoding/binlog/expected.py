"""Expected values of the table of all types of MariaDB and MySQL, computed from the rows that were inserted.

Nothing here knows the decoder: the rules are the servers' (what a column holds) and the connectors' (what of it a mode
can carry). Values are texts: bytes in hex, timestamps in microseconds since 1970.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from tools.binlog_connector.types import SHAPES, STREAMED, Capture, Modes, columns, rows

Row = Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (these columns have no zone)
_DEFAULT = "2000-01-01"
"""Of the columns that have one."""
_DAY_NANOS = 86_400 * 10**9
_OPEN_ENDS = ("0001-01-01", "9999-12-31")
"""The days whose overflowed nanoseconds are repaired."""


class Unfit(Exception):
    """The mode turned the value into one that the column's type cannot hold."""


@dataclass(frozen=True)
class Source:
    """Which connector wrote a record, over which server."""

    capture: Capture
    modes: Modes


def expected_rows(source: Source) -> dict[int, dict[str, str | None] | None]:
    """Row id -> the row's columns as texts; None for a row that must be rejected."""
    return {row["id"]: _row(row, source) for row in (*rows(streamed=False), *rows(streamed=True))}


def spec_columns(source: Source) -> dict[str, str]:
    """The columns' types as in a spec for a connector in these modes."""
    found = columns(source.capture.server, source.capture.version.kind)
    if source.modes.tinyint_1 == "booleans":
        found["c_tinyint_1"] = "boolean"
    return found


def _row(row: Row, source: Source) -> dict[str, str | None] | None:
    try:
        return {name: _value(name, type_, row, source) for name, type_ in spec_columns(source).items()}
    except Unfit:
        return None


def _value(name: str, type_: str, row: Row, source: Source) -> str | None:
    value = row.get(name)
    kind = type_.partition("(")[0].partition(" ")[0]
    inside = type_.partition("(")[2].partition(")")[0].split(",")
    digits = [int(digit) for digit in inside if digit.isdigit()]
    if value is None:
        return None
    match kind:
        case "boolean":
            return str(bool(value)).lower()
        case "bit":
            return str(value).lower() if isinstance(value, bool) else str(value)
        case "decimal":
            return _decimal(value, digits, source)
        case "float" if digits != [30]:
            return _float(value, type_, row["id"])
        case "float" | "double" | "real":
            return repr(float(value))
        case "date":
            return _date(value, type_)
        case "time":
            return _time(value, digits[0] if digits else 0, row["id"], source)
        case "datetime":
            return _datetime(value, digits[0] if digits else 0, type_, source)
        case "timestamp":
            return _timestamp(value, type_, row["id"], source)
        case "varchar":
            return _varchar(value, type_, row["id"], source)
        case _ if kind in SHAPES:
            return value if "@" in value else f"{value}@None"
    return str(value)


_MISREAD = {"-24:00:00": "-24:04:03"}
"""Negative times as 1.x reads them from the log, without an error."""


def _float(value: str, type_: str, id_: int) -> str:
    """A snapshot has six digits of it: the server prints no more, unless the type says how many places there are."""
    read = float(value) if is_streamed(id_) or type_ != "float" else float(f"{float(value):.6g}")
    return repr(struct.unpack("f", struct.pack("f", read))[0])


def _varchar(value: str, type_: str, id_: int, source: Source) -> str:
    """In snapshots, 1.4 reads UTF-8 as latin1, and has a question mark for what UTF-8 writes in four bytes."""
    if source.capture.version.number.startswith("1.4") and not is_streamed(id_):
        if "latin1" in type_:
            return value.encode().decode("cp1252")
        return "".join("?" if ord(each) > 0xFFFF else each for each in value)
    return value


def _decimal(value: str, digits: list[int], source: Source) -> str:
    precision, scale = digits
    is_double = source.modes.decimal == "double"
    if precision > 38:
        return repr(float(value)) if is_double else value
    carried = Decimal(repr(float(value))) if is_double else Decimal(value)
    with localcontext(prec=80):
        rounded = carried.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(rounded).scaleb(scale) >= 10**precision:
            raise Unfit
    return format(rounded, "f")


def _is_zero(value: str) -> bool:
    """True for dates that no calendar has."""
    return "-00" in value


def _zero(type_: str) -> str | None:
    """What the connector writes in place of such a date."""
    if "not null" not in type_:
        return None
    return _DEFAULT if "default" in type_ else "1970-01-01"


def _date(value: str, type_: str) -> str | None:
    return _zero(type_) if _is_zero(value) else value


def _time(value: str, digits: int, id_: int, source: Source) -> str | None:
    is_old = source.capture.version.number.startswith("1.")
    if source.capture.server == "mysql" and is_streamed(id_) and value.startswith("-"):
        # Stored in three bytes, whose sign the connectors do not read: more than 838 hours.
        if source.modes.temporal in ("connect", "isostring"):
            return None
        raise Unfit
    if is_old and not is_streamed(id_) and value.startswith("-00:00:00"):
        value = value.removeprefix("-")
    if is_old and is_streamed(id_):
        value = _MISREAD.get(value, value)
    hours = int(value.partition(":")[0])
    is_day = not value.startswith("-") and hours < 24
    mode = source.modes.temporal
    if mode in ("connect", "isostring") and not is_day:
        return None
    whole, _, fraction = value.partition(".")
    carried = fraction[:3] if mode == "connect" else fraction
    return f"{whole}.{carried.ljust(digits, '0')}" if digits else whole


def _datetime(value: str, digits: int, type_: str, source: Source) -> str | None:
    if _is_zero(value):
        zero = _zero(type_)
        return None if zero is None else str(_micros(f"{zero} 00:00:00"))
    micros, mode = _micros(value), source.modes.temporal
    if mode == "connect":
        return str(micros // 1000 * 1000)
    if mode == "nanoseconds" and not -(2**63) <= micros * 1000 < 2**63:
        if source.capture.version.number.startswith("3.6"):
            return None
        if value[:10] in _OPEN_ENDS:
            return str(micros)
        wrapped = (micros * 1000 + 2**63) % 2**64 - 2**63
        return str(wrapped // 1000)
    return str(micros)


def _timestamp(value: str, type_: str, id_: int, source: Source) -> str | None:
    if _is_zero(value):
        if "not null" not in type_:
            return None
        is_default = not is_streamed(id_) or source.capture.version.number.startswith("3.6")
        return str(_micros(f"{_DEFAULT} 00:00:00")) if is_default else "0"
    return str(_micros(value))


def _micros(value: str) -> int:
    whole, _, fraction = value.partition(".")
    return (datetime.fromisoformat(whole) - _EPOCH) // timedelta(seconds=1) * 10**6 + int(fraction.ljust(6, "0"))


def is_streamed(id_: int) -> bool:
    """True for a row that was inserted after the snapshot."""
    return id_ > STREAMED
