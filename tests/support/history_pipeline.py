"""A pipeline with a target for each flow of `histories`: deliver random batches, update, read the targets."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession
from tests.conformance.tables import read
from tests.support.auto_cdc_model import Row, target
from tests.support.histories import COLUMNS, DDL, EXCEPT, FLOWS, KEYS, Flow, deliveries

from dlt_local import LocalPipeline

Table = list[dict[str, Any]]
SNAPSHOTS = {"snapshot_current": 1, "snapshot_versions": 2}
"""Targets fed by snapshots of the flow `current`, and their SCD type."""
TARGETS = (*[flow.name for flow in FLOWS], *SNAPSHOTS)
_HEAD = """
from pyspark import pipelines as dp
import dlt
from pyspark.sql.functions import from_json, struct

def rows(lines):
    return lines.select(from_json("value", {ddl!r}, {{"mode": "FAILFAST"}}).alias("row")).select("row.*")
"""
_SOURCE = """
@dp.temporary_view
def {source}_events():
    return rows(spark.readStream.text({folder!r}))
"""
_STAGED_SOURCE = """
@dp.table
def {source}_as_table():
    return rows(spark.readStream.text({folder!r}))

@dp.temporary_view
def {source}_events():
    return spark.readStream.table("{source}_as_table")
"""
_SNAPSHOT = """
def next_snapshot(latest_version):
    for version, path in {snapshots}:
        if latest_version is None or version > latest_version:
            return rows(spark.read.text(path)).select({columns}), version

"""


@dataclass
class HistoryPipeline:
    """One run: ``delivered[source][batch]`` are source rows, ``after[update][target]`` target rows."""

    folder: Path
    spark: SparkSession
    random: Random
    flows: tuple[Flow, ...] = FLOWS
    has_snapshots: bool = True
    extra: str = ""
    """Text appended to the pipeline's source file."""
    staged: frozenset[str] = frozenset()
    """Sources whose rows first become a table, so that their flows read it in batches without a streaming query."""
    views: tuple[str, ...] = ()
    """Views that ``extra`` declares."""
    before_update: Callable[[int], None] = lambda number: None
    """Called with the number of each update."""
    delivered: dict[str, list[list[Row]]] = field(default_factory=dict)
    snapshots: list[tuple[int, list[Row]]] = field(default_factory=list)
    after: list[dict[str, Table]] = field(default_factory=list)

    @property
    def source_file(self) -> Path:
        """The pipeline's source."""
        return self.folder / "pipeline.py"

    @property
    def storage(self) -> Path:
        """The pipeline's storage."""
        return self.folder / "storage"

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the sources that the flows read."""
        return tuple(dict.fromkeys(flow.source for flow in self.flows))

    def run(self, histories: int, batches: int) -> None:
        """Run an update for each batch, then one in which every source delivers an earlier batch again."""
        self.draw(histories, batches)
        for batch in range(batches):
            self.deliver(batch)
            self.update()
        for source in self.sources:
            self.write("again", source, self.random.choice(self.delivered[source]))
        self.update()

    def draw(self, histories: int, batches: int) -> None:
        """Decide all deliveries."""
        for number, source in enumerate(self.sources):
            of_source = range(number, histories, len(self.sources))
            self.delivered[source] = deliveries(self.random, source, of_source, batches)

    def deliver(self, batch: int) -> None:
        """Deliver a batch to every source, and the current rows of the flow `current` as a snapshot."""
        for source in self.sources:
            self.write(f"batch-{batch}", source, self.delivered[source][batch])
        if self.has_snapshots:
            current = next(flow for flow in self.flows if flow.name == "current")
            self.snapshots.append((batch + 1, list(self.expected(current, batch))))
            self.write(str(batch + 1), "snapshots", self.snapshots[-1][1])
        self.source_file.write_text("".join(self._source()))

    def write(self, part: str, source: str, rows: Sequence[Row]) -> None:
        """Write one file of source rows."""
        path = self.folder / "data" / source / f"{part}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def update(self) -> None:
        """Run an update and record every target."""
        self.before_update(len(self.after))
        sources, storage = [str(self.source_file)], str(self.storage)
        LocalPipeline(name="histories", sources=sources, storage=storage, spark=self.spark).run()
        self.after.append(self.tables())

    def tables(self) -> dict[str, Table]:
        """Every target as it is now."""
        names = [*[flow.name for flow in self.flows], *(SNAPSHOTS if self.has_snapshots else ()), *self.views]
        return {name: self.table(name) for name in names}

    def table(self, name: str) -> Table:
        """One published table as it is now."""
        return read(self.storage / "tables" / "default" / name)

    def expected(self, flow: Flow, batch: int) -> Table:
        """The model's target after all deliveries up to this batch."""
        rows = [row for rows in self.delivered[flow.source][: batch + 1] for row in rows]
        return target(map(flow.event, rows), flow.rules)

    def _source(self) -> list[str]:
        data = self.folder / "data"
        text = [_HEAD.format(ddl=DDL)]
        for source in self.sources:
            declared = _STAGED_SOURCE if source in self.staged else _SOURCE
            text.append(declared.format(source=source, folder=str(data / source)))
        text += [_declared(flow) for flow in self.flows]
        if self.has_snapshots:
            paths = [(version, str(data / "snapshots" / f"{version}.json")) for version, _ in self.snapshots]
            text.append(_SNAPSHOT.format(snapshots=paths, columns=", ".join(map(repr, COLUMNS))))
            text += [_declared_snapshot(name) for name in SNAPSHOTS]
        return [*text, self.extra]


def _declared(flow: Flow) -> str:
    declared: Mapping[str, Any] = {
        "keys": list(KEYS),
        "apply_as_deletes": "op = 'd'",
        **({"apply_as_truncates": "op = 't'"} if flow.has_truncates else {}),
        "stored_as_scd_type": flow.scd_type,
        "except_column_list": list(EXCEPT),
        **flow.arguments,
    }
    sequence = repr("seq") if flow.sequence == "seq" else 'struct("lsn", "serial")'
    arguments = ", ".join(f"{name}={value!r}" for name, value in declared.items())
    # Half of the flows are declared with each generation of the API.
    api = "dlt.apply_changes" if len(flow.name) % 2 else "dp.create_auto_cdc_flow"
    return (
        f"\ndp.create_streaming_table({flow.name!r})\n"
        f"{api}(target={flow.name!r}, source='{flow.source}_events', sequence_by={sequence}, {arguments})\n"
    )


def _declared_snapshot(name: str) -> str:
    return (
        f"\ndp.create_streaming_table({name!r})\n"
        f"dp.create_auto_cdc_from_snapshot_flow(target={name!r}, source=next_snapshot, "
        f"keys={list(KEYS)!r}, stored_as_scd_type={SNAPSHOTS[name]})\n"
    )
