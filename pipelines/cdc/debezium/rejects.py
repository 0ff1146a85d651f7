"""Why a record is rejected: the list of reasons, and how messages quote a value."""

from enum import Enum

from pyspark.sql import Column
from pyspark.sql import functions as F

_SHOWN = 120
"""Characters of a value that a message shows; the reject has the whole record."""


class Reason(Enum):
    """The code of a reject; the value states when it is used."""

    NOT_UTF8 = "the value is not UTF-8 text"
    BROKEN_JSON = "the value is not JSON"
    NOT_AN_ENVELOPE = "the value is JSON but not a Debezium record: it has no `op`, or a field of the wrong form"
    WRONG_CONNECTOR = "`source.connector` names another kind of connector than the spec's"
    UNKNOWN_OP = "`op` is not one of c, u, d, r, t, m"
    TRUNCATED = "the source's table was truncated, which a history, soft deletes and a shared target cannot apply"
    MISSING_ROW = "a create, update or read has no `after`"
    MISSING_KEY = "a key column is null in both the row and the record key"
    MISSING_POSITION = "the source position is null or malformed, so the change cannot be ordered"
    WRONG_TYPE = "a value cannot be converted to its column's type"
    MISSING_FIELD = "the record lacks a column that the spec requires (`on_missing: reject`)"
    PARTIAL_VALUE = "an update tells a part of a column's value, and the rest is not in the record"
    UNAVAILABLE_VALUE = "a value is the connector's placeholder, which the spec refuses (`unavailable: reject`)"
    UNEXPECTED_NULL = "a column declared NOT NULL at the source is null or absent"
    FAILED_SQL = "a computed column or the filter fails for the values of the row, such as a division by zero"
    QUARANTINED = "an expectation with `action: quarantine` is not met"


def quoted(value: Column) -> Column:
    """A value in backticks for a message, cut to a readable length.

    >>> evaluate(quoted(F.lit("12:34"))), evaluate(quoted(F.lit(None).cast("string")))
    ('`12:34`', 'null')
    """
    shown = F.when(F.length(value) > _SHOWN, F.concat(F.substring(value, 1, _SHOWN), F.lit("...")))
    return F.coalesce(F.concat(F.lit("`"), F.coalesce(shown, value), F.lit("`")), F.lit("null"))
