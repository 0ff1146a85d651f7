"""The text types: character types, uniqueidentifier, xml."""

from cdc.debezium.values.conversion import Conversion
from cdc.spec.model import ColumnSpec, ConnectorSpec


def text(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The text unchanged: char and nchar padded to their length, uniqueidentifier in the server's upper case."""
    return Conversion("text", "string", lambda value: value, is_total=True)
