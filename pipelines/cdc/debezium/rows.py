"""A row image: from the map of all its fields to the text of each column in the spec.

Debezium writes fields in the order of the table's columns. If the map's names and the spec's agree from the start
(columns added at the end on either side do not matter), a value is found by its index, in one step. Otherwise the map
is written as JSON and read again under the spec's names: still one step per column, where searching the map for each
column would be quadratic.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.json_texts import ANY_LENGTH, texts_of


def is_in_order(row: Column, names: tuple[str, ...]) -> Column:
    """True if the shorter of the two lists of names is a prefix of the other.

    >>> row = F.create_map(F.lit("id"), F.lit("1"), F.lit("note"), F.lit("new"))
    >>> evaluate(is_in_order(row, ("id", "note", "total"))), evaluate(is_in_order(row, ("note", "id")))
    (True, False)
    """
    fields = F.slice(F.map_keys(row), 1, len(names))
    expected = F.slice(F.array(*map(F.lit, names)), F.lit(1), F.size(fields))
    return fields == expected


def texts(row: Column, in_order: Column, names: tuple[str, ...]) -> Column:
    """A struct of the columns' texts, named as at the source; null for a field that the row lacks.

    >>> row = F.create_map(F.lit("id"), F.lit("1"), F.lit("note"), F.lit("new"))
    >>> evaluate(texts(row, F.lit(False), ("note", "total")))
    Row(note='new', total=None)
    """
    values = F.map_values(row)
    by_index = F.struct(*(F.get(values, F.lit(index)).alias(name) for index, name in enumerate(names)))
    return F.when(in_order, by_index).otherwise(F.from_json(F.to_json(row), texts_of(names), ANY_LENGTH))


def unknown(row: Column, in_order: Column, names: tuple[str, ...], excluded: tuple[str, ...]) -> Column:
    """The fields that are not in the spec, as a map of texts; null if there are none.

    >>> row = F.create_map(F.lit("id"), F.lit("1"), F.lit("note"), F.lit("new"))
    >>> evaluate(unknown(row, F.lit(True), ("id",), excluded=()))
    {'note': 'new'}
    """
    known = (*names, *excluded)
    rest = F.map_filter(row, lambda name, _: ~name.isin(*known))
    none_left = in_order & (F.size(row) <= len(names))
    return F.when(~none_left & (F.size(rest) > 0), rest)


def missing(row: Column, names: tuple[str, ...]) -> Column:
    """The names of the fields that the row image lacks altogether; a null is not missing.

    >>> evaluate(missing(F.create_map(F.lit("id"), F.lit("1")), ("id", "note")))
    ['note']
    """
    if not names:
        return F.array().cast("array<string>")
    return F.array_except(F.array(*map(F.lit, names)).cast("array<string>"), F.map_keys(row))
