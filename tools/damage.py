"""Records as they should not be: each made from a real one by one small damage."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tools.captures import Record


@dataclass(frozen=True)
class Damage:
    """One way in which a record can be wrong."""

    name: str
    apply: Callable[[Record], Record]


class DamageMisplaced(Exception):
    """There are fewer records of a topic than damages meant for it, or none is left healthy."""

    def __init__(self, topic: str, left: list[Damage]) -> None:
        names = ", ".join(kind.name for kind in left)
        super().__init__(f"{topic}: " + (f"no record left for {names}" if left else "no healthy record at the end"))


def damaged(records: Iterable[Record], damages: dict[str, tuple[Damage, ...]]) -> Iterator[Record]:
    """The records in their order; the first of each topic get one damage each, those behind stay healthy.

    Args:
        records: real ones.
        damages: topic -> its damages, in the order of the topic's records.

    Raises:
        DamageMisplaced: a topic has no healthy record behind the damaged ones.
    """
    waiting = {topic: list(kinds) for topic, kinds in damages.items()}
    healthy = set()
    for record in records:
        if waiting.get(record.topic):
            yield waiting[record.topic].pop(0).apply(record)
        else:
            healthy.add(record.topic)
            yield record
    for topic, left in waiting.items():
        if left or topic not in healthy:
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
    """A column of the row after the change holds something that its type cannot be."""
    return Damage(f"wrong_value({column})", _envelope(lambda envelope: envelope["after"].update({column: value})))


def no_key_anywhere(*columns: str) -> Damage:
    """The record has no key, and its value has no key columns either."""

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
NO_RECORD_KEY = Damage("no_record_key", lambda record: replace(record, key=None))
"""Not past help: the row itself holds the key columns."""
