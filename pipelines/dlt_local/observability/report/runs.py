"""What the report knows of an update: plain values, kept as JSON beside the page for the pages to come."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

KEPT = 30
"""So many updates are remembered."""


@dataclass(frozen=True)
class ExpectationRun:
    """How many rows met an expectation in one update."""

    name: str
    condition: str
    action: str
    passed: int
    failed: int


@dataclass(frozen=True)
class DatasetRun:
    """How one dataset fared in one update; counts are rows."""

    name: str
    kind: str
    state: str
    place: str
    """File and line of its declaration."""
    seconds: float = 0.0
    rows: int = 0
    upserted: int = 0
    deleted: int = 0
    dropped: int = 0
    written: Mapping[str, int] = field(default_factory=dict)
    """Flow -> rows that it wrote or removed."""
    expectations: tuple[ExpectationRun, ...] = ()
    newest: str | None = None
    """The latest source time among its rows, ISO 8601."""
    lag: float | None = None
    """Seconds from that time to the commit that brought it."""
    error: str | None = None
    excerpt: tuple[tuple[int, str], ...] = ()
    """The lines of source around what failed."""


@dataclass(frozen=True)
class Run:
    """One update."""

    id: str
    state: str
    started: str
    """UTC, ISO 8601."""
    seconds: float
    datasets: tuple[DatasetRun, ...] = ()
    errors: tuple[str, ...] = ()
    """Faults of declarations, which belong to no dataset."""
    notices: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """Rows that the update wrote."""
        return sum(d.rows + d.upserted + d.deleted for d in self.datasets)


def to_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The newest updates, oldest first."""
    return [dataclasses.asdict(run) for run in runs[-KEPT:]]


def from_json(told: Sequence[Mapping[str, Any]]) -> tuple[Run, ...]:
    """The other way round; fields that this version does not know are left out."""
    return tuple(_run(each) for each in told)


def _run(told: Mapping[str, Any]) -> Run:
    datasets = tuple(_dataset(each) for each in told.get("datasets", ()))
    own = _known(Run, told) | {"datasets": datasets}
    return Run(**{**own, "errors": tuple(told.get("errors", ())), "notices": tuple(told.get("notices", ()))})


def _dataset(told: Mapping[str, Any]) -> DatasetRun:
    expectations = tuple(ExpectationRun(**_known(ExpectationRun, each)) for each in told.get("expectations", ()))
    excerpt = tuple((int(number), str(line)) for number, line in told.get("excerpt", ()))
    return DatasetRun(**{**_known(DatasetRun, told), "expectations": expectations, "excerpt": excerpt})


def _known(kind: type[Any], told: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in told.items() if name in names}
