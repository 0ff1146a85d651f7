"""MariaDB: its column types, its names of tables and topics."""

import re
from dataclasses import replace

from cdc.errors import Condition
from cdc.spec.kinds import binlog
from cdc.spec.kinds.arguments import TypeFault, plain
from cdc.spec.kinds.kind import Kind
from cdc.spec.model import SourceType

_REFUSED = re.compile(r"\s*(inet4|inet6)\b", re.IGNORECASE)
"""Types at which the connector (3.5) stops: it cannot read the DDL of a table that has one."""
_TYPES = binlog.types("MariaDB", {"uuid": plain})
_JSON = {"json": ("longtext",), "longtext": ("json",)}
"""The server's json is another name of longtext, which it is called in descriptions of an existing table."""


def parse(text: str) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    >>> parse("uuid not null")
    (SourceType(name='uuid', length=None, precision=None, scale=None, is_max=False), False)

    Raises:
        TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
    """
    if found := _REFUSED.match(text):
        detail = f"Debezium's connector cannot read the DDL of a table with a column of type {found[1].lower()}"
        fix = "keep addresses in a varchar(45) or a varbinary(16) at the source, or leave the table out."
        raise TypeFault(Condition.UNSUPPORTED_TYPE, detail, fix)
    return binlog.parse(text, _TYPES)


KIND = Kind(
    name="mariadb",
    title=_TYPES.title,
    connector_class="io.debezium.connector.mariadb.MariaDbConnector",
    table_example=binlog.TABLE_EXAMPLE,
    topic_patterns=binlog.TOPIC_PATTERNS,
    table_parts=binlog.TABLE_PARTS,
    table_fields=binlog.TABLE_FIELDS,
    parser=parse,
    known_types=tuple(_TYPES.readers),
    texts=(*binlog.TEXTS, "uuid"),
    modes=binlog.MODES,
    without_zone=binlog.WITHOUT_ZONE,
    overflowing=binlog.WITHOUT_ZONE,
    widths=replace(binlog.WIDTHS, also_held={**binlog.WIDTHS.also_held, **_JSON}),
    described_type=binlog.described,
    block_type=binlog.block_type,
)
