"""Partitions, offsets and timestamps for emitted records, as in topics with one partition."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from tools.captures import Record
from tools.debezium_connector.emitted import Emitted


def placed(records: Iterable[tuple[datetime, Emitted]]) -> Iterator[Record]:
    """Records with offsets as in topics with one partition, and the given times as timestamps."""
    offsets: Counter[str] = Counter()
    for time, record in records:
        offset = offsets[record.topic]
        offsets[record.topic] += 1
        yield Record(
            topic=record.topic,
            partition=0,
            offset=offset,
            timestamp=(time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1),
            headers=tuple((name, _utf8(value)) for name, value in record.headers),
            key=_utf8(record.key),
            value=_utf8(record.value),
        )


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
