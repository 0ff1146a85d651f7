"""Run cases through the engine's public interface: source files in, updates, Delta tables out.

Unrelated cases share a pipeline, each with its own source file and target, because an update costs far more than a
target. A batch that must be refused gets an update of its own, so a refusal cannot be mistaken for another case's;
a case that fails unexpectedly is left out of later updates.
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession
from tests.conformance.case import Case, Rows
from tests.conformance.source import Api, deliver, forget, pipeline_source, table
from tests.conformance.tables import read

from dlt_local import LocalPipeline, UpdateFailed

_SMALL_DATA = {"spark.sql.adaptive.enabled": "false"}
"""With a few rows in a batch, adaptive re-planning costs more than it saves."""


@dataclass
class Outcome:
    """The outcome of one case: its table after each batch for which it states one, and the refusal."""

    tables: dict[int, Rows] = field(default_factory=dict)
    replayed: Rows | None = None
    refusal: Exception | None = None
    crash: Exception | None = None
    """An error in a batch that must succeed."""


@dataclass(frozen=True)
class Run:
    """Some cases in one pipeline under ``folder``, written in one of the two APIs."""

    cases: Sequence[Case]
    folder: Path
    spark: SparkSession
    api: Api

    def outcomes(self) -> dict[str, Outcome]:
        """Run all batches of all cases, then replay the last batch of those that want it."""
        outcomes = {case.name: Outcome() for case in self.cases}
        for batch in range(max(len(case.batches) for case in self.cases)):
            self._apply(batch, outcomes)
        replayed = [case for case in self._running(outcomes) if case.facts.get("replay_last_batch")]
        for last in sorted({len(case.batches) - 1 for case in replayed}):
            self._replay([case for case in replayed if len(case.batches) - 1 == last], last, outcomes)
        return outcomes

    def _apply(self, batch: int, outcomes: dict[str, Outcome]) -> None:
        cases = [case for case in self._running(outcomes) if batch < len(case.batches)]
        for name, error in self._update([case for case in cases if batch != case.failing_batch], batch).items():
            outcomes[name].crash = error
        for name, error in self._update([case for case in cases if batch == case.failing_batch], batch).items():
            outcomes[name].refusal = error
        for case in cases:
            if case.acceptable_after(batch) is not None:
                outcomes[case.name].tables[batch] = self._read(case)

    def _replay(self, cases: Sequence[Case], batch: int, outcomes: dict[str, Outcome]) -> None:
        for name, error in self._update(cases, batch, part="-again").items():
            outcomes[name].crash = error
        for case in cases:
            outcomes[case.name].replayed = self._read(case)

    def _running(self, outcomes: dict[str, Outcome]) -> list[Case]:
        return [case for case in self.cases if outcomes[case.name].crash is None]

    def _update(self, cases: Sequence[Case], batch: int, part: str = "") -> dict[str, Exception]:
        """Run one update with a batch of each of these cases; the errors of those that failed."""
        time.sleep(max((_pause(case, batch) for case in cases), default=0))
        for case in cases:
            data = self.folder / "data" / table(case)
            if _is_full(case, batch):
                forget(data)
            deliver(case, batch, data, part)
            path = self._source(case)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pipeline_source(case, batch, data, self.api))
        failed: dict[str, Exception] = {}
        while remaining := [case for case in cases if case.name not in failed]:
            try:
                self._run(remaining, batch)
                break
            except UpdateFailed as failure:
                errors = _errors_by_case(failure, remaining)
                if not errors:
                    raise
                failed |= errors
                if failure.update is not None:
                    break
                # Errors in declarations end the update before any flow runs: the other cases still have to.
        return failed

    def _run(self, cases: Sequence[Case], batch: int) -> None:
        pipeline = LocalPipeline(
            name="conformance",
            sources=[str(self._source(case)) for case in cases],
            storage=str(self.folder / "storage"),
            configuration=_SMALL_DATA | (self.cases[0].facts.get("spark_conf") or {}),
            spark=self.spark,
        )
        full = [table(case) for case in cases if _is_full(case, batch)]
        rest = [table(case) for case in cases if not _is_full(case, batch)]
        if full:
            pipeline.run(refresh=rest, full_refresh=full)
        else:
            pipeline.run()

    def _source(self, case: Case) -> Path:
        return self.folder / "sources" / f"{table(case)}.py"

    def _read(self, case: Case) -> Rows:
        folder = self.folder / "storage" / "tables" / "default" / table(case)
        return read(folder) if (folder / "_delta_log").is_dir() else []


def _pause(case: Case, batch: int) -> float:
    pauses = case.facts.get("pause_before_batch")
    return float(pauses[batch]) if pauses else 0


def _is_full(case: Case, batch: int) -> bool:
    return batch in (case.facts.get("full_refresh_before_batch") or [])


def _errors_by_case(failure: UpdateFailed, cases: Sequence[Case]) -> dict[str, Exception]:
    """The error of each case that failed: its dataset's, or the one that names its target."""
    by_case: dict[str, Exception] = {}
    for case in cases:
        named = re.compile(rf"\b{re.escape(table(case))}\b")
        if failure.update is not None:
            errors = [one.error for one in failure.update.datasets if one.error and named.search(one.name)]
        else:
            errors = [error for error in failure.errors if named.search(str(error))]
        if errors:
            by_case[case.name] = errors[0]
    return by_case
