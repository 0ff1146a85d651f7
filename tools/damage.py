"""Damaged records: real ones with one defect each."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tools.captures import Record


@dataclass(frozen=True)
class Damage:
    """One kind of defect."""

    name: str
    apply: Callable[[Record], Record]


class DamageMisplaced(Exception):
    """A topic has fewer records than damages, or no intact record after the damaged ones."""

    def __init__(self, topic: str, left: list[Damage]) -> None:
        names = ", ".join(kind.name for kind in left)
        super().__init__(f"{topic}: " + (f"no record left for {names}" if left else "no intact record at the end"))


def damaged(records: Iterable[Record], damages: dict[str, tuple[Damage, ...]]) -> Iterator[Record]:
    """The records in order; the first of each topic get one damage each, the rest stay intact.

    Args:
        records: real records.
        damages: topic -> its damages, in the order of the topic's records.

    Raises:
        DamageMisplaced: a topic has no intact record after the damaged ones.
    """
    waiting = {topic: list(kinds) for topic, kinds in damages.items()}
    intact = set()
    for record in records:
        if waiting.get(record.topic):
            yield waiting[record.topic].pop(0).apply(record)
        else:
            intact.add(record.topic)
            yield record
    for topic, left in waiting.items():
        if left or topic not in intact:
            raise DamageMisplaced(topic, left)


def _value(change: Callable[[bytes], bytes]) -> Callable[[Record], Record]:
    return lambda record: replace(record, value=change(record.value or b""))


def _envelope(change: Callable[[dict[str, Any]], None]) -> Callable[[Record], Record]:
    def on_value(value: bytes) -> bytes:
        envelope = json.loads(value)
        change(envelope)
        return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()

    return _value(on_value)


def wrong_value(column: str, value: object) -> Damage:
    """A column of ``after`` has a value that does not fit its type; ``after`` may be a document's text."""

    def change(envelope: dict[str, Any]) -> None:
        after, wrong = envelope["after"], {column: value}
        envelope["after"] = json.dumps(json.loads(after) | wrong) if isinstance(after, str) else after | wrong

    return Damage(f"wrong_value({column})", _envelope(change))


def no_key_anywhere(*columns: str) -> Damage:
    """The record has no key, and its value has no key columns."""

    def remove(envelope: dict[str, Any]) -> None:
        for row in (envelope["before"], envelope["after"]):
            for column in columns:
                row.pop(column)

    return Damage("no_key_anywhere", lambda record: replace(_envelope(remove)(record), key=None))


BROKEN_JSON = Damage("broken_json", _value(lambda value: value.replace(b'"after":', b'"after"=', 1)))
CUT_JSON = Damage("cut_json", _value(lambda value: value[: len(value) * 3 // 5]))
EMPTY_OBJECT = Damage("empty_object", _value(lambda _: b"{}"))
NOT_UTF8 = Damage("not_utf8", _value(lambda value: value.decode().encode("latin-1")))
UNKNOWN_OP = Damage("unknown_op", _envelope(lambda envelope: envelope.update(op="x")))
NULL_COMMIT_LSN = Damage("null_commit_lsn", _envelope(lambda envelope: envelope["source"].update(commit_lsn=None)))
NULL_SOURCE_TIME = Damage("null_source_time", _envelope(lambda envelope: envelope["source"].update(ts_ms=None)))
NO_RECORD_KEY = Damage("no_record_key", lambda record: replace(record, key=None))
"""Recoverable: the row itself has the key columns."""
