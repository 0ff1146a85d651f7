"""Notices: what an update says besides its results; each is shown, recorded as an event and kept for the report."""

import threading
from collections.abc import Callable

from dlt_local.names import TableName
from dlt_local.observability.progress import Progress
from dlt_local.observability.update_events import UpdateEvents


class Notices:
    """The notices of one update, each once; flows give theirs from threads of their own."""

    def __init__(self, progress: Progress, events: UpdateEvents, redact: Callable[[str], str]) -> None:
        self._progress = progress
        self._events = events
        self._redact = redact
        self._lock = threading.Lock()
        self._given: list[str] = []

    @property
    def given(self) -> tuple[str, ...]:
        """All notices so far, unredacted."""
        return tuple(self._given)

    def give(self, notice: str) -> None:
        """Give a notice, unless it was given before."""
        with self._lock:
            if notice not in self._given:
                self._given.append(notice)
                self._events.noticed(notice)
                self.show(notice)

    def inactive(self, name: TableName) -> None:
        """Give the notice of a table that is no longer declared."""
        notice = f"Dataset {name} is no longer declared: it is inactive and keeps its data."
        self._given.append(notice)
        self._events.inactive(name, notice)
        self.show(notice)

    def show(self, text: str) -> None:
        """Show a line in the update's output, without its secrets; unlike a notice it is not kept."""
        self._progress.notice(self._redact(text))
