"""Capture files: Kafka records as JSON Lines, in the format of ``kcat -C -J``."""

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Record:
    """One Kafka record: place, timestamp and bytes."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    """Milliseconds since 1970, set by the producer."""
    headers: tuple[tuple[str, bytes | None], ...]
    key: bytes | None
    value: bytes | None
    """None for a tombstone."""

    @classmethod
    def from_line(cls, line: str) -> "Record":
        """Parse one line; ``key_base64`` and ``payload_base64`` take precedence over ``key`` and ``payload``."""
        fields = json.loads(line)
        flat = fields.get("headers") or []
        return cls(
            topic=fields["topic"],
            partition=fields["partition"],
            offset=fields["offset"],
            timestamp=fields["ts"],
            headers=tuple((name, _utf8(value)) for name, value in zip(flat[::2], flat[1::2], strict=True)),
            key=_bytes(fields, "key"),
            value=_bytes(fields, "payload"),
        )

    def line(self) -> str:
        """The record as one line, without a line break."""
        flat = [part for name, value in self.headers for part in (name, None if value is None else value.decode())]
        fields = {
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "tstype": "create",
            "ts": self.timestamp,
            "broker": 0,
            "headers": flat,
            **_text("key", self.key),
            **_text("payload", self.value),
        }
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def read(capture: Path) -> Iterator[Record]:
    """The records of a capture, in file order."""
    with capture.open(encoding="utf-8") as lines:
        for line in lines:
            yield Record.from_line(line)


def write(capture: Path, records: Iterable[Record]) -> None:
    """Write a capture, replacing an existing file."""
    capture.parent.mkdir(parents=True, exist_ok=True)
    capture.write_text("".join(record.line() + "\n" for record in records), encoding="utf-8")


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _bytes(fields: dict[str, Any], name: str) -> bytes | None:
    encoded = fields.get(f"{name}_base64")
    return _utf8(fields.get(name)) if encoded is None else base64.b64decode(encoded)


def _text(name: str, value: bytes | None) -> dict[str, str | None]:
    """The field for some bytes: as a string if they are UTF-8, otherwise in base64."""
    if value is None:
        return {name: None}
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {name: None, f"{name}_base64": base64.b64encode(value).decode()}
