"""Methods of pyspark's classes that behave differently while a pipeline calls its user's code."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class ReplacedMethods:
    """Replaces methods while at least one thread is in a block; threads that are in none must see no difference."""

    def __init__(self, replacements: Sequence[tuple[type, str, object]]) -> None:
        """Replace nothing yet.

        Args:
            replacements: a class, the name of its method, and what takes its place.
        """
        self._replacements = replacements
        self._originals = [vars(owner)[name] for owner, name, _ in replacements]
        self._lock = threading.Lock()
        self._blocks = 0

    @contextmanager
    def replaced(self) -> Iterator[None]:
        """Have them replaced in a block."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, change: int) -> None:
        with self._lock:
            self._blocks += change
            if self._blocks == 1 and change == 1:
                for owner, name, replacement in self._replacements:
                    setattr(owner, name, replacement)
            elif self._blocks == 0:
                for (owner, name, _), original in zip(self._replacements, self._originals, strict=True):
                    setattr(owner, name, original)
