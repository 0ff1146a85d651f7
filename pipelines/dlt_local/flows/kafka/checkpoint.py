"""The offsets of Kafka in the checkpoint of a stream: how far it has come, and moving it past a gap."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlt_local.delta.storage import read_json, write_json
from dlt_local.flows.checkpoint import last_batch
from dlt_local.flows.kafka.gaps import Positions

_COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'


@dataclass(frozen=True)
class Progress:
    """How far a stream of topics has come."""

    batch: int
    """The last batch that Spark has planned; -1 before the first."""
    positions: Positions


def read(checkpoint: Path, is_written: Callable[[int], bool]) -> Progress | None:
    """How far the stream has come; None before it has started.

    Args:
        checkpoint: its folder.
        is_written: True for a batch that is in the target, although its commit is not in the checkpoint.
    """
    batch = last_batch(checkpoint / "offsets")
    if batch < 0:
        first = _first_offsets(checkpoint)
        return Progress(-1, first) if first else None
    if last_batch(checkpoint / "commits") < batch and not is_written(batch):
        before = _offsets(checkpoint, batch - 1) if batch else _first_offsets(checkpoint)
        return Progress(batch, before)
    return Progress(batch, _offsets(checkpoint, batch))


def known(checkpoint: Path) -> Mapping[str, Any]:
    """What `note` or `move` has kept of the topics; empty before the first time."""
    return read_json(_known(checkpoint)) or {}


def note(checkpoint: Path, topics: Mapping[str, Any]) -> None:
    """Keep what is known of the topics."""
    if topics != known(checkpoint):
        write_json(_known(checkpoint), topics)


def move(checkpoint: Path, progress: Progress, positions: Positions, topics: Mapping[str, Any]) -> None:
    """Have the stream go on at other positions, as if one more batch had ended there, and keep what is known.

    If interrupted, `finish_move` completes it: Spark must not start on half of it, which would be a batch of its own.
    """
    text = {topic: {str(partition): offset for partition, offset in p.items()} for topic, p in positions.items()}
    write_json(_marker(checkpoint), {"batch": progress.batch, "positions": text, "topics": topics})
    finish_move(checkpoint)


def finish_move(checkpoint: Path) -> None:
    """Complete a move that was interrupted."""
    pending = read_json(_marker(checkpoint))
    if pending is None:
        return
    batch = int(pending["batch"])
    if batch < 0:
        # Nothing was planned yet: Spark asks for the first offsets again.
        for name in ("0", ".0.crc"):
            for file in checkpoint.glob(f"sources/*/{name}"):
                file.unlink()
    else:
        _write(checkpoint / "offsets" / str(batch + 1), _moved(_lines(checkpoint, batch), pending["positions"]))
        for number in (batch, batch + 1):
            if not (checkpoint / "commits" / str(number)).exists():
                _write(checkpoint / "commits" / str(number), _COMMIT)
    note(checkpoint, pending["topics"])
    _marker(checkpoint).unlink()


def _known(checkpoint: Path) -> Path:
    return checkpoint / "kafka.json"


def _marker(checkpoint: Path) -> Path:
    return checkpoint / "kafka-move.json"


def _lines(checkpoint: Path, batch: int) -> list[str]:
    return (checkpoint / "offsets" / str(batch)).read_text().splitlines()


def _offsets(checkpoint: Path, batch: int) -> Positions:
    # The version and the metadata of the batch come first, then one line per source.
    return _positions(_lines(checkpoint, batch)[2:])


def _first_offsets(checkpoint: Path) -> Positions:
    # Spark writes a zero byte first, so that an old version of it fails on the file.
    files = [file.read_text().lstrip("\0").splitlines()[1:] for file in sorted(checkpoint.glob("sources/*/0"))]
    return _positions([line for lines in files for line in lines])


def _positions(lines: list[str]) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for line in lines:
        for topic, partitions in _topics(line).items():
            found.setdefault(topic, {}).update({int(partition): offset for partition, offset in partitions.items()})
    return found


def _topics(line: str) -> Mapping[str, Mapping[str, int]]:
    """The offsets in the line of one source; empty for a source other than Kafka."""
    content = json.loads(line) if line.startswith("{") else {}
    is_kafka = all(isinstance(each, dict) and all(map(str.isdigit, each)) for each in content.values())
    return content if is_kafka else {}


def _moved(lines: list[str], positions: Mapping[str, Mapping[str, int]]) -> str:
    sources = [
        json.dumps({topic: positions[topic] for topic in topics if topic in positions})
        if (topics := _topics(line))
        else line
        for line in lines[2:]
    ]
    return "\n".join([*lines[:2], *sources])


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    scratch = file.with_name(f".{file.name}.tmp")
    scratch.write_text(text)
    os.replace(scratch, file)
