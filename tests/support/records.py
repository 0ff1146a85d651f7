"""Build Debezium records in one line: ``orders.create(id=1, total="BGM=").at("2f:1d0:3")``.

    orders = Topic("server1.shop.dbo.orders", key=("id",))
    frame(spark, [orders.create(id=1), orders.update(id=1, total="AQ==").at("30:10:3"), orders.tombstone(id=1)])

Values are written as in the connector's JSON. Offsets follow the order of the list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

RECORDS = (
    "topic string, partition int, offset bigint, timestamp timestamp, timestampType int,"
    " headers array<struct<key: string, value: binary>>, key binary, value binary"
)
_RECORDED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Record:
    """One Kafka record that has no offset yet."""

    topic: str
    key: dict[str, Any] | None
    value: dict[str, Any] | None
    has_schema: bool = False
    raw_key: bytes | None = None
    raw_value: bytes | None = None

    def at(self, commit: str, change: str | None = None, serial: int | str | None = 1, ms: int | None = None) -> Record:
        """The same at another position: LSNs may omit leading zeros (``2f:1d0:3``)."""
        position = {
            "commit_lsn": lsn(commit),
            "change_lsn": lsn(change or commit),
            "event_serial_no": serial,
        }
        return self.with_source(**position, **({} if ms is None else {"ts_ms": ms}))

    def with_source(self, **fields: Any) -> Record:
        """The same with other fields in ``source``."""
        assert self.value is not None
        return self.with_value(source={**self.value["source"], **fields})

    def with_value(self, **fields: Any) -> Record:
        """The same with other fields in the envelope."""
        assert self.value is not None
        return replace(self, value={**self.value, **fields})

    def without(self, *fields: str) -> Record:
        """The same without some fields of the envelope."""
        assert self.value is not None
        return replace(self, value={name: value for name, value in self.value.items() if name not in fields})

    def with_key(self, key: dict[str, Any] | None) -> Record:
        """The same under another record key."""
        return replace(self, key=key)

    def with_schema(self) -> Record:
        """The same with a schema block, as the JSON converter writes it with ``schemas.enable``."""
        return replace(self, has_schema=True)

    def with_text(self, value: str | bytes) -> Record:
        """The same with this text as its value."""
        return replace(self, raw_value=value if isinstance(value, bytes) else value.encode())

    def with_key_text(self, key: str | bytes) -> Record:
        """The same with this text as its key."""
        return replace(self, raw_key=key if isinstance(key, bytes) else key.encode())

    @property
    def key_bytes(self) -> bytes | None:
        """The key in Kafka."""
        return self.raw_key if self.raw_key is not None else self._bytes(self.key)

    @property
    def value_bytes(self) -> bytes | None:
        """The value in Kafka."""
        return self.raw_value if self.raw_value is not None else self._bytes(self.value)

    def _bytes(self, content: dict[str, Any] | None) -> bytes | None:
        if content is None:
            return None
        whole = {"schema": _SCHEMA, "payload": content} if self.has_schema else content
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


# Tests with this schema block read only the payload.
_SCHEMA = {"type": "struct", "fields": [], "optional": False, "name": "Envelope"}


@dataclass(frozen=True)
class Topic:
    """The topic of one table, as SQL Server connector 3.x writes it in its default modes."""

    name: str
    key: Sequence[str] = ("id",)

    def create(self, **row: Any) -> Record:
        """An insert."""
        return self._change("c", None, row)

    def update(self, **row: Any) -> Record:
        """An update; its row before equals the row after."""
        return self._change("u", row, row).with_source(event_serial_no=2)

    def delete(self, **row: Any) -> Record:
        """A delete."""
        return self._change("d", row, None)

    def read(self, **row: Any) -> Record:
        """A row of the initial snapshot."""
        absent = {"change_lsn": None, "event_serial_no": None, "snapshot": "true"}
        return self._change("r", None, row).with_source(**absent)

    def tombstone(self, **key: Any) -> Record:
        """The null value after a delete, which lets compaction remove the key."""
        return Record(self.name, key or None, None)

    def _change(self, op: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Record:
        row = after or before or {}
        database, schema, table = self.name.split(".")[-3:]
        source = {
            "version": "3.6.1.Final",
            "connector": "sqlserver",
            "name": self.name.split(".")[0],
            "ts_ms": 1_772_366_400_000,
            "snapshot": "false",
            "db": database,
            "sequence": None,
            "schema": schema,
            "table": table,
            "change_lsn": lsn("25:148:2"),
            "commit_lsn": lsn("25:160:5"),
            "event_serial_no": 1,
        }
        key = {name: row[name] for name in self.key if name in row} or None
        envelope = {"before": before, "after": after, "source": source, "transaction": None, "op": op}
        return Record(self.name, key, {**envelope, "ts_ms": 1_772_366_400_500})


def lsn(short: str) -> str:
    """A log sequence number with its leading zeros.

    >>> lsn("2f:1d0:3")
    '0000002f:000001d0:0003'
    """
    virtual_log_file, block, slot = short.split(":")
    return f"{virtual_log_file:0>8}:{block:0>8}:{slot:0>4}"


def frame(spark: SparkSession, records: Iterable[Record]) -> DataFrame:
    """Records in the columns of bronze, in partition 0 with offsets from 0."""
    rows = [
        (record.topic, 0, offset, _RECORDED_AT, 0, None, record.key_bytes, record.value_bytes)
        for offset, record in enumerate(records)
    ]
    return spark.createDataFrame(rows, RECORDS)
