"""From the text of a JSON value to the typed value, by the family of its column type."""

from collections.abc import Callable, Mapping

from cdc.debezium.values import binary, numbers, temporal, texts
from cdc.debezium.values.conversion import Conversion
from cdc.spec.model import ColumnSpec, ConnectorSpec

FAMILIES: Mapping[str, Callable[[ColumnSpec, ConnectorSpec], Conversion]] = {
    "bit": numbers.bit,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), numbers.integer),
    **dict.fromkeys(("real", "float"), numbers.floating),
    **dict.fromkeys(("decimal", "numeric", "money", "smallmoney"), numbers.decimal),
    **dict.fromkeys(("char", "varchar", "text", "nchar", "nvarchar", "ntext"), texts.text),
    **dict.fromkeys(("uniqueidentifier", "xml"), texts.text),
    **dict.fromkeys(("binary", "varbinary", "image", "rowversion", "hierarchyid"), binary.binary),
    "date": temporal.date,
    "time": temporal.time,
    **dict.fromkeys(("datetime", "smalldatetime", "datetime2"), temporal.timestamp),
    "datetimeoffset": temporal.timestamp_with_offset,
}
"""Every SQL Server type whose columns are in Debezium's records; the order is the documentation's."""


def conversion_of(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """How a column comes out of this connector, and what it becomes."""
    return FAMILIES[column.type.name](column, connector)
