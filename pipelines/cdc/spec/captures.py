"""Records of capture files, without Spark; a file that is no capture is refused with what it is instead."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cdc.errors import RunCondition, RunError

_HOW = "capture records with `kcat -C -J -e -t <topic> -b <broker> > records.jsonl`, one per line"
_ENDINGS = (".jsonl", ".jsonl.gz")
"""Of the files that a pipeline reads from a capture folder."""
_COMPRESSED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"\x28\xb5": "zstd"}
_HOW_COMPRESSED = "decompress it first, or compress it by gzip and let its name end in .jsonl.gz"


class NotACapture(RunError):
    """A file is not a capture."""

    def __init__(self, place: str, reason: str, fix: str = _HOW) -> None:
        super().__init__(RunCondition.NOT_A_CAPTURE, place, reason, f"{fix}.")


def captured_records(captures: Iterable[Path]) -> Iterator[Mapping[str, Any]]:
    """The records of capture files, and of all captures in folders, in the form of ``kcat -C -J``.

    Raises:
        NotACapture: a file has something other than such records.
    """
    for capture in captures:
        files = _captures(capture) if capture.is_dir() else [capture]
        if not files:
            raise NotACapture(str(capture), "the folder has no capture: no file ends in .jsonl or .jsonl.gz")
        for file in files:
            yield from _records(file)


def payload(record: Mapping[str, Any], field: str = "payload") -> Any:
    """A record's value, or its key, read as JSON; None if there is none or it is not JSON."""
    text = record.get(field)
    try:
        return json.loads(text) if isinstance(text, str) else text
    except json.JSONDecodeError:
        return None


def _captures(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.jsonl*") if file.name.endswith(_ENDINGS))


def _records(file: Path) -> Iterator[Mapping[str, Any]]:
    first: tuple[int, Mapping[str, Any]] | None = None
    has_records = False
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if line.strip():
            record = _record(line, f"{file}:{number}")
            has_records = has_records or "topic" in record
            first = first or (number, record)
            yield record
    if first and not has_records:
        raise NotACapture(f"{file}:{first[0]}", _what_it_is(first[1]))


def _text(file: Path) -> str:
    content = _decompressed(file) if file.suffix == ".gz" else file.read_bytes()
    for start, kind in _COMPRESSED.items():
        if content.startswith(start):
            raise NotACapture(str(file), f"the file is compressed ({kind})", _HOW_COMPRESSED)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} is not UTF-8"
        raise NotACapture(str(file), f"the file is not text ({where})") from error


def _decompressed(file: Path) -> bytes:
    # By its name, as a pipeline does, which takes a compressed file under another name for text.
    try:
        return gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        reason = f"the file's name ends in .gz, but it cannot be decompressed ({error})"
        raise NotACapture(str(file), reason, "copy it again, or give it the name that fits its content") from error


def _record(line: str, place: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        reason = f"the line is not JSON ({error.msg}); a capture has one record per line (kcat -C -J)"
        raise NotACapture(place, reason) from error
    if not isinstance(record, dict):
        raise NotACapture(place, f"the line is {_KINDS[type(record)]}, not a record")
    return record


_KINDS = {list: "a list", str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


def _what_it_is(line: Mapping[str, Any]) -> str:
    """Why a JSON object is not a record, in the words of what people mistake for one."""
    if "connector.class" in line or "connector.class" in (line.get("config") or ()):
        return "this is a connector's configuration, for `python -m cdc check-connector`; a record has a `topic`"
    if {"op", "source"} & line.keys() or {"schema", "payload"} <= line.keys() or "tableChanges" in line:
        return "these are the values of records without their topics, as kcat prints them without -J"
    return f"a record has a `topic`; this line has {', '.join(f'`{name}`' for name in list(line)[:5]) or 'nothing'}"
