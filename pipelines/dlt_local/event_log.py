"""The event log: what an update did, in Databricks' columns and words, as a Delta table.

Each event is first a line of a journal file, so that a killed update has told what it did; at the update's end, or at
the start of the next one, the journal is appended to the table, once.
"""

import json
import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from dlt_local import delta_log, faults
from dlt_local.storage import Storage

Level = Literal["INFO", "WARN", "ERROR", "METRICS"]

_DDL = (
    "id STRING, sequence STRUCT<data_plane_id: STRUCT<instance: STRING, seq_no: BIGINT>>, "
    "origin STRUCT<pipeline_id: STRING, pipeline_name: STRING, update_id: STRING, dataset_name: STRING, "
    "flow_name: STRING, batch_id: BIGINT>, "
    "timestamp TIMESTAMP, message STRING, level STRING, maturity_level STRING, "
    "error STRUCT<fatal: BOOLEAN, exceptions: ARRAY<STRUCT<class_name: STRING, message: STRING>>>, "
    "details STRING, event_type STRING"
)


class EventLog:
    """Takes events of one update."""

    def __init__(self, storage: Storage, pipeline: str, update_id: str) -> None:
        self._journals = storage.system / "journal"
        self._table = storage.event_log
        self._pipeline = pipeline
        self._update_id = update_id
        self._number = 0
        self._lock = threading.Lock()
        self._journals.mkdir(parents=True, exist_ok=True)
        self._journal = self._journals / f"{update_id}.jsonl"

    def emit(
        self,
        event_type: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        *,
        level: Level = "INFO",
        dataset: str | None = None,
        flow: str | None = None,
        batch_id: int | None = None,
        error: Exception | None = None,
    ) -> None:
        """Write one event down; from any thread."""
        with self._lock:
            self._number += 1
            event = {
                "id": str(uuid.uuid4()),
                "sequence": {"data_plane_id": {"instance": self._update_id, "seq_no": self._number}},
                "origin": {
                    "pipeline_id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(self._table))),
                    "pipeline_name": self._pipeline,
                    "update_id": self._update_id,
                    "dataset_name": dataset,
                    "flow_name": flow,
                    "batch_id": batch_id,
                },
                "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "message": message,
                "level": level,
                "maturity_level": "STABLE",
                "error": _told(error),
                "details": json.dumps({event_type: dict(details or {})}, default=str),
                "event_type": event_type,
            }
            with self._journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps(event) + "\n")

    def publish(self, session: SparkSession) -> None:
        """Append every journal to the table, those of killed updates too; each once."""
        for journal in sorted(self._journals.glob("*.jsonl")):
            _publish(session, journal, self._table)


def _publish(session: SparkSession, journal: Path, table: Path) -> None:
    # A line cut off by a kill is no event; DROPMALFORMED leaves it out.
    events = session.read.schema(_DDL).option("mode", "DROPMALFORMED").json(str(journal))
    delta_log.clear_half_made(table)
    faults.reach("events.before")
    (
        events.coalesce(1)
        .write.format("delta")
        .mode("append")
        .option("txnAppId", journal.stem)
        .option("txnVersion", 0)
        .save(str(table))
    )
    faults.reach("events.after")
    journal.unlink()


def read(session: SparkSession, storage: Storage) -> DataFrame:
    """The event log, oldest first; Databricks' columns."""
    return session.read.format("delta").load(str(storage.event_log)).orderBy("timestamp", "sequence")


def _told(error: Exception | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"fatal": True, "exceptions": [{"class_name": type(error).__name__, "message": str(error)}]}
