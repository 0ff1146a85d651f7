"""Row images as JSON objects: `before` and `after` have a field for each column, the record key one for each of its."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql.types import DataType

from cdc.debezium import json_texts
from cdc.debezium.images.image import Get, Images
from cdc.debezium.json_texts import TEXTS
from cdc.debezium.parts import before_type, row_of
from cdc.spec.model import TableSpec


class RowImages(Images):
    """The images of every relational connector."""

    def fields(self, table: TableSpec) -> Mapping[str, DataType]:
        """`before` and `after`."""
        return {"before": before_type(table), "after": TEXTS}

    def before(self, get: Get, table: TableSpec) -> Column:
        """As it is."""
        return get("before")

    def row(self, get: Get, table: TableSpec) -> Column:
        """The row after; of a delete in a table without a key, the row before."""
        return row_of(get("after"), get("before"), table)

    def key_texts(self, key: Column, names: tuple[str, ...]) -> Column:
        """The fields of the JSON object."""
        return json_texts.key_texts(key, names)
