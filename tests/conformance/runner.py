"""Cases run through the engine's public interface: source files in, updates, Delta tables out.

Cases that have nothing to do with each other share a pipeline, each with its own source file and target: an
update costs far more than a target. Batches that must be refused are updates of their own, so that a refusal
is seen to be nobody else's; a case that fails where it must not is left out of what follows.
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
"""With a few rows a batch, re-planning a query while it runs costs more than it saves."""


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
        """All batches of all cases."""
        found = {case.name: Outcome() for case in self.cases}
        for batch in range(max(len(case.batches) for case in self.cases)):
            going = [case for case in self._sound(found) if batch < len(case.batches)]
            self._crash(found, self._update([case for case in going if batch != case.failing_batch], batch))
            refusals = self._update([case for case in going if batch == case.failing_batch], batch)
            for case in going:
                found[case.name].refusal = refusals.get(case.name, found[case.name].refusal)
                if case.acceptable_after(batch) is not None:
                    found[case.name].tables[batch] = self._read(case)
        again = [case for case in self._sound(found) if case.facts.get("replay_last_batch")]
        for batch in sorted({len(case.batches) - 1 for case in again}):
            replayed = [case for case in again if len(case.batches) - 1 == batch]
            self._crash(found, self._update(replayed, batch, part="-again"))
            for case in replayed:
                found[case.name].replayed = self._read(case)
        return found

    def _sound(self, found: dict[str, Outcome]) -> list[Case]:
        return [case for case in self.cases if found[case.name].crash is None]

    def _crash(self, found: dict[str, Outcome], failures: dict[str, Exception]) -> None:
        for name, error in failures.items():
            found[name].crash = error

    def _update(self, cases: Sequence[Case], batch: int, part: str = "") -> dict[str, Exception]:
        """One update with the next batch of these cases; the errors of those that failed."""
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
        while left := [case for case in cases if case.name not in failed]:
            try:
                self._run(left, batch)
                break
            except UpdateFailed as failure:
                blamed = _blamed(failure, left)
                if not blamed:
                    raise
                failed |= blamed
                if failure.update is not None:
                    break
                # Faults of declarations: nothing was run, so the others have yet to be.
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


def _blamed(failure: UpdateFailed, cases: Sequence[Case]) -> dict[str, Exception]:
    """The error of each case that failed: its dataset's, or the one that names its target."""
    found: dict[str, Exception] = {}
    for case in cases:
        named = re.compile(rf"\b{re.escape(table(case))}\b")
        if failure.update is not None:
            errors = [one.error for one in failure.update.datasets if one.error and named.search(one.name)]
        else:
            errors = [error for error in failure.errors if named.search(str(error))]
        if errors:
            found[case.name] = errors[0]
    return found
