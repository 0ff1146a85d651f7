"""Conversion of the text of a JSON value to the typed value, by connector kind and column type."""

from collections.abc import Mapping

from cdc.debezium.values import db2, mariadb, mongodb, mysql, postgresql, sqlserver, texts
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec

CONVERSIONS: Mapping[str, Mapping[str, ConversionOf]] = {
    "sqlserver": sqlserver.CONVERSIONS,
    "postgresql": postgresql.CONVERSIONS,
    "mysql": mysql.CONVERSIONS,
    "mariadb": mariadb.CONVERSIONS,
    "mongodb": mongodb.CONVERSIONS,
    "db2": db2.CONVERSIONS,
}
"""Connector kind -> column type -> conversion; the only place that knows which kinds there are."""


def conversion_of(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The form in which the connector writes a column's values, and their conversion."""
    if column.key_only or column.constant is not None:
        # Not a column of the source, so no type of its kind: a router's text in the record key, or the source's name.
        return texts.text(column, connector)
    return CONVERSIONS[connector.kind][column.type.name](column, connector)
