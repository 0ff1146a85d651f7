"""Settings of the MySQL connector."""

from cdc.connector_check.kinds import binlog
from cdc.connector_check.kinds.rules import Rules

RULES = Rules(
    kind="mysql",
    position=binlog.POSITION,
    modes=binlog.MODES,
    spec_fields=binlog.SPEC_FIELDS,
    own=binlog.own,
    topics=lambda _: "topics may not be named <prefix>.<database>.<table>.",
    pattern=binlog.pattern,
    defaults=binlog.DEFAULTS,
    counts=False,
)
