"""Why a record is kept aside: the short list of reasons, and the sentences that go with them."""

from enum import Enum

from pyspark.sql import Column
from pyspark.sql import functions as F

_SHOWN = 120
"""Characters of a value that a message shows; the whole record stands beside it."""


class Reason(Enum):
    """The code of a reject; the value says when it is given."""

    NOT_UTF8 = "the value's bytes are no UTF-8 text"
    BROKEN_JSON = "the value is no JSON"
    NOT_AN_ENVELOPE = "the value is JSON and none of Debezium's: no op, or a field of another form"
    UNKNOWN_OP = "op is none of c, u, d, r, t, m"
    MISSING_ROW = "a create, update or read has no `after`"
    MISSING_KEY = "a key column is null in the row and in the record key"
    MISSING_POSITION = "the source's position is null or none: the change cannot be put in order"
    WRONG_TYPE = "a value cannot be what its column's type says"
    MISSING_FIELD = "the record lacks a column that the spec says must be there"
    UNAVAILABLE_VALUE = "a value is the connector's placeholder, and the spec takes none"
    UNEXPECTED_NULL = "a column that the source declares NOT NULL is null or absent"


def quoted(value: Column) -> Column:
    """A value for a message, cut to a readable length."""
    shown = F.when(F.length(value) > _SHOWN, F.concat(F.substring(value, 1, _SHOWN), F.lit("...")))
    return F.coalesce(F.concat(F.lit("`"), F.coalesce(shown, value), F.lit("`")), F.lit("null"))
