"""MySQL: its column types, its names of tables and topics."""

from cdc.spec.kinds import binlog
from cdc.spec.kinds.arguments import Range, at_most
from cdc.spec.kinds.kind import Kind
from cdc.spec.model import SourceType


def _vector(name: str, arguments: list[str]) -> SourceType:
    (length,) = at_most(1, name, arguments)
    return SourceType(name, length=Range("length", 1, 16_383, 2048).read(name, length))


_TYPES = binlog.types("MySQL", {"vector": _vector})


def parse(text: str) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    >>> parse("vector(3)")
    (SourceType(name='vector', length=3, precision=None, scale=None, is_max=False), None)

    Raises:
        TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
    """
    return binlog.parse(text, _TYPES)


KIND = Kind(
    name="mysql",
    title=_TYPES.title,
    connector_class="io.debezium.connector.mysql.MySqlConnector",
    table_example=binlog.TABLE_EXAMPLE,
    topic_patterns=binlog.TOPIC_PATTERNS,
    table_parts=binlog.TABLE_PARTS,
    table_fields=binlog.TABLE_FIELDS,
    parser=parse,
    known_types=tuple(_TYPES.readers),
    texts=binlog.TEXTS,
    modes=binlog.MODES,
    without_zone=binlog.WITHOUT_ZONE,
    overflowing=binlog.WITHOUT_ZONE,
    widths=binlog.WIDTHS,
    described_type=binlog.described,
    block_type=binlog.block_type,
)
