"""The event log: what an update did, in Databricks' columns and words, as a Delta table.

Each event is first a line of a journal file, so that a killed update has told what it did; at the update's end, or at
the start of the next one, the journal is appended to the table, once. That is done without Spark: a hundred rows are
written in ten milliseconds, not in half a second of every update.
"""

import json
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import DataFrame, SparkSession

from dlt_local import failpoints
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage

Hook = Callable[[dict[str, Any]], object]
Level = Literal["INFO", "WARN", "ERROR", "METRICS"]

HOOK_FAILED = "hook_progress"

_TEXT, _WHOLE = pyarrow.string(), pyarrow.int64()
_SCHEMA = pyarrow.schema(
    {
        "id": _TEXT,
        "sequence": pyarrow.struct({"data_plane_id": pyarrow.struct({"instance": _TEXT, "seq_no": _WHOLE})}),
        "origin": pyarrow.struct(
            {
                "pipeline_id": _TEXT,
                "pipeline_name": _TEXT,
                "update_id": _TEXT,
                "dataset_name": _TEXT,
                "flow_name": _TEXT,
                "batch_id": _WHOLE,
            }
        ),
        "timestamp": pyarrow.timestamp("us", tz="UTC"),
        "message": _TEXT,
        "level": _TEXT,
        "maturity_level": _TEXT,
        "error": pyarrow.struct(
            {
                "fatal": pyarrow.bool_(),
                "exceptions": pyarrow.list_(pyarrow.struct({"class_name": _TEXT, "message": _TEXT})),
            }
        ),
        "details": _TEXT,
        "event_type": _TEXT,
    }
)


@dataclass(frozen=True)
class Killed:
    """An update whose process was killed."""

    update_id: str
    started: str


class EventLog:
    """Takes events of one update."""

    def __init__(
        self, storage: Storage, pipeline: str, update_id: str, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._journals = storage.system / "journal"
        self._table = storage.event_log
        self._pipeline = pipeline
        self._update_id = update_id
        self._redact = redact
        self._number = 0
        self._journal_number = 0
        self._lock = threading.Lock()
        self._journals.mkdir(parents=True, exist_ok=True)
        self._journal = self._journals / f"{update_id}.jsonl"
        self._hooks: Sequence[Hook] = ()

    def end_killed(self) -> list[Killed]:
        """Write the end into the journals of updates that could not do so themselves, since they were killed."""
        return [told for journal in sorted(self._journals.glob("*.jsonl")) if (told := self._end(journal)) is not None]

    def _end(self, journal: Path) -> Killed | None:
        events = _events(journal)
        if not events or any(map(_is_end, events)):
            return None
        began, last = events[0], events[-1]
        update_id = str(began["origin"]["update_id"])
        sequence = {"data_plane_id": {"instance": update_id, "seq_no": last["sequence"]["data_plane_id"]["seq_no"] + 1}}
        ended = last | {
            "id": str(uuid.uuid4()),
            "sequence": sequence,
            "origin": began["origin"],
            "message": f"Update {update_id[:6]} is CANCELED: its process was killed.",
            "level": "WARN",
            "error": None,
            "details": json.dumps({"update_progress": {"state": "CANCELED"}}),
            "event_type": "update_progress",
        }
        with journal.open("a", encoding="utf-8") as out:
            # The line that the kill cut off, if any, must not swallow this one.
            out.write("\n" + json.dumps(ended) + "\n")
        return Killed(update_id, str(began["timestamp"]))

    def call(self, hooks: Sequence[Hook]) -> None:
        """Let users' functions be called with each event from now on."""
        self._hooks = hooks

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
                "message": self._redact(message),
                "level": level,
                "maturity_level": "STABLE",
                "error": _told(error, self._redact),
                "details": json.dumps({event_type: _cleaned(dict(details or {}), self._redact)}, default=str),
                "event_type": event_type,
            }
            with self._journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps(event) + "\n")
        if event_type != HOOK_FAILED:
            self._tell_hooks(event)

    def _tell_hooks(self, event: Mapping[str, Any]) -> None:
        for hook in self._hooks:
            try:
                hook(dict(event))
            except Exception as error:
                name = getattr(hook, "__name__", str(hook))
                self.emit(HOOK_FAILED, f"Event hook '{name}' failed: {error}", level="WARN", error=error)

    def publish(self) -> None:
        """Append every journal to the table, those of killed updates too; each once. What follows goes to a new one."""
        with self._lock:
            self._journal_number += 1
            self._journal = self._journals / f"{self._update_id}-{self._journal_number}.jsonl"
        for journal in sorted(self._journals.glob("*.jsonl")):
            _publish(journal, self._table)


def _publish(journal: Path, table: Path) -> None:
    rows = [event | {"timestamp": datetime.fromisoformat(event["timestamp"])} for event in _events(journal)]
    delta_log.clear_half_made(table)
    failpoints.reach("events.before")
    if not delta_log.exists(table) or DeltaTable(table).transaction_version(journal.stem) is None:
        once = CommitProperties(app_transactions=[Transaction(journal.stem, 0)])
        write_deltalake(table, pyarrow.Table.from_pylist(rows, _SCHEMA), mode="append", commit_properties=once)
    failpoints.reach("events.after")
    journal.unlink()


def read(session: SparkSession, storage: Storage) -> DataFrame:
    """The event log, oldest first; Databricks' columns."""
    return session.read.format("delta").load(str(storage.event_log)).orderBy("timestamp", "sequence")


def _is_end(event: Mapping[str, Any]) -> bool:
    told = json.loads(event["details"]).get("update_progress", {})
    return told.get("state") in ("COMPLETED", "FAILED", "CANCELED")


def _events(journal: Path) -> list[dict[str, Any]]:
    """A journal's events, without a line that a kill cut off."""
    lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
    return [event for line in lines if (event := _read(line)) is not None]


def _read(line: str) -> dict[str, Any] | None:
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return event


def _cleaned(value: object, redact: Callable[[str], str]) -> object:
    # Text by text, so that what comes out is JSON still.
    if isinstance(value, Mapping):
        return {key: _cleaned(inner, redact) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner, redact) for inner in value]
    return redact(value) if isinstance(value, str) else value


def _told(error: Exception | None, redact: Callable[[str], str]) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"fatal": True, "exceptions": [{"class_name": type(error).__name__, "message": redact(str(error))}]}
