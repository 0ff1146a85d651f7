"""What every family of types shares: the conversion of one column's text into its value."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F


@dataclass(frozen=True)
class Conversion:
    """How one column type comes over the wire in one converter mode, and what it becomes."""

    wire: str
    """The JSON value in words: ``microseconds since 1970-01-01``."""
    target: str
    """The Spark type as DDL writes it: ``timestamp_ntz``."""
    convert: Callable[[Column], Column]
    """From the JSON value's text to the target. Never throws: a text that it cannot convert becomes null."""
    measure: Callable[[Column], Column] | None = None
    """A first step from the text to a plain number or to digits, which ``convert`` then gets in the text's
    place: a step of its own where ``convert`` reads it several times, and Spark would make it anew each time."""
    is_total: bool = False
    """True where every text is a value."""

    def whole(self, text: Column) -> Column:
        """Both steps in one."""
        return self.convert(self.measure(text) if self.measure else text)


def casted(wire: str, target: str) -> Conversion:
    """The conversion that is a cast and no more."""
    return Conversion(wire, target, lambda text: text.try_cast(target))


def within(value: Column, lowest: int, highest: int, result: Column | None = None) -> Column:
    """``result`` (or the value itself) where the value lies between the two, both included; else null.

    The guard in front of functions that throw on overflow: a CASE evaluates no branch that it does not take.
    """
    return F.when(value.between(lowest, highest), value if result is None else result)
