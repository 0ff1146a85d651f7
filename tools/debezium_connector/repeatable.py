"""Removal of randomness from a run: one scenario always gives the same bytes.

Values from the scripted server are kept. Replaced are the times at which the connector handled a record (``ts_ms``
of the envelope, of incremental-snapshot reads and of schema changes), the ids of its runs and those of
incremental-snapshot windows. A clock reading is recognized by its value: it is between the start and the end of the
run by the wall clock, where no scripted time is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from tools.debezium_connector.emitted import Emitted

_FIRST_RECORD = timedelta(milliseconds=1500)
"""Time from a connector's start to its first record."""
_LAG = timedelta(milliseconds=250)
"""Time from a commit to the emission of its changes."""
_TICK = timedelta(milliseconds=1)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS_PER_MILLISECOND = {"ms": 1, "us": 1_000, "ns": 1_000_000}
_TIME = re.compile(r'"ts_(ms|us|ns)":(\d+)')
_WINDOW_TIME = re.compile(r'(Timestamp\\": \\")[^"\\]+(\\")')
_SOURCE_TIME = re.compile(r'"source":\{[^{}]*?"ts_ms":(\d+)')
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def repeatable(records: Sequence[Emitted], began: datetime, ended: datetime) -> Iterator[tuple[datetime, Emitted]]:
    """Each record with its time of emission, both determined by the scenario instead of this run.

    Args:
        records: of one run.
        began: the wall clock before the run.
        ended: the wall clock after it.
    """
    normalizer = _Normalizer(_milliseconds(began), _milliseconds(ended))
    for record in records:
        yield normalizer.next(record)


@dataclass
class _Normalizer:
    began: int
    ended: int
    now: datetime = _EPOCH
    ids: dict[str, str] = field(default_factory=dict)

    def next(self, record: Emitted) -> tuple[datetime, Emitted]:
        committed = self._committed_at(record.value)
        self.now = max(self.now + _TICK, record.started + _FIRST_RECORD, committed + _LAG)
        return self.now, replace(
            record,
            key=self._normalized(record.key),
            value=self._normalized(record.value),
            headers=tuple((name, self._normalized(value)) for name, value in record.headers),
        )

    def _committed_at(self, value: str | None) -> datetime:
        time = _SOURCE_TIME.search(value or "")
        if time is None or self._is_clock_reading(int(time[1])):
            return _EPOCH
        return _EPOCH + timedelta(milliseconds=int(time[1]))

    def _is_clock_reading(self, milliseconds: int) -> bool:
        return self.began <= milliseconds <= self.ended

    def _normalized(self, text: str | None) -> str | None:
        if text is None:
            return None
        text = _TIME.sub(self._normalized_time, text)
        text = _WINDOW_TIME.sub(rf"\g<1>{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03}Z\g<2>", text)
        return _ID.sub(self._normalized_id, text)

    def _normalized_time(self, found: re.Match[str]) -> str:
        unit, value = found[1], int(found[2])
        factor = _UNITS_PER_MILLISECOND[unit]
        if not self._is_clock_reading(value // factor):
            return found[0]
        return f'"ts_{unit}":{_milliseconds(self.now) * factor}'

    def _normalized_id(self, found: re.Match[str]) -> str:
        return self.ids.setdefault(found[0], f"00000000-0000-4000-8000-{len(self.ids) + 1:012}")


def _milliseconds(time: datetime) -> int:
    return (time - _EPOCH) // timedelta(milliseconds=1)
