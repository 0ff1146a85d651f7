"""Names that cdc owns: the datasets of a table or connector, and the columns beside the table's own.

Silver's own columns start with ``_``, which no target column may; gold's do not, since people read them. The
columns of a connector's log position are in `cdc.debezium.positions`.
"""

import re
from collections.abc import Mapping

from cdc.spec.layers import TargetSchemas
from cdc.spec.model import ConnectorSpec, TableSpec

CREATE, UPDATE, DELETE, READ, TRUNCATE, LOG_MESSAGE = "c", "u", "d", "r", "t", "m"
"""Debezium's codes of an operation, the values of ``_op``; a log message (``m``) is never a change."""

WITH_ROW = (CREATE, UPDATE, READ)
"""Those of a change that carries its row."""

OP = "_op"
"""The operation of a change: one of the codes above."""
IS_DELETE = f"{OP} = '{DELETE}'"
IS_TRUNCATE = f"{OP} = '{TRUNCATE}'"
"""SQL condition: the change deletes its row."""

INCARNATION = "_incarnation"
"""The spec's `incarnation` of the source database: leads every sequence, so a restored database sorts last."""
TOTAL_ORDER = "_total_order"
"""Position among the events of a transaction, as the connector counts them; only where the spec orders by it."""
OPERATION = "_operation"
"""Rank that breaks ties: a delete sorts before a create, update or read at the same position."""
COMMITTED_AT = "_committed_at"
"""When the source committed the change."""

SNAPSHOT = "_snapshot"
"""The connector's snapshot marker, as lower-case text: ``true``, ``last``, ``incremental``, ``false``."""
TRANSACTION_ID = "_transaction_id"
TOPIC = "_topic"
PARTITION = "_partition"
OFFSET = "_offset"
RECORDED_AT = "_recorded_at"
"""The record's own timestamp: when the connector, or the broker, wrote it."""
UNKNOWN = "_unknown"
"""Map of the row's fields that are not in the spec; null if there are none."""
COLUMNS_TO_UPDATE = "_columns_to_update"
"""The columns whose values a change carries; the others keep those of the previous version. Only in the changes of
a table whose spec asks for it."""
DELETED_AT = "_deleted_at"
"""When the row was deleted at the source; null while it lives. Only with `deletes: soft`; gold's is without ``_``."""
HAS_ROW = "_has_row"
"""True once a change has carried the row; null where only its delete is known. Only with `deletes: soft`."""

OUTCOME = "_outcome"
"""What a record became: one of the three outcomes below."""
CHANGE, REJECT, IGNORED = "change", "reject", "ignored"
REASON = "_reason"
"""The code of a reject (`Reason`), or the kind of an ignored record; null for a change."""
MESSAGE = "_message"
"""What is wrong with a reject; null otherwise."""
KEY = "_key"
VALUE = "_value"
DRIFT = "_drift"
"""What a record and the spec differ in; null for most records."""

RECORD_COLUMNS = ("topic", "partition", "offset", "timestamp", "timestampType", "headers", "key", "value")
"""The columns of a Kafka record, as Spark's Kafka reader names them."""
RECORD_ID = ("topic", "partition", "offset")
"""The columns that identify a record."""
DECODED_AS: Mapping[str, str] = {
    "topic": TOPIC,
    "partition": PARTITION,
    "offset": OFFSET,
    "timestamp": RECORDED_AT,
    "key": KEY,
    "value": VALUE,
}
"""Record column -> its name after decoding: a table may have columns named as Kafka's."""
REJECT_COLUMNS = ("reason", "message", *DECODED_AS)
"""The columns of a reject: why, and the record under Kafka's own names, so that it can be decoded again."""

GOLD_DELETED_AT = DELETED_AT.removeprefix("_")
VALID_FROM = "valid_from"
VALID_TO = "valid_to"
IS_CURRENT = "is_current"
VERSION = "version"
HISTORY_COLUMNS = (VALID_FROM, VALID_TO, IS_CURRENT, VERSION)
"""The columns of ``gold.<table>_history`` beside the table's own."""

START_AT = "__START_AT"
"""Sequence of the change that opened a version: AUTO CDC's own column of an SCD type 2 target."""
END_AT = "__END_AT"
"""Sequence of the change that ended a version; null while it is current."""


def target_name(table: TableSpec) -> str:
    """``orders``: base name of versions, rows and history, and what `--rebuild` is given."""
    return table.into.table if table.into else table.name


def records_dataset(table: TableSpec) -> str:
    """``bronze.orders``: the records exactly as delivered."""
    return f"{table.target_schemas.bronze}.{table.name}"


def decoded_dataset(table: TableSpec) -> str:
    """``silver.orders_decoded``: one row per record with its outcome; private to the pipeline."""
    return f"{table.target_schemas.silver}.{table.name}_decoded"


def changes_dataset(table: TableSpec) -> str:
    """``silver.orders_changes``: one typed row per change."""
    return f"{table.target_schemas.silver}.{table.name}_changes"


def rejects_dataset(table: TableSpec) -> str:
    """``silver.orders_rejects``: one row per record that could not be decoded."""
    return f"{table.target_schemas.silver}.{table.name}_rejects"


def replays_dataset(table: TableSpec) -> str:
    """``silver.orders_replays``: the outcome of each reject in each replay."""
    return f"{table.target_schemas.silver}.{table.name}_replays"


