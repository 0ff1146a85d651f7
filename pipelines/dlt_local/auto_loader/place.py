"""Where a query runs: the dataset and the checkpoint of the flow that evaluates it, none while a graph is resolved."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """A dataset that is being written."""

    dataset: str
    checkpoint: Path | None
    """The folder of the flow's checkpoint; None for a view, which several flows may read."""
    committed: Callable[[], Collection[Path]]
    """The files whose rows the flow has written for good."""


_place: ContextVar[Place | None] = ContextVar("place", default=None)


@contextmanager
def running_at(dataset: str, checkpoint: Path | None, committed: Callable[[], Collection[Path]]) -> Iterator[None]:
    """Let queries in a block know for which dataset they run: only then may Auto Loader write what it infers."""
    token = _place.set(Place(dataset, checkpoint, committed))
    try:
        yield
    finally:
        _place.reset(token)


def current_place() -> Place | None:
    """The dataset that is being written; None while queries are only analysed."""
    return _place.get()
