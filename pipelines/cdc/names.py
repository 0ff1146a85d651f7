"""Every name that cdc owns: the datasets of a table and the columns beside the table's own.

All own columns of silver begin with ``_``, which no target column may; gold's begin with none, for people.
"""

import re

from cdc.spec.model import ConnectorSpec, TableSpec

INCARNATION = "_incarnation"
COMMIT_LSN = "_commit_lsn"
CHANGE_LSN = "_change_lsn"
EVENT_SERIAL_NO = "_event_serial_no"
TOTAL_ORDER = "_total_order"
"""Place among a transaction's events, as the connector counts them; only where the spec orders by it."""
OPERATION = "_operation"
"""Rank that breaks ties: a delete sorts before a create, update or read of the same position."""
COMMITTED_AT = "_committed_at"

OP = "_op"
SNAPSHOT = "_snapshot"
TRANSACTION_ID = "_transaction_id"
TOPIC = "_topic"
PARTITION = "_partition"
OFFSET = "_offset"
RECORDED_AT = "_recorded_at"
"""The record's own timestamp: when the connector, or the broker, wrote it."""
UNKNOWN = "_unknown"
COLUMNS_TO_UPDATE = "_columns_to_update"
"""The columns whose values a change knows; the others keep those of the previous version. Only in the changes of
a table whose spec asks for that."""

OUTCOME = "_outcome"
REASON = "_reason"
MESSAGE = "_message"
KEY = "_key"
VALUE = "_value"

RECORD_COLUMNS = ("topic", "partition", "offset", "timestamp", "timestampType", "headers", "key", "value")
REJECT_COLUMNS = ("reason", "message", "topic", "partition", "offset", "timestamp", "key", "value")

VALID_FROM = "valid_from"
VALID_TO = "valid_to"
IS_CURRENT = "is_current"
VERSION = "version"
HISTORY_COLUMNS = (VALID_FROM, VALID_TO, IS_CURRENT, VERSION)

START_AT = "__START_AT"
"""Sequence of the change that opened a version: AUTO CDC's own column of an SCD type 2 target."""
END_AT = "__END_AT"
"""Sequence of the change that ended a version; null while it is current."""


def records_dataset(table: TableSpec) -> str:
    """``bronze.orders``: records exactly as they came."""
    return f"bronze.{table.name}"


def decoded_dataset(table: TableSpec) -> str:
    """``silver.orders_decoded``: one row per record with its outcome; private to the pipeline."""
    return f"silver.{table.name}_decoded"


def changes_dataset(table: TableSpec) -> str:
    """``silver.orders_changes``: one typed row per change."""
    return f"silver.{table.name}_changes"


def rejects_dataset(table: TableSpec) -> str:
    """``silver.orders_rejects``: one row per record that could not be decoded."""
    return f"silver.{table.name}_rejects"


def replays_dataset(table: TableSpec) -> str:
    """``silver.orders_replays``: the outcome of each reject in each replay."""
    return f"silver.{table.name}_replays"


def open_rejects_dataset(table: TableSpec) -> str:
    """``silver.orders_rejects_open``: the rejects that no replay has made anything else of."""
    return f"silver.{table.name}_rejects_open"


def versions_dataset(table: TableSpec) -> str:
    """``silver.orders``: the AUTO CDC target, every version or the current one."""
    return f"silver.{table.name}"


def rows_dataset(table: TableSpec) -> str:
    """``gold.orders``: the current state of each key."""
    return f"gold.{table.gold or table.name}"


def history_dataset(table: TableSpec) -> str:
    """``gold.orders_history``: every version of each key with its validity interval."""
    return f"gold.{table.gold_history or f'{table.gold or table.name}_history'}"


def event_records_dataset(connector: ConnectorSpec, kind: str) -> str:
    """``bronze.shop_schema_changes``: the records of one of a connector's own topics."""
    return f"bronze.{_of_connector(connector, kind)}"


def events_dataset(connector: ConnectorSpec, kind: str) -> str:
    """``silver.shop_schema_changes``: what those records say."""
    return f"silver.{_of_connector(connector, kind)}"


def event_view_dataset(connector: ConnectorSpec, view: str) -> str:
    """``gold.shop_columns``: what follows from them."""
    return f"gold.{_of_connector(connector, view)}"


def findings_dataset(connector: ConnectorSpec) -> str:
    """``gold.shop_findings``: what is remarkable in the changes of a connector's tables."""
    return f"gold.{_of_connector(connector, 'findings')}"


def target_columns(table: TableSpec) -> tuple[str, ...]:
    """The table's own columns as silver and gold have them, in order.

    A datetimeoffset's kept offset follows its column.
    """
    both = ((column.target, column.offset_target) for column in table.columns)
    return tuple(name for pair in both for name in pair if name is not None)


def _of_connector(connector: ConnectorSpec, what: str) -> str:
    return re.sub(r"\W", "_", f"{connector.name}_{what}".lower(), flags=re.ASCII)
