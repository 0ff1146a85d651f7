"""Expected values of the table of all types, computed from the rows inserted into the scripted table.

Nothing here knows the decoder: the rules are SQL Server's (what a column holds) and the converters' (what of it a
mode can carry). Values are texts: bytes in hex, timestamps in microseconds since 1970.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any

from tools.type_captures import SCENARIO, Modes

Row = Mapping[str, Any]
_STEPS: list[dict[str, Any]] = json.loads(Path(SCENARIO).read_text())
COLUMNS: Mapping[str, str] = next(step["columns"] for step in _STEPS if "columns" in step)
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (these columns have no zone)
_SNAPSHOT = [row for step in _STEPS for row in step.get("rows", ())]
_STREAMED = [change["row"] for step in _STEPS for change in step.get("tx", ())]
STREAMED_IDS = {row["id"] for row in _STREAMED}
_FIRST_ROWVERSION = 2001


class Unfit(Exception):
    """The mode turned the value into one that the column's type cannot hold."""


@dataclass(frozen=True)
class Source:
    """Which connector wrote a record."""

    version: str
    modes: Modes

    @property
    def is_old(self) -> bool:
        """True for 2.5."""
        return self.version.startswith("2.")


def expected_rows(source: Source) -> dict[int, dict[str, str | None] | None]:
    """Row id -> the row's columns as texts; None for a row that must be rejected."""
    return {row["id"]: _row(row, source) for row in (*_SNAPSHOT, *_STREAMED)}


def _row(row: Row, source: Source) -> dict[str, str | None] | None:
    try:
        return {name: _value(name, type_, row, source) for name, type_ in COLUMNS.items()}
    except Unfit:
        return None


def _value(name: str, type_: str, row: Row, source: Source) -> str | None:
    if name == "c_rowversion":
        return f"{_FIRST_ROWVERSION + row['id'] - 1:016x}"
    value = row.get(name)
    if value is None:
        return None
    kind, _, arguments = type_.removesuffix(" not null").removesuffix(")").partition("(")
    digits = [int(digit) for digit in arguments.split(",") if digit.isdigit()]
    match kind:
        case "bit":
            return str(value).lower()
        case "tinyint" | "smallint" | "int" | "bigint":
            return str(value)
        case "real":
            return repr(struct.unpack("f", struct.pack("f", value))[0])
        case "float":
            return repr(value)
        case "decimal" | "numeric" | "money" | "smallmoney":
            return _decimal(value, kind, digits, source)
        case "char" | "nchar":
            return str(value).ljust(digits[0])
        case "binary":
            return str(value).lower().ljust(2 * digits[0], "0")
        case "varbinary" | "image" | "hierarchyid":
            return str(value).lower()
        case "uniqueidentifier":
            return str(value).upper()
        case "date":
            return str(value)
        case "time":
            return _time(value, digits[0], row["id"], source)
        case "datetime" | "smalldatetime" | "datetime2":
            return _timestamp(value, kind, digits, source)
        case "datetimeoffset":
            return _instant(value)
    return str(value)


def _decimal(value: str, kind: str, digits: list[int], source: Source) -> str:
    precision, scale = {"money": [19, 4], "smallmoney": [10, 4], "numeric": [18, 0]}.get(kind, digits)
    carried = Decimal(repr(float(value))) if source.modes.decimal == "double" else Decimal(value)
    with localcontext(prec=80):
        rounded = carried.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(rounded).scaleb(scale) >= 10**precision:
            raise Unfit
    return format(rounded, "f")


def _time(value: str, digits: int, id_: int, source: Source) -> str:
    clock, _, fraction = value.partition(".")
    if not digits:
        return clock
    carried = {"connect": 3, "adaptive_time_microseconds": 6, "microseconds": 6}.get(source.modes.temporal, 7)
    if source.is_old and id_ in STREAMED_IDS:
        # 2.5 reads the change table's times as java.sql.Time.
        carried = 3
    return f"{clock}.{fraction.ljust(digits, '0')[:carried].ljust(digits, '0')}"


def _timestamp(value: str, kind: str, digits: list[int], source: Source) -> str | None:
    """Microseconds since 1970; a seventh digit is truncated."""
    held = {"datetime": 3, "smalldatetime": 0}.get(kind, digits[0] if digits else 7)
    whole, _, fraction = value.partition(".")
    seconds = (datetime.fromisoformat(whole) - _EPOCH) // timedelta(seconds=1)
    ticks = seconds * 10**7 + int(fraction.ljust(7, "0"))
    mode = source.modes.temporal
    is_nanos = mode == "nanoseconds" or (mode.startswith("adaptive") and held == 7)
    if is_nanos and not -(2**63) <= ticks * 100 < 2**63 and not source.is_old:
        # Nanoseconds that overflow 64 bits are null in 3.6; 2.5's wrong number is repaired.
        return None
    if mode == "connect":
        return str(ticks // 10**4 * 1000)
    return str(ticks // 10)


def _instant(value: str) -> str:
    whole, fraction = value[:19], value[19:-6].removeprefix(".")
    offset = datetime.fromisoformat(f"2000-01-01T00:00:00{value[-6:]}").utcoffset()
    assert offset is not None
    seconds = (datetime.fromisoformat(whole) - _EPOCH - offset) // timedelta(seconds=1)
    return str((seconds * 10**7 + int(fraction.ljust(7, "0") or 0)) // 10)
