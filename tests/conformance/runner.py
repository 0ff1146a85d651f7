"""Cases run through the engine's public interface: source files in, updates, Delta tables out.

Cases that have nothing to do with each other share a pipeline, each with its own source file and target: an
update costs far more than a target. A batch that must be refused is an update of its case alone, in the same
storage, so that its failure is nobody else's.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession
from tests.conformance.case import Case, Rows
from tests.conformance.source import Api, deliver, forget, pipeline_source, table
from tests.conformance.tables import read

from dlt_local import LocalPipeline


@dataclass
class Outcome:
    """What became of one case: its table after each batch for which the case states one, and the refusal."""

    tables: dict[int, Rows] = field(default_factory=dict)
    replayed: Rows | None = None
    refusal: Exception | None = None
    crash: Exception | None = None
    """An error where none was to be."""


@dataclass(frozen=True)
class Run:
    """Some cases in one pipeline under ``folder``, all written in one of the two APIs."""

    cases: Sequence[Case]
    folder: Path
    spark: SparkSession
    api: Api

    def outcomes(self) -> dict[str, Outcome]:
        """All batches of all cases; when a shared update breaks, each runs alone to tell which it was."""
        try:
            return self._all_batches()
        except Exception as error:
            if len(self.cases) == 1:
                return {self.cases[0].name: Outcome(crash=error)}
        alone: dict[str, Outcome] = {}
        for case in self.cases:
            alone |= Run([case], self.folder / "alone" / case.name, self.spark, self.api).outcomes()
        return alone

    def _all_batches(self) -> dict[str, Outcome]:
        found = {case.name: Outcome() for case in self.cases}
        for batch in range(max(len(case.batches) for case in self.cases)):
            going = [case for case in self.cases if batch < len(case.batches)]
            self._update([case for case in going if batch != case.failing_batch], batch)
            for case in going:
                if batch == case.failing_batch:
                    found[case.name].refusal = self._refusal(case, batch)
                if case.acceptable_after(batch) is not None:
                    found[case.name].tables[batch] = self._read(case)
        again = [case for case in self.cases if case.facts.get("replay_last_batch")]
        for batch in sorted({len(case.batches) - 1 for case in again}):
            replayed = [case for case in again if len(case.batches) - 1 == batch]
            self._update(replayed, batch, part="-again")
            for case in replayed:
                found[case.name].replayed = self._read(case)
        return found

    def _refusal(self, case: Case, batch: int) -> Exception | None:
        try:
            self._update([case], batch)
        except Exception as error:
            return error
        return None

    def _update(self, cases: Sequence[Case], batch: int, part: str = "") -> None:
        sources: list[str] = []
        full: list[str] = []
        partly: list[str] = []
        time.sleep(max((_pause(case, batch) for case in cases), default=0))
        for case in cases:
            data = self.folder / "data" / table(case)
            is_full = batch in (case.facts.get("full_refresh_before_batch") or [])
            if is_full:
                forget(data)
            deliver(case, batch, data, part)
            path = self.folder / "sources" / f"{table(case)}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pipeline_source(case, batch, data, self.api))
            sources.append(str(path))
            (full if is_full else partly).append(table(case))
        if not sources:
            return
        pipeline = LocalPipeline(
            name="conformance",
            sources=sources,
            storage=str(self.folder / "storage"),
            configuration=self.cases[0].facts.get("spark_conf") or {},
            spark=self.spark,
        )
        if full:
            pipeline.run(refresh=partly, full_refresh=full)
        else:
            pipeline.run()

    def _read(self, case: Case) -> Rows:
        folder = self.folder / "storage" / "tables" / "default" / table(case)
        return read(folder) if (folder / "_delta_log").is_dir() else []


def _pause(case: Case, batch: int) -> float:
    pauses = case.facts.get("pause_before_batch")
    return float(pauses[batch]) if pauses else 0
