"""One update: every dataset brought up to date, independent ones side by side, each behind its inputs."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from dlt_local.errors import LocalPipelineError
from dlt_local.event_log import EventLog
from dlt_local.flows import DatasetRunner, FlowMetrics, Ran, failed
from dlt_local.graph import Graph, Node
from dlt_local.progress import Progress

State = Literal["COMPLETED", "FAILED"]


@dataclass(frozen=True)
class DatasetUpdate:
    """How one dataset fared in an update."""

    name: str
    kind: str
    state: Literal["COMPLETED", "IDLE", "FAILED", "SKIPPED", "STOPPED"]
    """IDLE: nothing was new. SKIPPED: something that it reads failed. STOPPED: the user asked for an end first."""
    flows: Mapping[str, FlowMetrics] = field(default_factory=dict)
    error: Exception | None = None
    seconds: float = 0.0

    @property
    def is_idle(self) -> bool:
        """True where nothing was written and nothing went wrong."""
        return self.state in ("IDLE", "STOPPED") and not any(m.batches for m in self.flows.values())

    def followed_by(self, later: "DatasetUpdate") -> "DatasetUpdate":
        """Two rounds of one update as one; what failed and then went well has gone well."""
        flows = {**self.flows, **later.flows}
        both = {
            name: self.flows[name] + later.flows[name] if name in self.flows and name in later.flows else flows[name]
            for name in flows
        }
        state = self.state if later.state == "IDLE" and self.state in ("COMPLETED", "IDLE") else later.state
        return replace(later, state=state, flows=both, seconds=self.seconds + later.seconds)


@dataclass(frozen=True)
class Update:
    """What came of one update."""

    id: str
    state: State
    datasets: tuple[DatasetUpdate, ...]
    graph: Graph

    @property
    def errors(self) -> tuple[Exception, ...]:
        """What went wrong, one error per failed dataset."""
        return tuple(d.error for d in self.datasets if d.error is not None)

    def __getitem__(self, name: str) -> DatasetUpdate:
        return next(d for d in self.datasets if d.name == name)

    def followed_by(self, later: "Update") -> "Update":
        """Two rounds of a continuous update as one."""
        return replace(later, datasets=tuple(self[d.name].followed_by(d) for d in later.datasets))


class UpdateFailed(LocalPipelineError):
    """An update that did not complete.

    Attributes:
        update: what came of it; datasets that do not depend on the failed ones are up to date.
        errors: every error.
    """

    def __init__(self, update: Update | None, errors: Sequence[Exception]) -> None:
        self.update = update
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) or type(error).__name__ for error in self.errors))


def new_id() -> str:
    """The identity of an update."""
    return str(uuid.uuid4())


def run(
    update_id: str,
    graph: Graph,
    wanted: Sequence[Node],
    runner: DatasetRunner,
    log: EventLog,
    progress: Progress,
    parallelism: int,
    should_stop: Callable[[], bool] = lambda: False,
    tells_idle: bool = True,
) -> Update:
    """Bring the wanted datasets up to date; one that fails stops only what reads it."""
    done: dict[str, DatasetUpdate] = {}
    waiting = {node.name: node for node in wanted}
    names = set(waiting)
    running: dict[Future[Ran], tuple[Node, float]] = {}
    with ThreadPoolExecutor(parallelism, thread_name_prefix="flow") as pool:
        while waiting or running:
            for node in _ready(waiting, done, names):
                del waiting[node.name]
                if any(done[str(n)].state in ("FAILED", "SKIPPED") for n in node.inputs if str(n) in done):
                    done[node.name] = _ended(DatasetUpdate(node.name, node.kind, "SKIPPED"), log, progress)
                elif should_stop():
                    done[node.name] = _ended(DatasetUpdate(node.name, node.kind, "STOPPED"), log, progress)
                else:
                    progress.state(node.name, "RUNNING")
                    running[pool.submit(runner.run, node)] = node, time.monotonic()
            if not running:
                continue
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                node, began = running.pop(future)
                outcome = replace(_outcome(node, future), seconds=time.monotonic() - began)
                done[node.name] = _ended(outcome, log, progress, tells_idle)
    state: State = "FAILED" if any(d.state == "FAILED" for d in done.values()) else "COMPLETED"
    return Update(update_id, state, tuple(done[n.name] for n in wanted), graph)


def _ready(waiting: Mapping[str, Node], done: Mapping[str, DatasetUpdate], wanted: set[str]) -> list[Node]:
    """The datasets whose inputs are all done; an input that this update leaves alone is taken as it is."""
    return [n for n in waiting.values() if all(str(i) in done for i in n.inputs if str(i) in wanted)]


def _outcome(node: Node, future: "Future[Ran]") -> DatasetUpdate:
    try:
        ran = future.result()
    except LocalPipelineError as error:
        return DatasetUpdate(node.name, node.kind, "FAILED", error=error)
    except Exception as cause:
        told = failed(node.name, "", cause)
        told.__cause__ = cause
        return DatasetUpdate(node.name, node.kind, "FAILED", error=told)
    state: Literal["STOPPED", "IDLE", "COMPLETED"] = "STOPPED" if ran.stopped else "IDLE" if ran.idle else "COMPLETED"
    return DatasetUpdate(node.name, node.kind, state, ran.flows)


def _ended(outcome: DatasetUpdate, log: EventLog, progress: Progress, tells_idle: bool = True) -> DatasetUpdate:
    if outcome.is_idle and not tells_idle:
        progress.state(outcome.name, outcome.state)
        return outcome
    for flow, metrics in outcome.flows.items():
        progress.batch(outcome.name, flow, metrics)
        log.emit(
            "flow_progress",
            f"Flow '{flow}' has {outcome.state}.",
            flow_progress(outcome.state, outcome.name, metrics),
            level="INFO",
            dataset=outcome.name,
            flow=flow,
        )
    if not outcome.flows:
        told = f": {outcome.error}" if outcome.error else ""
        log.emit(
            "flow_progress",
            f"Flow '{outcome.name}' is {outcome.state}{told}",
            {"status": outcome.state},
            level="ERROR" if outcome.error else "INFO",
            dataset=outcome.name,
            flow=outcome.name,
            error=outcome.error,
        )
    progress.state(outcome.name, outcome.state)
    return outcome


def flow_progress(status: str, dataset: str, metrics: FlowMetrics) -> dict[str, object]:
    """`details:flow_progress` in Databricks' form; what Databricks has no name for stands under `apply_changes`."""
    counted: dict[str, object] = {"num_output_rows": metrics.num_output_rows}
    details: dict[str, object] = {"status": status, "metrics": counted}
    if metrics.cdc is not None:
        counted.clear()
        counted["num_upserted_rows"] = metrics.cdc.num_upserted_rows
        counted["num_deleted_rows"] = metrics.cdc.num_deleted_rows
        told = asdict(metrics.cdc)
        details["apply_changes"] = {k: v for k, v in told.items() if k not in counted}
    if metrics.failed:
        details["data_quality"] = {
            "dropped_records": metrics.dropped_rows,
            "expectations": [
                {
                    "name": name,
                    "dataset": dataset,
                    "passed_records": metrics.checked_rows - failed,
                    "failed_records": failed,
                }
                for name, failed in metrics.failed.items()
            ],
        }
    return details
