"""Frames that a batch needs more than once."""

from contextlib import ExitStack

from pyspark.sql import DataFrame

from dlt_local.spark.jvm import release_checkpoint


class Cache:
    """Frames that are computed once and let go of together."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def keep(self, frame: DataFrame) -> DataFrame:
        """The frame, computed at most once.

        As rows, not as Spark's cache with its columns: making those costs more than all that they save here. And what
        is kept this way stands when a table that it was read from is written.
        """
        return self._keep(frame, at_once=False)

    def compute(self, frame: DataFrame) -> DataFrame:
        """The same, computed before this returns: what is observed of the frame is told then."""
        return self._keep(frame, at_once=True)

    def _keep(self, frame: DataFrame, at_once: bool) -> DataFrame:
        kept = frame.localCheckpoint(eager=at_once)
        self._stack.callback(release_checkpoint, kept)
        return kept
