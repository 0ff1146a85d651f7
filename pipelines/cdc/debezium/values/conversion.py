"""The conversion of one column's text into its value: what every family of types shares."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.spec.model import ColumnSpec, ConnectorSpec


@dataclass(frozen=True)
class Conversion:
    """The form in which one column type is written in one converter mode, and its conversion."""

    wire: str
    """The JSON value in words: ``microseconds since 1970-01-01``."""
    target: str
    """The Spark type in DDL: ``timestamp_ntz``."""
    convert: Callable[[Column], Column]
    """From the JSON value's text to the target. Never throws: a text that it cannot convert becomes null."""
    measure: Callable[[Column], Column] | None = None
    """An optional first step, from the text to a plain number or to digits, whose result ``convert`` gets instead of
    the text. It is a projection of its own: ``convert`` reads the result several times, and Spark would compute it
    again each time."""
    is_total: bool = False
    """True if every text has a value."""
    placeholders: Callable[[str], tuple[str, ...]] | None = None
    """From the connector's placeholder to the texts that stand for it in a column of this type; None: the placeholder
    itself, of a binary column its bytes as the connector writes bytes."""
    nulls: tuple[str, ...] = ()
    """Texts that stand for null."""

    def whole(self, text: Column) -> Column:
        """Both steps in one.

        >>> evaluate(casted("number", "int").whole(F.lit("5")))
        5
        """
        return self.convert(self.measure(text) if self.measure else text)


def bound(value: Column, use: Callable[[Column], Column]) -> Column:
    """``use(value)``, with the value as a variable: an expression written out wherever it is used would grow with it.

    For values inside an array and for steps within one; a conversion's own first step is ``measure``.

    >>> evaluate(bound(F.lit(2) + 1, lambda number: number * number))
    9
    """
    return F.get(F.transform(F.array(value), use), F.lit(0))


ConversionOf = Callable[[ColumnSpec, ConnectorSpec], Conversion]
"""The conversion of a column as a connector writes it."""


def casted(wire: str, target: str) -> Conversion:
    """The conversion that is only a cast."""
    return Conversion(wire, target, lambda text: text.try_cast(target))


def within(value: Column, lowest: int, highest: int, result: Column | None = None) -> Column:
    """``result`` (the value itself if not given) if the value is between the bounds, both included; else null.

    Guards functions that throw on overflow: a CASE does not evaluate a branch that it does not take.

    >>> evaluate(within(F.lit(255), 0, 255)), evaluate(within(F.lit(256), 0, 255))
    (255, None)
    """
    return F.when(value.between(lowest, highest), value if result is None else result)
