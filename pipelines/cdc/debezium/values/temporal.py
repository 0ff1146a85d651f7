"""Dates, times of day and timestamps.

A temporal value is a count of units since midnight or 1970-01-01, or ISO 8601 text. Which one, and which unit, follows
from the column's fractional digits and the connector's ``time.precision.mode``; the record does not state it. Spark's
timestamps have microseconds, so a seventh digit is truncated: towards the past, before 1970 too, so truncation never
makes a time later.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.conversion import Conversion, within
from cdc.spec.model import ColumnSpec, ConnectorSpec, Overflow

_UNITS = {3: "milliseconds", 6: "microseconds", 9: "nanoseconds"}
_ISO = 0
"""ISO 8601 text; the other units are named by their fractional digits of the second."""

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_FIRST_MICROSECOND, _LAST_MICROSECOND = -62_135_596_800_000_000, 253_402_300_799_999_999
"""0001-01-01 and 9999-12-31: the range that every Delta reader supports."""

_NANOSECONDS_A_DAY = 86_400 * 10**9


def _wrapped(nanoseconds: int) -> int:
    """The value of a number that overflows 64 bits."""
    return (nanoseconds + 2**63) % 2**64 - 2**63


_OVERFLOWS = tuple((day * 86_400 * 10**6, _wrapped(day * _NANOSECONDS_A_DAY)) for day in (_FIRST_DAY, _LAST_DAY))
"""The days that stand for "always" and "never" in open intervals: microseconds of their midnight, and the overflowed
nanoseconds that connectors before 3.6 write for it, which are in 1754 and 1816."""


def date(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A date."""
    if connector.time_precision_mode == "isostring":
        return Conversion("ISO 8601 text", "date", _date_of_text)
    return Conversion("days since 1970-01-01", "date", _date_of_days)


def time(digits: int, connector: ConnectorSpec, *, with_midnight: bool = False) -> Conversion:
    """A time of day as text HH:MM:SS.fffffff with so many fractional digits: exact, and sorts as times do.

    With the midnight that ends a day, 24:00:00 is a time too.
    """
    unit = _time_unit(digits, connector)
    if unit == _ISO:
        return Conversion("ISO 8601 text", "string", lambda text: _time_of_text(text, digits))
    wire = f"{_UNITS[unit]} since midnight"
    return Conversion(wire, "string", lambda count: _time_of_day(count, unit, digits, with_midnight), measure=_count)


def timestamp(column: ColumnSpec, digits: int, connector: ConnectorSpec) -> Conversion:
    """A date and time of so many fractional digits without a time zone, as timestamp_ntz.

    With a zone in the spec it is the timestamp at which clocks there showed that time: the first one in an hour that
    is repeated, and one hour later in an hour that is skipped.
    """
    target = "timestamp" if column.zone else "timestamp_ntz"
    unit = _timestamp_unit(digits, connector)
    if unit == _ISO:
        return Conversion("ISO 8601 text", target, lambda text: _wall_clock(_micros_of_text(text), column))
    return Conversion(
        f"{_UNITS[unit]} since 1970-01-01",
        target,
        lambda count: _wall_clock(_micros(count, unit, column.overflow), column),
        measure=_count,
    )


