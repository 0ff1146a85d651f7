"""One update: every dataset brought up to date, independent ones side by side, each behind its inputs."""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from typing import Literal

from dlt_local.errors import LocalPipelineError
from dlt_local.flows.failures import failed
from dlt_local.flows.outcomes import DatasetUpdate, FlowMetrics, RunResult, State, Update
from dlt_local.flows.runner import DatasetRunner
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability.event_log import EventLog
from dlt_local.observability.progress import Progress


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
    running: dict[Future[RunResult], tuple[Node, float]] = {}
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


def _outcome(node: Node, future: "Future[RunResult]") -> DatasetUpdate:
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
