"""The result of one measure: seconds of the pipeline and of its peer, and the goal for their ratio."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Goal:
    """What the ratio of two times should be; ``limit`` is None if nothing is aimed at."""

    text: str
    limit: float | None
    is_speed: bool
    """True: the ratio is the peer's time over ours, so more is better. False: ours over the peer's, less is better."""


def as_fast(limit: float) -> Goal:
    """At least so many times as fast as the peer."""
    return Goal(f"{limit} x as fast", limit, is_speed=True)


def at_most(limit: float) -> Goal:
    """At most so many times the peer's time."""
    return Goal(f"at most {limit} x its time", limit, is_speed=False)


def no_goal(*, is_speed: bool) -> Goal:
    """No goal: the measure is there for comparison."""
    return Goal("none: for comparison", None, is_speed)


@dataclass(frozen=True)
class Times:
    """Seconds of each round; ours and the peer's rounds alternate."""

    ours: tuple[float, ...]
    peers: tuple[float, ...]


@dataclass(frozen=True)
class Result:
    """One measure beside its peer."""

    measure: str
    peer: str
    goal: Goal
    times: Times
    rows: int = 0
    """Input rows; 0 if a rate would mean nothing."""
    notes: tuple[str, ...] = ()
    """Sentences for the page, with figures that have no peer."""

    @property
    def ours(self) -> float:
        """Our median, in seconds."""
        return median(self.times.ours)

    @property
    def peers(self) -> float:
        """The peer's median, in seconds."""
        return median(self.times.peers)

    @property
    def ratio(self) -> float:
        """The ratio of the medians, in the direction of the goal."""
        return self.peers / self.ours if self.goal.is_speed else self.ours / self.peers

    @property
    def rows_a_second_and_core(self) -> float:
        """Our rate."""
        return self.rows / self.ours / (os.cpu_count() or 1)

    @property
    def is_reached(self) -> bool | None:
        """Whether the goal is reached; None if there is none."""
        if self.goal.limit is None:
            return None
        return self.ratio >= self.goal.limit if self.goal.is_speed else self.ratio <= self.goal.limit

    def as_json(self) -> Mapping[str, object]:
        """The result in performance.json."""
        return {
            "measure": self.measure,
            "peer": self.peer,
            "goal": self.goal.text,
            "ours": self.times.ours,
            "peers": self.times.peers,
            "is_faster_goal": self.goal.is_speed,
            "limit": self.goal.limit,
            "rows": self.rows,
            "notes": self.notes,
            "ratio": self.ratio,
            "is_reached": self.is_reached,
        }
