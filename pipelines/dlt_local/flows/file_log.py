"""Spark's own log of the files that a stream has read, in the stream's checkpoint."""

import json
import re
from collections.abc import Collection, Mapping
from math import inf
from pathlib import Path
from urllib.parse import unquote, urlsplit

from dlt_local.flows.checkpoint import last_batch

_OFFSET = re.compile(r'"logOffset":(\d+)')
_BATCH = re.compile(r"^(\d+)(\.compact)?$")


def files_read(checkpoint: Path) -> Mapping[Path, int]:
    """File -> when it was modified, in milliseconds since 1970, as of when the stream listed it.

    Empty before the first batch, and for a stream without files.
    """
    return {file: at for log in (checkpoint / "sources").glob("*") for file, at in _entries(log).items()}


def files_committed(checkpoint: Path) -> Collection[Path]:
    """The files of the batches that a stream has written in full; a batch that was cut short is not among them."""
    offsets = checkpoint / "offsets" / str(last_batch(checkpoint / "commits"))
    if not offsets.exists():
        return ()
    # After the version and the batch's settings comes one line for each source, in their order.
    ends = [_OFFSET.search(line) for line in offsets.read_text().splitlines()[2:]]
    return {
        file
        for number, end in enumerate(ends)
        if end is not None and (log := checkpoint / "sources" / str(number)).is_dir()
        for file in _entries(log, int(end[1]))
    }


def _entries(log: Path, end: float = inf) -> dict[Path, int]:
    """The entries of one source up to an offset: of its newest compact file, which has all before, and of the later."""
    matches = [(match, file) for file in log.iterdir() if (match := _BATCH.match(file.name))]
    found = [(int(match[1]), bool(match[2]), file) for match, file in matches if int(match[1]) <= end]
    newest = max((number for number, is_compact, _ in found if is_compact), default=-1)
    entries: dict[Path, int] = {}
    for number, is_compact, file in sorted(found):
        if number > newest or (number == newest and is_compact):
            entries |= _read(file)
    return entries


def _read(file: Path) -> dict[Path, int]:
    # The other sources keep one object of their own here: Kafka its first offsets.
    lines = (line for line in file.read_text().splitlines()[1:] if line.startswith("{"))
    entries = (json.loads(line) for line in lines)
    return {Path(unquote(urlsplit(entry["path"]).path)): entry["timestamp"] for entry in entries if "path" in entry}
