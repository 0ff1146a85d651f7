"""Settings of the MariaDB connector."""

from cdc.connector_check.kinds import binlog
from cdc.connector_check.kinds.rules import Rules

_OF_SERVER = (
    "The connector passes over events that the server has compressed: `log_bin_compress` has to stay off there."
)

RULES = Rules(
    kind="mariadb",
    position=binlog.POSITION,
    modes=binlog.MODES,
    spec_fields=binlog.SPEC_FIELDS,
    own=binlog.own(_OF_SERVER),
    topics=lambda _: "topics may not be named <prefix>.<database>.<table>.",
    pattern=binlog.pattern,
    defaults=binlog.DEFAULTS,
    counts=False,
)
