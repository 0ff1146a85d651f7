"""The interface of row images: how an envelope of one kind of connector carries a row and its key."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from pyspark.sql import Column
from pyspark.sql.types import DataType

from cdc.debezium.rejects import Reason
from cdc.spec.model import ColumnSpec, TableSpec

Get = Callable[[str], Column]
"""A field of the parsed envelope, by its name; null if the record lacks it."""


class Images(ABC):
    """Row images of one kind; functions of the envelope's fields alone.

    The decoder knows a row as a map of texts, field by field, whatever the envelope has in its place.
    """

    key_leads: ClassVar[bool] = False
    """True if the record key identifies the row, whatever its images have."""
    missing_row: ClassVar[str] = "`after` is null"
    """What is wrong with a create, update or read that has no row, for its message."""
    row_column: ClassVar[str] = "_row"
    """The frame's column with the result of `row`."""

    @abstractmethod
    def fields(self, table: TableSpec) -> Mapping[str, DataType]:
        """The fields of the envelope that `before`, `row` and `extras` need, with their types."""

    @abstractmethod
    def before(self, get: Get, table: TableSpec) -> Column:
        """The row before the change, of `parts.before_type`."""

    @abstractmethod
    def row(self, get: Get, table: TableSpec) -> Column:
        """The row image that makes the change, as a map of texts; null if there is none."""

    @abstractmethod
    def key_texts(self, key: Column, names: tuple[str, ...]) -> Column:
        """The fields of these names in a record key, as a struct of texts; nulls if the key is not readable."""

    def extras(self, get: Get, table: TableSpec) -> Mapping[str, Column]:
        """Further columns of a decoding frame, by name, which `is_left_out` may read; names start with ``_``."""
        return {}

    def is_left_out(self, column: ColumnSpec, table: TableSpec) -> Column | None:
        """True if the change leaves the column to the previous version, over the frame's columns.

        None if a change never does so, other than by the connector's placeholder. It is asked of the columns of kinds
        whose updates are partial (`Kind.partial_modes`).
        """
        return None

    def untold(self, column: ColumnSpec, text: Column, table: TableSpec) -> Iterator[tuple[Column, Reason, str]]:
        """Why a column's value cannot be known from the record: a condition on its text, the reason, and the words."""
        yield from ()
