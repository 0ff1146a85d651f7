"""MariaDB's column types: those that MySQL has too, and its own."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values import binlog
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec

_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


def _uuid(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The text of a uuid, in lower case; null for one that begins with a byte of zero.

    The log leaves out bytes of zero at the end of a uuid, and the connector (3.5) puts as many before its start: a text
    that begins with one may be the uuid, or another one moved to the right.
    """

    def convert(text: Column) -> Column:
        plain = F.lower(text)
        return F.when(plain.rlike(_UUID) & ~plain.startswith("00"), plain)

    return Conversion("text that does not begin with 00", "string", convert)


CONVERSIONS: Mapping[str, ConversionOf] = {**binlog.CONVERSIONS, "uuid": _uuid}
"""Every type whose columns are in Debezium's records."""
