"""Dates, times of day and timestamps.

A temporal column comes as a count of units since midnight or 1970-01-01, or as ISO 8601 text; which one, and
which unit, follows from the column's fractional digits and the connector's ``time.precision.mode``: the
record does not say. Spark's timestamps hold microseconds, so the seventh digit of datetime2(7) and
datetimeoffset(7) is cut off (towards the past, also before 1970: a cut never makes a time later).
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.conversion import Conversion, within
from cdc.spec.model import ColumnSpec, ConnectorSpec, Overflow, SourceType

_UNITS = {3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}
_ISO = 0
"""Stands for ISO 8601 text among the units, which are named by their digits behind the second."""

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_FIRST_MICROSECOND, _LAST_MICROSECOND = -62_135_596_800_000_000, 253_402_300_799_999_999
"""0001-01-01 and 9999-12-31: SQL Server's range, and Delta readers' too."""

_NANOSECONDS_A_DAY = 86_400 * 10**9


def _wrapped(nanoseconds: int) -> int:
    """What 64 bits make of a number that they do not hold."""
    return (nanoseconds + 2**63) % 2**64 - 2**63


_OVERFLOWN = tuple((day * 86_400 * 10**6, _wrapped(day * _NANOSECONDS_A_DAY)) for day in (_FIRST_DAY, _LAST_DAY))
"""The days that stand for "always" and "never" in open intervals: their microseconds, and the nanoseconds
that connectors before 3.6 wrote for their midnight, which read as in 1754 and in 1816."""


def date(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A date."""
    if connector.time_precision_mode == "isostring":
        return Conversion("ISO 8601 text", "date", _date_of_text)
    return Conversion("days since 1970-01-01", "date", _date_of_days)


