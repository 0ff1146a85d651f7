"""MySQL's column types: those that MariaDB has too, and its own."""

from collections.abc import Mapping

from pyspark.sql import functions as F

from cdc.debezium.values import binlog
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec


def _vector(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The numbers of a vector."""
    return Conversion("array of numbers", "array<float>", lambda text: F.from_json(text, "array<float>"))


CONVERSIONS: Mapping[str, ConversionOf] = {**binlog.CONVERSIONS, "vector": _vector}
"""Every type whose columns are in Debezium's records."""
