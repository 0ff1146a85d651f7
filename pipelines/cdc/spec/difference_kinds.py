"""The kinds of difference between a source and its specs."""

from enum import Enum


class Change(Enum):
    """A kind of difference; the value says what the source did."""

    ADDED = "column added"
    GONE = "column gone"
    TYPE = "other type"
    NULLABLE = "other nullability"
    KEY = "key changed"
    NEW_TABLE = "new table"
    DROPPED = "table dropped"
