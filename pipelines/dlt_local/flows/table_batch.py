"""What is new in a table since a stream's last batch, as a batch without a streaming query.

A streaming query over a Delta table costs the same for ten rows as for thousands: a thread, a session, the source's
look at the log, several files written and synced. A stream that keeps no state needs none of that. It reads the files
that the table's commits have added, and notes them in the checkpoint in Spark's own form, so that a streaming query can
go on from there: after a kill, when rows were removed, when the query changes.
"""

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from dlt_local import failpoints
from dlt_local.delta import data_skipping, delta_log, plain_files
from dlt_local.flows.checkpoint import Checkpoint
from dlt_local.spark import jvm

SETTING = "dlt_local.table_batches"
"""Configuration of a pipeline: ``false`` has all streams run as streaming queries."""
_MOST_FILES = 1000
"""More are read in several batches: Delta's default of `maxFilesPerTrigger`."""
_BATCHES_KEPT = 100
"""As Spark's default of `spark.sql.streaming.minBatchesToRetain`."""
_FORM = "v1"
_AT_START = -1
"""Index of an offset that has none of its version's files."""


@dataclass(frozen=True)
class TableBatch:
    """The next batch of a stream over one Delta table."""

    checkpoint: Checkpoint
    number: int
    rows: DataFrame | None
    """The query's rows of the new files, in a session of its own; no file has been read yet. None for no rows."""
    _conf: Mapping[str, str]
    _end: Mapping[str, Any]

    def begin(self) -> None:
        """Note in the checkpoint what the batch reads."""
        folder = self.checkpoint.folder
        metadata = folder / "metadata"
        if not metadata.exists():
            _write(metadata, _compact({"id": str(uuid.uuid4())}))
        noted = {"batchWatermarkMs": 0, "batchTimestampMs": int(time.time() * 1000), "conf": self._conf}
        _write(folder / "offsets" / str(self.number), "\n".join([_FORM, _compact(noted), _compact(self._end)]))
        failpoints.reach("batch.begun")

    def end(self) -> None:
        """Note in the checkpoint that the batch is written, and forget those of long ago."""
        failpoints.reach("batch.written")
        folder = self.checkpoint.folder
        _write(folder / "commits" / str(self.number), "\n".join([_FORM, _compact({"nextBatchWatermarkMs": 0})]))
        for part in ("offsets", "commits"):
            for file in (folder / part).iterdir():
                name = file.name.removeprefix(".").removesuffix(".crc")
                if name.isdigit() and int(name) <= self.number - _BATCHES_KEPT:
                    file.unlink()


@dataclass(frozen=True)
class NothingNew:
    """The table has no new rows."""


def next_batch(checkpoint: Checkpoint, frame: DataFrame, *, skips: bool) -> TableBatch | NothingNew | None:
    """The next batch of a stream; None if only a streaming query can run it.

    Args:
        checkpoint: the stream's checkpoint.
        frame: the streaming query.
        skips: whether a batch that has no rows need not be written; whether it has any is looked up in its files.
    """
    streamed = jvm.streamed_table(frame)
    last = checkpoint.last_planned
    # A batch that was begun is written as it was planned, whatever has been added since.
    if streamed is None or checkpoint.last_committed != last:
        return None
    table = Path(streamed.path)
    latest, identity = delta_log.version(table), delta_log.table_id(table)
    schema = delta_log.schema(table)
    if latest is None or identity is None or schema is None:
        return None
    if schema.names != streamed.columns or not plain_files.has_plain_columns(table, schema):
        return None
    if last < 0:
        files, conf = delta_log.listed_files(table, latest), _conf(frame.sparkSession)
    else:
        noted = _Noted.of(checkpoint.folder / "offsets" / str(last))
        if noted is None or noted.table != identity:
            return None
        files, conf = delta_log.plain_additions(table, noted.version, latest), noted.conf
    if files is None or len(files) > _MOST_FILES:
        return None
    if not files:
        # A streaming query over a table that has no rows yet makes a checkpoint.
        return NothingNew() if last >= 0 else None
    paths = [table / file for file in files]
    required = jvm.required_texts(frame) if skips else []
    has_rows = any(data_skipping.may_have(path, required) for path in paths)
    rows = jvm.with_files(frame, streamed, list(map(str, paths))) if has_rows else None
    end = {
        "sourceVersion": 1,
        "reservoirId": identity,
        "reservoirVersion": latest + 1,
        "index": _AT_START,
        "isStartingVersion": False,
    }
    return TableBatch(checkpoint, last + 1, rows, conf, end)


def _conf(session: SparkSession) -> Mapping[str, str]:
    """What Spark compares with the batch before, to tell a batch that it repartitions state in."""
    setting = "spark.sql.shuffle.partitions"
    return {setting: str(session.conf.get(setting))}


@dataclass(frozen=True)
class _Noted:
    """What an offset says that is not in the middle of a version."""

    table: str
    version: int
    """The first that it has not read."""
    conf: Mapping[str, str]

    @classmethod
    def of(cls, file: Path) -> "_Noted | None":
        try:
            form, metadata, *sources = file.read_text(encoding="utf-8").splitlines()
            offset = json.loads(sources[0])
            is_plain = form == _FORM and len(sources) == 1 and not offset["isStartingVersion"]
            if not is_plain or offset["index"] != _AT_START:
                return None
            return cls(offset["reservoirId"], int(offset["reservoirVersion"]), json.loads(metadata)["conf"])
        except (FileNotFoundError, ValueError, KeyError, IndexError):
            # Spark says what is wrong with it.
            return None


def _compact(content: Mapping[str, Any]) -> str:
    """JSON as Spark writes it, without spaces."""
    return json.dumps(content, separators=(",", ":"))


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # Spark passes over names that start with a dot.
    scratch = file.with_name(f".{file.name}.{uuid.uuid4()}.tmp")
    scratch.write_text(text, encoding="utf-8")
    # A checksum of an earlier file of this name would not fit.
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    scratch.replace(file)
