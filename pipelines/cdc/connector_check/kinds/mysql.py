"""Settings of the MySQL connector."""

from cdc.connector_check.kinds import binlog
from cdc.connector_check.kinds.rules import Rules

_OF_SERVER = (
    "At the server `binlog_row_value_options` (partial json) and `binlog_transaction_compression` have to stay off: the"
    " connector passes over partial events, and compressed transactions have not been tried."
)

RULES = Rules(
    kind="mysql",
    position=binlog.POSITION,
    modes=binlog.MODES,
    spec_fields=binlog.SPEC_FIELDS,
    own=binlog.own(_OF_SERVER),
    topics=lambda _: "topics may not be named <prefix>.<database>.<table>.",
    pattern=binlog.pattern,
    defaults=binlog.DEFAULTS,
    counts=False,
)
