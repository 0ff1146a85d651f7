"""Times that are durations: beyond a day, and negative ones, as MariaDB's and MySQL's TIME has them."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.conversion import Conversion, within
from cdc.spec.model import ColumnSpec, ConnectorSpec

_LONGEST = 839 * 3600 * 10**6 - 1
"""In microseconds: 838:59:59.999999, the longest that the servers have."""
_TEXT = r"^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?Z?$"
_UNITS = {"connect": ("milliseconds", 1000, 1), "nanoseconds": ("nanoseconds", 1, 1000)}
"""Mode -> unit, and the factors from it to microseconds, multiplied and divided."""


def duration(digits: int, connector: ConnectorSpec) -> Conversion:
    """A duration as text [-]HH:MM:SS.ffffff with so many fractional digits, as the server shows it: ``-838:59:59``.

    Times of a day sort as texts; durations of 100 hours and more and negative ones do not.
    """
    mode = connector.time_precision_mode
    if mode == "isostring":
        return Conversion("ISO 8601 text", "string", lambda text: _of_text(text, digits))
    unit, times, parts = _UNITS.get(mode, ("microseconds", 1, 1))

    def micros(text: Column) -> Column:
        count = text.try_cast("bigint")
        return F.try_multiply(count, F.lit(times)) if parts == 1 else _whole(count, parts)

    return Conversion(f"{unit}, negative ones too", "string", lambda count: _shown(count, digits), measure=micros)


def year(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A year from 1901 to 2155, or 0.

    A year is stored as a byte, the years since 1900, in which 0 is the year 0; read from the log, connectors write it
    as 1900, a year that the type does not have.
    """

    def convert(text: Column) -> Column:
        number = text.try_cast("smallint")
        return F.when(number.isin(0, 1900), F.lit(0).cast("smallint")).when(number.between(1901, 2155), number)

    return Conversion("number", "smallint", convert)


def _shown(micros: Column, digits: int) -> Column:
    sign = F.when(micros < 0, "-").otherwise("")
    # A number out of range is null before its absolute value is taken, which the smallest bigint does not have.
    length = F.abs(within(micros, -_LONGEST, _LONGEST))
    seconds, fraction = _divided(length, 10**6), F.lpad((length % 10**6).cast("string"), 6, "0")
    hours = _divided(seconds, 3600).cast("string")
    clock = F.concat_ws(
        ":",
        F.lpad(hours, F.greatest(F.length(hours), F.lit(2)), F.lit("0")),
        _two(_divided(seconds, 60) % 60),
        _two(seconds % 60),
    )
    whole = F.concat(clock, F.lit("."), F.substring(fraction, 1, digits)) if digits else clock
    return F.when(length.isNotNull(), F.concat(sign, whole))


def _of_text(text: Column, digits: int) -> Column:
    """`10:23:45.678901Z`: the connector drops trailing zeros, and seconds that are 0, so they are restored."""
    clock = F.rpad(F.regexp_extract(text, r"^(\d\d:\d\d(:\d\d)?)", 1), 8, ":00")
    fraction = F.rpad(F.regexp_extract(text, r"\.(\d+)", 1), digits, "0")
    return F.when(text.rlike(_TEXT), F.concat(clock, F.lit("."), fraction) if digits else clock)


def _whole(count: Column, by: int) -> Column:
    """Whole-number division that rounds down."""
    return _divided(count, by) - F.when((count < 0) & (count % by != 0), 1).otherwise(0)


def _divided(count: Column, by: int) -> Column:
    return F.call_function("div", count, F.lit(by).cast("bigint"))


def _two(number: Column) -> Column:
    return F.lpad(number.cast("string"), 2, "0")
