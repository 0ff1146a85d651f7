"""The column of rescued data: a JSON object of what a file has and the columns do not, and the file's path.

From https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/schema.html: a value is rescued if its
column is not in the schema, if it does not have the column's type, or if its name differs from the column's in case. A
record that cannot be parsed is rescued whole, as `_corrupt_record`.
"""

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

CORRUPT = "_corrupt_record"


def file_path() -> Column:
    """The file of a row, as Spark names it: `file:///data/1.json`, with `%20` for a space."""
    return F.col("_metadata.file_path")


def local_path() -> Column:
    """The path of a row's file as this machine names it."""
    # In a path `+` is no space, as it would be in a form.
    path = F.regexp_replace(file_path(), "^file:/+", "/")
    return F.url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))


def quoted(text: Column) -> Column:
    """A text as a JSON string.

    >>> str(quoted(F.col("name")))  # doctest: +SKIP
    """
    array = F.to_json(F.array(text.cast("string")))
    return F.substr(array, F.lit(2), F.length(array) - 2)


def member(name: str | Column, value: Column) -> Column:
    """A member of a JSON object, from a name and a JSON value; null where the value is."""
    key = quoted(F.lit(name) if isinstance(name, str) else name)
    return F.when(value.isNotNull(), F.concat(key, F.lit(":"), value))


def rescued(members: Sequence[Column], path: Column) -> Column:
    """The rescued data of a row: null if all members are.

    Args:
        members: arrays of members; a null array has none.
        path: the row's file.
    """
    if not members:
        return F.lit(None).cast("string")
    all_members = F.flatten(F.array(*(F.coalesce(each, _none()) for each in members)))
    kept = F.filter(all_members, lambda each: each.isNotNull())
    with_path = F.concat(kept, F.array(member("_file_path", quoted(path))))
    return F.when(F.size(kept) > 0, F.concat(F.lit("{"), F.array_join(with_path, ","), F.lit("}")))


def _none() -> Column:
    return F.array().cast("array<string>")