def timestamp_with_offset(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A date and time with an offset, as the instant that it names: timestamp."""
    return Conversion("ISO 8601 text with offset", "timestamp", instant_of_text)


def instant(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """An instant as ISO 8601 text in UTC, from year 1 to 9999: timestamp."""
    # Year 0 is a year before year 1, and Spark would read it.
    return Conversion(
        "ISO 8601 text in UTC", "timestamp", lambda text: F.when(~text.startswith("0000"), instant_of_text(text))
    )


def time_in_utc(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A time of day with an offset, as the connector turns it to UTC: text HH:MM:SS.ffffffZ."""
    digits = 6 if column.type.precision is None else column.type.precision
    return Conversion(
        "ISO 8601 text in UTC",
        "string",
        lambda text: F.when(text.endswith("Z"), F.concat(_time_of_text(text, digits), F.lit("Z"))),
    )


def offset_of_text(text: Column) -> Column:
    """The offset of an ISO 8601 text with offset; ``+00:00`` for UTC.

    >>> evaluate(offset_of_text(F.lit("2018-07-13T12:23:45+11:00")))
    '+11:00'
    """
    return F.when(text.endswith("Z"), "+00:00").otherwise(F.right(text, F.lit(6)))


def instant_of_millis(text: Column) -> Column:
    """The instant of milliseconds since 1970-01-01 UTC; null if the text is not a number or out of range.

    >>> evaluate(instant_of_millis(F.lit("0")).cast("bigint")), evaluate(instant_of_millis(F.lit("noon")))
    (0, None)
    """
    millis = text.try_cast("bigint")
    return within(millis, _FIRST_MICROSECOND // 1000, _LAST_MICROSECOND // 1000, F.timestamp_millis(millis))


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
    """The coarsest of three units that holds the digits."""
    return 3 if digits <= 3 else 6 if digits <= 6 else 9


def _count(text: Column) -> Column:
    return text.try_cast("bigint")


def _micros(count: Column, unit: int, overflow: Overflow) -> Column:
    """A count of units as microseconds, rounded down; null on overflow."""
    if unit == 3:
        return F.try_multiply(count, F.lit(1000))
    if unit == 6:
        return count
    floor = _divided(count, 1000) - F.when((count < 0) & (count % 1000 != 0), 1).otherwise(0)
    if overflow == "keep":
        return floor
    for day, wrapped in _OVERFLOWS:
        ticks = within(count, wrapped, wrapped + _NANOSECONDS_A_DAY - 1)
        repaired = day + _divided(ticks - wrapped, 1000) if overflow == "repair" else F.lit(None).cast("bigint")
        floor = F.when(ticks.isNotNull(), repaired).otherwise(floor)
    return floor


def _divided(count: Column, by: int) -> Column:
    """Whole-number division; `/` would go through a double."""
    return F.call_function("div", count, F.lit(by).cast("bigint"))


def _wall_clock(micros: Column, column: ColumnSpec) -> Column:
    """The time that clocks showed, from microseconds since 1970-01-01 without leap seconds or zones."""
    epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
    time = (
        F.to_utc_timestamp(F.timestamp_micros(micros), column.zone)
        if column.zone
        else F.timestamp_add("MICROSECOND", micros, epoch)
    )
    return within(micros, _FIRST_MICROSECOND, _LAST_MICROSECOND, time)


def _micros_of_text(text: Column) -> Column:
    """`2018-07-13T11:23:45.34Z`: the connector writes the Z although the column has no zone."""
    is_timestamp = text.rlike(r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$")
    return F.when(is_timestamp, F.unix_micros(text.try_cast("timestamp")))


def instant_of_text(text: Column) -> Column:
    """The instant of an ISO 8601 text with an offset or Z; null for any other text.

    >>> evaluate(instant_of_text(F.lit("1970-01-01T00:00:05Z")).cast("bigint"))
    5
    """
    # Without an offset the session's time zone would decide the instant.
    is_instant = text.rlike(r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$")
    return F.when(is_instant, text.try_cast("timestamp"))


def _date_of_days(text: Column) -> Column:
    days = text.try_cast("int")
    return within(days, _FIRST_DAY, _LAST_DAY, F.date_from_unix_date(days))


def _date_of_text(text: Column) -> Column:
    # Year 0 is before year 1, and Spark would read it.
    return F.when(text.rlike(r"^(?!0000)\d{4}-\d\d-\d\dZ?$"), F.substring(text, 1, 10).try_cast("date"))


def _time_of_day(count: Column, unit: int, digits: int, with_midnight: bool) -> Column:
    seconds, fraction = _divided(count, 10**unit), count % 10**unit
    clock = F.concat_ws(":", _two(_divided(seconds, 3600)), _two(_divided(seconds, 60) % 60), _two(seconds % 60))
    whole = _with_fraction(clock, F.lpad(fraction.cast("string"), unit, "0"), digits)
    return within(count, 0, 86_400 * 10**unit - (0 if with_midnight else 1), whole)


def _time_of_text(text: Column, digits: int) -> Column:
    """`10:23:45.678901Z`: the connector drops trailing zeros, so they are restored."""
    parts = r"^(([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?)(?:\.(\d+))?Z?$"
    clock = F.rpad(F.regexp_extract(text, parts, 1), 8, ":00")
    return F.when(text.rlike(parts), _with_fraction(clock, F.regexp_extract(text, parts, 4), digits))


def _with_fraction(clock: Column, fraction: Column, digits: int) -> Column:
    return F.concat(clock, F.lit("."), F.rpad(fraction, digits, "0")) if digits else clock


def _two(number: Column) -> Column:
    return F.lpad(number.cast("string"), 2, "0")
