"""A row image: from the map of all its fields to the text of each column that the spec knows.

Debezium writes fields in the order of the table's columns. Where the map's names begin as the spec's do
(columns added at the end on either side do not matter), a value is found by its place, in one step. Where
they do not, the map is written and read once more under the spec's names: still one step per column, where
a search of the map for each would grow with the square of the columns.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.json_texts import texts_of


def is_in_order(row: Column, names: tuple[str, ...]) -> Column:
    """True where the shorter of the two lists of names is the beginning of the other."""
    own = F.slice(F.map_keys(row), 1, len(names))
    wanted = F.slice(F.array(*map(F.lit, names)), F.lit(1), F.size(own))
    return own == wanted


def texts(row: Column, in_order: Column, names: tuple[str, ...]) -> Column:
    """A struct of the columns' texts, named as at the source; a field that the row lacks is null."""
    values = F.map_values(row)
    by_place = F.struct(*(F.get(values, F.lit(place)).alias(name) for place, name in enumerate(names)))
    return F.when(in_order, by_place).otherwise(F.from_json(F.to_json(row), texts_of(names)))


def unknown(row: Column, in_order: Column, names: tuple[str, ...], excluded: tuple[str, ...]) -> Column:
    """The fields that the spec does not know, as a map of texts; null where there are none."""
    known = (*names, *excluded)
    rest = F.map_filter(row, lambda name, _: ~name.isin(*known))
    none_left = in_order & (F.size(row) <= len(names))
    return F.when(~none_left & (F.size(rest) > 0), rest)


def missing(row: Column, names: tuple[str, ...]) -> Column:
    """Those of the fields that the row image lacks: it has not even a null for them."""
    if not names:
        return F.array().cast("array<string>")
    return F.array_except(F.array(*map(F.lit, names)).cast("array<string>"), F.map_keys(row))