def time(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A time of day as text HH:MM:SS.fffffff with the column's own digits: exact, and sorted as times are."""
    digits = _fraction(column.type)
    unit = _time_unit(digits, connector)
    if unit == _ISO:
        return Conversion("ISO 8601 text", "string", lambda text: _time_of_text(text, digits))
    wire = f"{_UNITS[unit]} since midnight"
    return Conversion(wire, "string", lambda count: _time_of_day(count, unit, digits), measure=_count)


def timestamp(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """datetime, smalldatetime and datetime2: timestamp_ntz, for they have no time zone.

    With a zone in the spec: the timestamp at which clocks there showed that time. Of an hour that came twice
    it is the first, and of an hour that clocks left out the one after.
    """
    target = "timestamp" if column.zone else "timestamp_ntz"
    unit = _timestamp_unit(_fraction(column.type), connector)
    if unit == _ISO:
        return Conversion("ISO 8601 text", target, lambda text: _wall_clock(_micros_of_text(text), column))
    return Conversion(
        f"{_UNITS[unit]} since 1970-01-01",
        target,
        lambda count: _wall_clock(_micros(count, unit, column.overflow), column),
        measure=_count,
    )


def timestamp_with_offset(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Datetimeoffset as the instant that it names: timestamp."""
    return Conversion("ISO 8601 text with offset", "timestamp", _instant_of_text)


def offset_of_text(text: Column) -> Column:
    """A datetimeoffset's own offset: ``+02:00``, ``-05:30``; of UTC ``+00:00``."""
    return F.when(text.endswith("Z"), "+00:00").otherwise(F.right(text, F.lit(6)))


def instant_of_millis(text: Column) -> Column:
    """The instant of milliseconds since 1970-01-01 UTC; null where the text is no number or out of range."""
    millis = text.try_cast("bigint")
    return within(millis, _FIRST_MICROSECOND // 1000, _LAST_MICROSECOND // 1000, F.timestamp_millis(millis))


def _fraction(type_: SourceType) -> int:
    """Digits behind the second that the column can hold."""
    fixed = {"datetime": 3, "smalldatetime": 0}
    return fixed.get(type_.name, 7 if type_.precision is None else type_.precision)


def _time_unit(digits: int, connector: ConnectorSpec) -> int:
    return {
        "adaptive": _adaptive(digits),
        "adaptive_time_microseconds": 6,
        "connect": 3,
        "isostring": _ISO,
        "microseconds": 6,
        "nanoseconds": 9,
    }[connector.time_precision_mode]


def _timestamp_unit(digits: int, connector: ConnectorSpec) -> int:
    if connector.time_precision_mode == "adaptive_time_microseconds":
        return _adaptive(digits)
    return _time_unit(digits, connector)


def _adaptive(digits: int) -> int:
    """The smallest unit of three that holds the digits."""
    return 3 if digits <= 3 else 6 if digits <= 6 else 9


def _count(text: Column) -> Column:
    return text.try_cast("bigint")


def _micros(count: Column, unit: int, overflow: Overflow) -> Column:
    """A count of units as microseconds, rounded down; null where there are none."""
    if unit == 3:
        return F.try_multiply(count, F.lit(1000))
    if unit == 6:
        return count
    floor = _divided(count, 1000) - F.when((count < 0) & (count % 1000 != 0), 1).otherwise(0)
    if overflow == "keep":
        return floor
    for day, wrapped in _OVERFLOWN:
        ticks = within(count, wrapped, wrapped + _NANOSECONDS_A_DAY - 1)
        right = day + _divided(ticks - wrapped, 1000) if overflow == "repair" else F.lit(None).cast("bigint")
        floor = F.when(ticks.isNotNull(), right).otherwise(floor)
    return floor


def _divided(count: Column, by: int) -> Column:
    """Whole-number division; `/` would go through a double."""
    return F.call_function("div", count, F.lit(by).cast("bigint"))


def _wall_clock(micros: Column, column: ColumnSpec) -> Column:
    """What clocks showed, given as microseconds since 1970-01-01 without leaps or zones."""
    epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
    time = (
        F.to_utc_timestamp(F.timestamp_micros(micros), column.zone)
        if column.zone
        else F.timestamp_add("MICROSECOND", micros, epoch)
    )
    return within(micros, _FIRST_MICROSECOND, _LAST_MICROSECOND, time)


def _micros_of_text(text: Column) -> Column:
    """`2018-07-13T11:23:45.34Z`: the Z is the connector's; the column has no zone."""
    is_timestamp = text.rlike(r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$")
    return F.when(is_timestamp, F.unix_micros(text.try_cast("timestamp")))


def _instant_of_text(text: Column) -> Column:
    # Without an offset the session's time zone would decide which instant it is.
    is_instant = text.rlike(r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$")
    return F.when(is_instant, text.try_cast("timestamp"))


def _date_of_days(text: Column) -> Column:
    days = text.try_cast("int")
    return within(days, _FIRST_DAY, _LAST_DAY, F.date_from_unix_date(days))


def _date_of_text(text: Column) -> Column:
    return F.when(text.rlike(r"^\d{4}-\d\d-\d\dZ?$"), F.substring(text, 1, 10).try_cast("date"))


def _time_of_day(count: Column, unit: int, digits: int) -> Column:
    seconds, fraction = _divided(count, 10**unit), count % 10**unit
    clock = F.concat_ws(":", _two(_divided(seconds, 3600)), _two(_divided(seconds, 60) % 60), _two(seconds % 60))
    whole = _with_fraction(clock, F.lpad(fraction.cast("string"), unit, "0"), digits)
    return within(count, 0, 86_400 * 10**unit - 1, whole)


def _time_of_text(text: Column, digits: int) -> Column:
    """`10:23:45.678901Z`: the connector drops zeros at the end, so they are put back."""
    parts = r"^(([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?)(?:\.(\d+))?Z?$"
    clock = F.rpad(F.regexp_extract(text, parts, 1), 8, ":00")
    return F.when(text.rlike(parts), _with_fraction(clock, F.regexp_extract(text, parts, 4), digits))


def _with_fraction(clock: Column, fraction: Column, digits: int) -> Column:
    return F.concat(clock, F.lit("."), F.rpad(fraction, digits, "0")) if digits else clock


def _two(number: Column) -> Column:
    return F.lpad(number.cast("string"), 2, "0")