def open_rejects_dataset(table: TableSpec) -> str:
    """``silver.orders_rejects_open``: the rejects that no replay has resolved."""
    return f"{table.target_schemas.silver}.{table.name}_rejects_open"


def drift_records_dataset(table: TableSpec) -> str:
    """``silver.orders_drift``: the first and the last record of everything in which records and spec differ."""
    return f"{table.target_schemas.silver}.{table.name}_drift"


def drift_records_view(table: TableSpec) -> str:
    """``orders_records_with_drift``: a view of the records that differ from the spec."""
    return _within_pipeline(table, f"{table.name}_records_with_drift")


def versions_dataset(table: TableSpec) -> str:
    """``silver.orders``: the AUTO CDC target, every version or the current one; tables that flow into one share it."""
    return f"{table.target_schemas.silver}.{target_name(table)}"


def versions_flow(table: TableSpec) -> str | None:
    """``orders_eu_into_orders``: the flow of one of several sources into their target; None for a target of its own."""
    return _within_pipeline(table, f"{table.name}_into_{table.into.table}") if table.into else None


def applied_changes_view(table: TableSpec) -> str:
    """``orders_applied_changes``: the view of the changes from which versions are made."""
    return _within_pipeline(table, f"{table.name}_applied_changes")


def replay_flow(table: TableSpec, replay: str) -> str:
    """``orders_replay_1``: the flow that decodes the rejects again."""
    return _within_pipeline(table, f"{table.name}_replay_{replay}")


def replayed_changes_flow(table: TableSpec) -> str:
    """``orders_changes_of_replays``: the flow of the changes that replays resolved."""
    return _within_pipeline(table, f"{table.name}_changes_of_replays")


def rows_dataset(table: TableSpec) -> str:
    """``gold.orders``: the current state of each key."""
    return f"{table.target_schemas.gold}.{table.gold or target_name(table)}"


def history_dataset(table: TableSpec) -> str:
    """``gold.orders_history``: every version of each key with its validity interval."""
    return f"{table.target_schemas.gold}.{table.gold_history or f'{table.gold or target_name(table)}_history'}"


def event_records_dataset(connector: ConnectorSpec, kind: str) -> str:
    """``bronze.shop_schema_changes``: the records of one of a connector's own topics."""
    return f"{connector.target_schemas.bronze}.{_connector_dataset(connector, kind)}"


def events_dataset(connector: ConnectorSpec, kind: str) -> str:
    """``silver.shop_schema_changes``: those records as typed events."""
    return f"{connector.target_schemas.silver}.{_connector_dataset(connector, kind)}"


def event_view_dataset(connector: ConnectorSpec, view: str) -> str:
    """``gold.shop_columns``: a view derived from those events."""
    return f"{connector.target_schemas.gold}.{_connector_dataset(connector, view)}"


def findings_dataset(connector: ConnectorSpec) -> str:
    """``gold.shop_findings``: anomalies in the changes of a connector's tables."""
    return f"{connector.target_schemas.gold}.{_connector_dataset(connector, 'findings')}"


def gaps_dataset(connector: ConnectorSpec) -> str:
    """``gold.shop_gaps``: offsets that are missing from the records of a connector's tables."""
    return f"{connector.target_schemas.gold}.{_connector_dataset(connector, 'gaps')}"


def drift_dataset(connector: ConnectorSpec) -> str:
    """``gold.shop_drift``: everything in which a connector's records and specs differ."""
    return f"{connector.target_schemas.gold}.{_connector_dataset(connector, 'drift')}"


def source_columns(table: TableSpec) -> tuple[str, ...]:
    """The columns from the source, by target name, in order; the offset kept of a datetimeoffset follows its column."""
    pairs = ((column.target, column.offset_target) for column in table.columns)
    return tuple(name for pair in pairs for name in pair if name is not None)


def target_columns(table: TableSpec) -> tuple[str, ...]:
    """The table's own columns in silver and gold, in order: those from the source, then the computed ones."""
    return (*source_columns(table), *table.computed)


def version_columns(table: TableSpec) -> tuple[str, ...]:
    """The columns of ``silver.<table>`` beside those that AUTO CDC adds."""
    return (*target_columns(table), *deletion_columns(table))


def tracked_columns(table: TableSpec) -> tuple[str, ...]:
    """The columns whose change makes a version; empty if all do, or none. A soft delete always makes one."""
    tracked = table.track if table.history and table.track else ()
    return (*tracked, DELETED_AT) if tracked and table.keeps_deleted else tracked


def deletion_columns(table: TableSpec) -> tuple[str, ...]:
    """The columns that `deletes: soft` adds to changes and versions."""
    return (DELETED_AT, HAS_ROW) if table.keeps_deleted else ()


def _within_pipeline(table: TableSpec, name: str) -> str:
    """The name of a view or flow, which has no schema: tables of one name in two schemas must not share it."""
    schema = table.target_schemas.silver.rpartition(".")[2]
    return name if schema == TargetSchemas().silver else f"{schema}_{name}"


def _connector_dataset(connector: ConnectorSpec, suffix: str) -> str:
    return re.sub(r"\W", "_", f"{connector.name}_{suffix}".lower(), flags=re.ASCII)
