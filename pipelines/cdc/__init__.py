"""Change data capture: from Debezium records to changes, versions and rows, as defined by table specs.

Everything here is Column -> Column or DataFrame -> DataFrame: it runs on Databricks, on open-source Spark and
under Spark Connect, and does not depend on pipelines.
"""

from cdc.configuration import load_connectors, load_tables
from cdc.credentials import secret_reader
from cdc.debezium.decode import changes, decode, rejects
from cdc.debezium.events import EventKind, event_kinds
from cdc.debezium.positions import sequence
from cdc.drift import drift, drift_records, notes_of_drift, wants_drift
from cdc.errors import CdcError, SpecError
from cdc.findings import arrival, findings, wants_findings
from cdc.gaps import gaps, smallest_gap
from cdc.gold import current_rows, history
from cdc.least_counts import wants_least_counts, with_least_counts
from cdc.records import read_records, read_topic
from cdc.replay import changes_of_replays, open_rejects, replay
from cdc.row_conditions import expectations, known_values, removes_every_row, removes_row
from cdc.row_tracking import row_tracking
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec
from cdc.targets import targets

__all__ = [
    "CdcError",
    "ColumnSpec",
    "ConnectorSpec",
    "EventKind",
    "SpecError",
    "TableSpec",
    "arrival",
    "changes",
    "changes_of_replays",
    "current_rows",
    "decode",
    "drift",
    "drift_records",
    "event_kinds",
    "expectations",
    "findings",
    "gaps",
    "history",
    "known_values",
    "load_connectors",
    "load_tables",
    "notes_of_drift",
    "open_rejects",
    "read_records",
    "read_topic",
    "rejects",
    "removes_every_row",
    "removes_row",
    "replay",
    "row_tracking",
    "secret_reader",
    "sequence",
    "smallest_gap",
    "targets",
    "wants_drift",
    "wants_findings",
    "wants_least_counts",
    "with_least_counts",
]
