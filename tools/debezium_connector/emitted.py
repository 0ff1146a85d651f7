"""One record as a connector hands it to the worker."""

import json
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Emitted:
    """One record as handed to the worker: without partition and offset."""

    topic: str
    key: str | None
    value: str | None
    headers: tuple[tuple[str, str | None], ...]
    section: str
    """The scenario's last ``section``; empty if there was none."""
    run: int
    """Number of earlier starts of the connector."""
    started: datetime
    """The server's clock at the start of this run of the connector."""

    @classmethod
    def from_line(cls, line: str) -> "Emitted":
        """Parse a line written by RecordWriter.java."""
        fields = json.loads(line)
        flat = fields["headers"]
        return cls(
            topic=fields["topic"],
            key=fields["key"],
            value=fields["value"],
            headers=tuple(zip(flat[::2], flat[1::2], strict=True)),
            section=fields.get("section", ""),
            run=fields["run"],
            started=datetime.fromisoformat(fields["started"]),
        )
