"""Conversion of the text of a JSON value to the typed value, by connector kind and column type."""

from collections.abc import Mapping

from cdc.debezium.values import sqlserver
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec

CONVERSIONS: Mapping[str, Mapping[str, ConversionOf]] = {"sqlserver": sqlserver.CONVERSIONS}
"""Connector kind -> column type -> conversion; the only place that knows which kinds there are."""


def conversion_of(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The form in which the connector writes a column's values, and their conversion."""
    return CONVERSIONS[connector.kind][column.type.name](column, connector)
