"""The results of commands as JSON, for programs."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import click

from dlt_local.bundle import BundleError
from dlt_local.flows.outcomes import DatasetUpdate, FlowMetrics, Update, UpdateFailed
from dlt_local.graph.graph import Graph
from dlt_local.observability.progress import Progress
from dlt_local.observability.row_counts import RowCounts


@contextmanager
def failures_as_json(wanted: bool) -> Iterator[dict[str, Any]]:
    """Print the value of a block as one JSON object at its end, if that is wanted; also if the block fails.

    The block gets an empty object to fill. If it fails, the object has ``state: FAILED`` and the errors, and the error
    goes on to where it is shown to a person.
    """
    document: dict[str, Any] = {}
    try:
        yield document
    except click.ClickException:
        raise
    except Exception as error:
        if isinstance(error, UpdateFailed) and error.update is not None:
            document |= update_result(error.update)
        document |= {"state": "FAILED", "errors": [described(each) for each in _each(error)]}
        _print(document, wanted)
        raise
    _print({"errors": [], **document}, wanted)


def update_result(update: Update) -> dict[str, Any]:
    """What an update did: its id, its state, and each dataset's result."""
    return {"update_id": update.id, "state": update.state, "datasets": [_dataset(each) for each in update.datasets]}


def described(error: Exception) -> dict[str, Any]:
    """An error by its condition, dataset and place, as far as it has them, and its whole message."""
    location = getattr(error, "location", None)
    return {
        "condition": getattr(error, "condition", type(error).__name__),
        "dataset": getattr(error, "dataset", None),
        "file": location.file if location else None,
        "line": location.line if location else None,
        "message": str(error),
    }


class NoticesKept:
    """Passes on what an update reports, and keeps its notices."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.notices: list[str] = []

    def planning(self, title: str, datasets: int) -> None:
        """Pass on."""
        self._progress.planning(title, datasets)

    def begin(self, title: str, graph: Graph) -> None:
        """Pass on."""
        self._progress.begin(title, graph)

    def state(self, dataset: str, state: str) -> None:
        """Pass on."""
        self._progress.state(dataset, state)

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """Pass on."""
        self._progress.batch(dataset, flow, metrics)

    def notice(self, text: str) -> None:
        """Keep and pass on."""
        self.notices.append(text)
        self._progress.notice(text)

    def end(self, state: str) -> None:
        """Pass on."""
        self._progress.end(state)


def _print(document: dict[str, Any], wanted: bool) -> None:
    if wanted:
        click.echo(json.dumps(document, indent=1))


def _each(error: Exception) -> Sequence[Exception]:
    if isinstance(error, UpdateFailed):
        return error.errors
    return error.faults if isinstance(error, BundleError) else (error,)


def _dataset(outcome: DatasetUpdate) -> dict[str, Any]:
    failed: dict[str, int] = {}
    for metrics in outcome.flows.values():
        for name, rows in metrics.failed.items():
            failed[name] = failed.get(name, 0) + rows
    return {
        "name": outcome.name,
        "kind": outcome.kind,
        "state": outcome.state,
        "seconds": round(outcome.seconds, 3),
        **asdict(RowCounts.of(outcome.flows.values())),
        "failed_expectations": failed,
        "error": described(outcome.error) if outcome.error else None,
    }
