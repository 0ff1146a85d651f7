"""The event log: a Delta table of what each update did, with Databricks' columns and event types.

Each event is first appended to a journal file, so that the events of a killed update survive. The journal is appended
to the table exactly once, at the end of its update or at the start of the next one. This bypasses Spark: a hundred rows
take ten milliseconds instead of half a second.
"""

import json
import threading
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pyarrow
import pyarrow.parquet
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from pyspark.sql import DataFrame, SparkSession

from dlt_local import failpoints
from dlt_local.declarations.elements import EventHook
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage
from dlt_local.errors import SetupError
from dlt_local.spark import root_cause

Level = Literal["INFO", "WARN", "ERROR"]

_HOOK_FAILED = "hook_progress"

_TEXT, _INTEGER = pyarrow.string(), pyarrow.int64()
_SCHEMA = pyarrow.schema(
    {
        "id": _TEXT,
        "sequence": pyarrow.struct({"data_plane_id": pyarrow.struct({"instance": _TEXT, "seq_no": _INTEGER})}),
        "origin": pyarrow.struct(
            {
                "pipeline_id": _TEXT,
                "pipeline_name": _TEXT,
                "update_id": _TEXT,
                "dataset_name": _TEXT,
                "flow_name": _TEXT,
                "batch_id": _INTEGER,
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
class Event:
    """One event; ``details`` is the JSON object under its event type."""

    event_type: str
    message: str
    details: Mapping[str, object] = field(default_factory=dict)
    level: Level = "INFO"
    dataset: str | None = None
    flow: str | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class KilledUpdate:
    """An update whose process was killed."""

    update_id: str
    started: str
    """UTC, ISO 8601."""


class EventLog:
    """Records the events of one update; safe to use from several threads."""

    def __init__(
        self, storage: Storage, pipeline: str, update_id: str, redact: Callable[[str], str] = lambda text: text
    ) -> None:
        self._journals = storage.system / "journal"
        self._table = storage.event_log
        self._pipeline = pipeline
        self._update_id = update_id
        self._redact = redact
        self._sequence = 0
        self._published = 0
        self._lock = threading.Lock()
        self._journals.mkdir(parents=True, exist_ok=True)
        self._journal = self._journals / f"{update_id}.jsonl"
        self._hooks: Sequence[EventHook] = ()
        self._failures: Counter[EventHook] = Counter()
        self._calling = threading.RLock()
        self._told: set[str] = set()
        self._on_failed_hook: Callable[[str], None] = lambda _: None

    def add_hooks(self, hooks: Sequence[EventHook], on_failed_hook: Callable[[str], None]) -> None:
        """Call the user's event hooks with every event from now on; ``on_failed_hook`` is told what failed."""
        self._hooks, self._on_failed_hook = hooks, on_failed_hook

    def emit(self, event: Event) -> None:
        """Append one event to the journal and pass it to the hooks."""
        with self._lock:
            self._sequence += 1
            row = self._row(event)
            with self._journal.open("a", encoding="utf-8") as journal:
                journal.write(json.dumps(row) + "\n")
        # A hook that fails on its own failure event would fail forever.
        if event.event_type != _HOOK_FAILED:
            self._call_hooks(row)

    def _row(self, event: Event) -> dict[str, Any]:
        return {
            "id": str(uuid.uuid4()),
            "sequence": _sequence(self._update_id, self._sequence),
            "origin": {
                "pipeline_id": str(uuid.uuid5(uuid.NAMESPACE_URL, str(self._table))),
                "pipeline_name": self._pipeline,
                "update_id": self._update_id,
                "dataset_name": event.dataset,
                "flow_name": event.flow,
                "batch_id": None,
            },
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "message": self._redact(event.message),
            "level": event.level,
            "maturity_level": "STABLE",
            "error": _error(event.error, self._redact),
            "details": json.dumps({event.event_type: _redacted(event.details, self._redact)}, default=str),
            "event_type": event.event_type,
        }

    def _call_hooks(self, row: Mapping[str, Any]) -> None:
        # One at a time, as Databricks does: events come from several threads.
        with self._calling:
            calls = [self._call(hook, row) for hook in self._hooks if not self._is_disabled(hook)]
            failed = [event for event in calls if event is not None]
        for event in failed:
            # Events are many, and a hook that fails for one of them often fails for each.
            if event.message not in self._told:
                self._told.add(event.message)
                self._on_failed_hook(event.message)
            self.emit(event)

    def _call(self, hook: EventHook, row: Mapping[str, Any]) -> Event | None:
        """Call a hook; its failure as an event."""
        try:
            hook.function({**row, "details": json.loads(row["details"])})
        except Exception as error:
            self._failures[hook] += 1
            status = "DISABLED" if self._is_disabled(hook) else "FAILED"
            message = f"Event hook '{hook.name}' failed: {type(error).__name__}: {error} ({_place(error)})"
            if status == "DISABLED":
                message += f"; it is not called again, after {self._failures[hook]} failures one after the other"
            details = {"name": hook.name, "status": status, "num_consecutive_failures": self._failures[hook]}
            return Event(_HOOK_FAILED, message, details, level="WARN", error=error)
        self._failures[hook] = 0
        return None

    def _is_disabled(self, hook: EventHook) -> bool:
        return hook.max_failures is not None and self._failures[hook] >= max(hook.max_failures, 1)

    def close_killed_updates(self) -> list[KilledUpdate]:
        """Append the missing final event to the journals of updates that were killed, and list those updates."""
        return [each for journal in sorted(self._journals.glob("*.jsonl")) if (each := _close(journal)) is not None]

    def publish(self) -> None:
        """Append all journals to the table, those of killed updates included; later events go to a new journal."""
        with self._lock:
            self._published += 1
            self._journal = self._journals / f"{self._update_id}-{self._published}.jsonl"
        for journal in sorted(self._journals.glob("*.jsonl")):
            _publish(journal, self._table)


def read(session: SparkSession, storage: Storage) -> DataFrame:
    """The event log with Databricks' columns, oldest event first."""
    return session.read.format("delta").load(str(storage.event_log)).orderBy("timestamp", "sequence")


def rows(storage: Storage) -> list[dict[str, Any]]:
    """The published events, oldest first, read without Spark; ``timestamp`` is a datetime in UTC."""
    # File by file: read as a dataset, it left threads behind that aborted the process as it ended.
    files = DeltaTable(storage.event_log).file_uris()
    events = (event for file in files for event in pyarrow.parquet.ParquetFile(file).read().to_pylist())
    return sorted(events, key=_position)


def _position(event: Mapping[str, Any]) -> tuple[datetime, str, int]:
    sequence = event["sequence"]["data_plane_id"]
    return event["timestamp"], sequence["instance"], sequence["seq_no"]


def _publish(journal: Path, table: Path) -> None:
    rows = [event | {"timestamp": datetime.fromisoformat(event["timestamp"])} for event in _events(journal)]
    delta_log.clear_half_made(table)
    failpoints.reach("events.before")
    if not delta_log.exists(table) or DeltaTable(table).transaction_version(journal.stem) is None:
        once = CommitProperties(app_transactions=[Transaction(journal.stem, 0)])
        write_deltalake(table, pyarrow.Table.from_pylist(rows, _SCHEMA), mode="append", commit_properties=once)
    failpoints.reach("events.after")
    journal.unlink()


def _close(journal: Path) -> KilledUpdate | None:
    events = _events(journal)
    if not events or any(map(_is_final, events)):
        return None
    first, last = events[0], events[-1]
    update_id = str(first["origin"]["update_id"])
    canceled = last | {
        "id": str(uuid.uuid4()),
        "sequence": _sequence(update_id, last["sequence"]["data_plane_id"]["seq_no"] + 1),
        "origin": first["origin"],
        "message": f"Update {update_id[:6]} is CANCELED: its process was killed.",
        "level": "WARN",
        "error": None,
        "details": json.dumps({"update_progress": {"state": "CANCELED"}}),
        "event_type": "update_progress",
    }
    with journal.open("a", encoding="utf-8") as out:
        # The kill may have truncated the last line; starting a new line keeps this event separate from it.
        out.write("\n" + json.dumps(canceled) + "\n")
    return KilledUpdate(update_id, str(first["timestamp"]))


def not_published(error: Exception, log: Path) -> SetupError:
    """The error of an update whose events could not be added to the event log; they stay in the journal."""
    kept = "the events are kept in system/journal, and the next update adds them to the log"
    if root_cause.is_disk_full(error):
        return SetupError("DISK_FULL", log, root_cause.sentence(error), f"make room; {kept}")
    return SetupError("EVENT_LOG_NOT_WRITTEN", log, root_cause.sentence(error), f"correct the cause; {kept}")


def _place(error: Exception) -> str:
    """File and line of the code that raised an error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename}:{last.lineno}"


def _sequence(update_id: str, number: int) -> dict[str, Any]:
    return {"data_plane_id": {"instance": update_id, "seq_no": number}}


def _is_final(event: Mapping[str, Any]) -> bool:
    progress = json.loads(event["details"]).get("update_progress", {})
    return progress.get("state") in ("COMPLETED", "FAILED", "CANCELED")


def _events(journal: Path) -> list[dict[str, Any]]:
    """The events of a journal, without a line that a kill truncated."""
    lines = journal.read_text(encoding="utf-8", errors="replace").splitlines()
    return [event for line in lines if (event := _parse(line)) is not None]


def _parse(line: str) -> dict[str, Any] | None:
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return event


def _redacted(value: object, redact: Callable[[str], str]) -> object:
    # Redacting string by string, not the JSON text, keeps the result valid JSON.
    if isinstance(value, Mapping):
        return {key: _redacted(inner, redact) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(inner, redact) for inner in value]
    return redact(value) if isinstance(value, str) else value


def _error(error: Exception | None, redact: Callable[[str], str]) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"fatal": True, "exceptions": [{"class_name": type(error).__name__, "message": redact(str(error))}]}
