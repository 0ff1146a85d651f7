"""What the page knows, as one JSON object: the datasets of the last graph, and what each update did to them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dlt_local.observability.report.groups import groups, labels
from dlt_local.observability.report.measures import Counts
from dlt_local.observability.report.runs import DatasetRun, History, Run
from dlt_local.observability.shapes import Shape

_NOTES = " (notes)"
_ARRIVAL = " (arrival)"
_BACKWARDS = " (backwards)"
_ON_VIOLATION = {"warn": "keep", "drop": "drop", "fail": "fail the update"}


def page_data(pipeline: str, history: History) -> dict[str, Any]:
    """The page's data.

    Datasets and updates are listed in order, inputs and oldest first, and refer to each other by their number. Of an
    update's result only what is not empty is listed, because most of several hundred datasets are idle.
    """
    datasets = (*history.shapes, *_undeclared(history))
    numbers = {each.name: number for number, each in enumerate(datasets)}
    group_of = groups(datasets)
    names = labels(list(dict.fromkeys(group_of.values())))
    written = {each.name: each.written for each in history.runs[-1].datasets}
    checked = expectations(history.runs)
    return {
        "pipeline": pipeline,
        "datasets": [
            {
                **asdict(each),
                "inputs": _inputs(each, numbers, written.get(each.name, {})),
                "group": names[group_of[each.name]],
                "declared": number < len(history.shapes),
                "expectations": list(checked.get(each.name, {}).values()),
                "counts": _counts(each.name, history.counts),
                "samples": history.samples.get(each.name, ()),
            }
            for number, each in enumerate(datasets)
        ],
        "texts": {place: asdict(text) for place, text in history.texts.items()},
        "runs": [_run(each, numbers) for each in history.runs],
    }


def expectations(runs: Sequence[Run]) -> dict[str, dict[str, dict[str, Any]]]:
    """Dataset -> name -> every expectation that any of these updates checked, in order of first appearance.

    ``results`` has, for each update that checked it, its start, and the rows that passed and failed.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for run in runs:
        for dataset in run.datasets:
            for each in dataset.expectations:
                entry = found.setdefault(dataset.name, {}).setdefault(each.name, {"results": []})
                entry |= {"name": each.name, "condition": each.condition, "onViolation": _ON_VIOLATION[each.action]}
                entry["results"].append([run.started, each.passed, each.failed])
    return found


def _undeclared(history: History) -> list[Shape]:
    """Datasets of earlier updates that are no longer declared; all, if no update has reported their declarations."""
    known = {each.name for each in history.shapes}
    results = {each.name: each for run in history.runs for each in run.datasets}
    return [Shape(each.name, each.kind, each.place) for name, each in results.items() if name not in known]


def _inputs(dataset: Shape, numbers: Mapping[str, int], written: Mapping[str, int]) -> list[list[int]]:
    """The number of each input, and the rows that the last update wrote from it into the dataset."""
    return [[numbers[source], sum(written.get(flow, 0) for flow in flows)] for source, flows in dataset.inputs.items()]


def _counts(name: str, counts: Mapping[str, Counts]) -> dict[str, Any]:
    """The dataset's rows by value, its notes, and how many of its rows arrived out of order."""
    by_value, arrival = (counts.get(f"{name}{of}") for of in ("", _ARRIVAL))
    noted = [each for of in (_NOTES, _BACKWARDS) if (each := counts.get(f"{name}{of}")) and each.rows]
    hints = (json.loads(each.column).get("hint") for each in noted)
    return {
        "by": by_value.column if by_value else None,
        "rows": by_value.rows if by_value else {},
        "notes": [[text, rows, each.examples.get(text)] for each in noted for text, rows in each.rows.items()],
        "hint": "; ".join(hint for hint in hints if hint) or None,
        "outOfOrder": sum(arrival.rows.values()) if arrival else 0,
    }


def _run(run: Run, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": run.id,
        "state": run.state,
        "started": run.started,
        "seconds": round(run.seconds, 1),
        "written": run.written,
        "errors": run.errors,
        "notices": run.notices,
        "results": {numbers[each.name]: _result(each) for each in run.datasets},
    }


def _result(result: DatasetRun) -> dict[str, Any]:
    kept = {
        "rows": result.rows,
        "upserted": result.upserted,
        "deleted": result.deleted,
        "dropped": result.dropped,
        "seconds": round(result.seconds, 2),
        "newest": result.newest,
        "lag": None if result.lag is None else round(result.lag, 1),
        "counted": result.counted,
        "rejects": result.rejects,
        "noted": sum(result.noted.values()),
        "unmet": sum(each.failed for each in result.expectations if each.action == "warn"),
        "error": result.error,
        "place": result.place if result.error else None,
        "excerpt": result.excerpt,
    }
    return {"state": result.state, **{name: value for name, value in kept.items() if value}}
