"""Frames that a batch needs more than once."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from pyspark.sql import Column, DataFrame, Observation

from dlt_local.auto_cdc.validation import aggregated
from dlt_local.spark.jvm import is_empty, release_checkpoint
from dlt_local.spark.tuning import is_for_small_data


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

    def measured(
        self, frame: DataFrame, *what: Column, is_observed: bool = False
    ) -> tuple[DataFrame, Mapping[str, Any]]:
        """The frame, computed, and aggregates over all of its rows, by name.

        Args:
            frame: the frame.
            what: named aggregates.
            is_observed: something else is observed of the frame.
        """
        # While few rows are computed, Spark aggregates them in less time than a query of its own takes; of many, it
        # would evaluate the aggregates without generated code.
        if is_for_small_data(frame.sparkSession):
            totals = Observation()
            kept = self.compute(frame.observe(totals, *what))
            if not is_empty(totals):
                return kept, totals.get
        else:
            kept = self.compute(frame) if is_observed else self.keep(frame)
        return kept, aggregated(kept, *what)

    def _keep(self, frame: DataFrame, at_once: bool) -> DataFrame:
        kept = frame.localCheckpoint(eager=at_once)
        self._stack.callback(release_checkpoint, kept)
        return kept
