"""Frames that a batch needs more than once."""

from contextlib import ExitStack

from pyspark.sql import DataFrame

from dlt_local.spark.jvm import release_checkpoint


class Cache:
    """Frames that are computed once and released together."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def keep(self, frame: DataFrame) -> DataFrame:
        """The frame, computed at most once.

        Kept as rows: converting them to the columns of Spark's cache costs more than it saves here. And unlike a
        cached frame, it is not recomputed when a table that it was read from is written.
        """
        return self._keep(frame, at_once=False)

    def compute(self, frame: DataFrame) -> DataFrame:
        """The same, computed before this returns, so what is observed of the frame is known."""
        return self._keep(frame, at_once=True)

    def _keep(self, frame: DataFrame, at_once: bool) -> DataFrame:
        kept = frame.localCheckpoint(eager=at_once)
        self._stack.callback(release_checkpoint, kept)
        return kept
