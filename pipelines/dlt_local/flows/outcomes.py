"""Results of flows, datasets and updates, as frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.errors import LocalPipelineError, did_you_mean
from dlt_local.graph.graph import Graph


@dataclass(frozen=True)
class FlowMetrics:
    """What one flow did, in rows; the metrics of two batches add up with `+`."""

    num_output_rows: int = 0
    dropped_rows: int = 0
    cdc: CdcMetrics | None = None
    failed: Mapping[str, int] = field(default_factory=dict)
    """Expectation -> rows that did not meet it."""
    checked_rows: int = 0
    batches: int = 0
    """Microbatches, snapshots or refreshes written; 0 if there was nothing new."""

    def __add__(self, other: "FlowMetrics") -> "FlowMetrics":
        cdc = self.cdc if other.cdc is None else other.cdc if self.cdc is None else self.cdc + other.cdc
        names = {**self.failed, **other.failed}
        failed = {name: self.failed.get(name, 0) + other.failed.get(name, 0) for name in names}
        return FlowMetrics(
            self.num_output_rows + other.num_output_rows,
            self.dropped_rows + other.dropped_rows,
            cdc,
            failed,
            self.checked_rows + other.checked_rows,
            self.batches + other.batches,
        )


class UpdateStopped(Exception):
    """The user asked the update to stop; microbatches not yet started are left to the next update.

    Attributes:
        metrics: what the flow had done before.
    """

    def __init__(self, metrics: FlowMetrics) -> None:
        self.metrics = metrics
        super().__init__()


@dataclass(frozen=True)
class RunResult:
    """Result of a dataset's run that did not fail."""

    idle: bool
    flows: Mapping[str, FlowMetrics]
    stopped: bool = False


State = Literal["COMPLETED", "FAILED"]


@dataclass(frozen=True)
class DatasetUpdate:
    """Result of one dataset in an update."""

    name: str
    kind: str
    state: Literal["COMPLETED", "IDLE", "FAILED", "SKIPPED", "STOPPED"]
    """IDLE: nothing was new. SKIPPED: one of its inputs failed. STOPPED: the user stopped the update first."""
    flows: Mapping[str, FlowMetrics] = field(default_factory=dict)
    error: Exception | None = None
    seconds: float = 0.0

    @property
    def is_idle(self) -> bool:
        """True if nothing was written and nothing failed."""
        return self.state in ("IDLE", "STOPPED") and not any(m.batches for m in self.flows.values())

    def followed_by(self, later: "DatasetUpdate") -> "DatasetUpdate":
        """Two rounds of one update as one; a failure that a retry has overcome does not count."""
        flows = {**self.flows, **later.flows}
        both = {
            name: self.flows[name] + later.flows[name] if name in self.flows and name in later.flows else flows[name]
            for name in flows
        }
        state = self.state if later.state == "IDLE" and self.state in ("COMPLETED", "IDLE") else later.state
        return replace(later, state=state, flows=both, seconds=self.seconds + later.seconds)


@dataclass(frozen=True)
class Update:
    """Result of one update."""

    id: str
    state: State
    datasets: tuple[DatasetUpdate, ...]
    graph: Graph

    @property
    def errors(self) -> tuple[Exception, ...]:
        """One error per failed dataset."""
        return tuple(d.error for d in self.datasets if d.error is not None)

    @cached_property
    def _by_name(self) -> Mapping[str, DatasetUpdate]:
        return {each.name: each for each in self.datasets}

    def __getitem__(self, name: str) -> DatasetUpdate:
        if name not in self._by_name:
            raise KeyError(f"the update has no dataset {name}{did_you_mean(name, self._by_name)}")
        return self._by_name[name]

    def followed_by(self, later: "Update") -> "Update":
        """Two rounds of a continuous update as one; the later may have left datasets out."""
        ran = {each.name: each for each in later.datasets}
        datasets = tuple(each.followed_by(ran[each.name]) if each.name in ran else each for each in self.datasets)
        return replace(later, datasets=datasets)


class UpdateFailed(LocalPipelineError):
    """An update that did not complete.

    Attributes:
        update: its result; datasets that do not depend on the failed ones are up to date.
        errors: every error.
    """

    def __init__(self, update: Update | None, errors: Sequence[Exception]) -> None:
        self.update = update
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) or type(error).__name__ for error in self.errors))
