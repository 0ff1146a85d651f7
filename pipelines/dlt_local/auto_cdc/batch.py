"""What both ways of applying a batch have in common."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dlt_local.auto_cdc import latest, newest
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.events import assembled, has_null_key, has_null_sequence
from dlt_local.auto_cdc.names import KEY, OP, ROW, SEQ, TRUNCATE
from dlt_local.auto_cdc.state import State
from dlt_local.auto_cdc.target import Target
from dlt_local.errors import FlowError


class Batch:
    """What both ways have in common."""

    def __init__(
        self,
        args: ChangeArgs,
        target: Target,
        state: State,
        batch: tuple[str, int],
        cache: Cache,
        beside: Executor,
    ) -> None:
        self.args = args
        self.target = target
        self.state = state
        self.batch = batch
        self.cache = cache
        self.beside = beside
        """For what can be done while Spark is busy: half of a small write is planning, on one core."""

    def count(self, frame: DataFrame, *what: Column) -> Mapping[str, Any]:
        """The aggregates over all rows of the frame, by their names."""
        row = frame.agg(*what).head()
        assert row is not None
        return row.asDict()

    def totals(self) -> list[Column]:
        """Aggregates over flat events: how many there are, and how many of them `refuse_nulls` is to refuse."""
        return [
            F.count(F.lit(1)).alias("events"),
            F.count_if(has_null_sequence(self.args)).alias("null_sequences"),
            F.count_if(has_null_key(self.args)).alias("null_keys"),
        ]

    def refuse_nulls(self, flat: DataFrame, null_keys: int, null_sequences: int, of: int) -> None:
        """Refuse the batch whole. Sequences are looked at first, as Spark does."""
        for count, condition, bad, what in (
            (null_sequences, "NULL_SEQUENCE", has_null_sequence(self.args), "sequence_by"),
            (null_keys, "NULL_KEY", has_null_key(self.args), f"key ({', '.join(self.args.keys)})"),
        ):
            if count:
                shown = (
                    assembled(flat.where(bad), self.args)
                    .select(F.to_json(F.struct(KEY, SEQ, ROW)).alias("e"))
                    .limit(3)
                    .collect()
                )
                examples = "".join(f"\n    {_plain(row['e'])}" for row in shown)
                raise FlowError(
                    f"AUTOCDC_MICROBATCH_VALIDATION.{condition}",
                    str(self.args.target),
                    f"{count} of {of} changes of flow `{self.args.flow}` have a null in their {what}; "
                    f"the batch is refused and {self.args.target} is as it was. For example:{examples}",
                    "give every part a value in the source (coalesce), or keep such rows out (`where`, an expectation)",
                )

    def bounds(self, sequence: Column) -> list[Column]:
        """Least and greatest sequence as aggregates, for `is_newer` and `reached`; none where Python has no order."""
        least = newest.place(F.min(sequence), self.args.sequence_type)
        greatest = newest.place(F.max(sequence), self.args.sequence_type)
        return [] if least is None or greatest is None else [least.alias("least"), greatest.alias("greatest")]

    def is_newer(self, seen: Mapping[str, Any]) -> bool:
        """True where the whole batch lies behind all that the target knows.

        Args:
            seen: what `bounds` counted.
        """
        least, known = newest.told(seen.get("least")), self.state.newest()
        return least is not None and known is not None and least > known

    def reached(self, seen: Mapping[str, Any], known: Callable[[], list[DataFrame]]) -> newest.Place | None:
        """The greatest sequence with this batch; None where it cannot be told.

        Args:
            seen: what `bounds` counted.
            known: gives frames with all sequences known so far as SEQ; asked only where no earlier batch noted its own.
        """
        greatest, noted = newest.told(seen.get("greatest")), self.state.newest()
        if greatest is None or noted is not None:
            return newest.greatest(greatest, noted)
        for frame in known():
            row = frame.agg(*self.bounds(F.col(SEQ))).head()
            if row is not None and row["greatest"]["_0"] is not None:
                greatest = newest.greatest(greatest, newest.told(row["greatest"]))
        return greatest

    def newest_truncate(self, events: DataFrame) -> DataFrame | None:
        """One row, the greatest sequence of a truncate known or new as TRUNCATED_AT; None where there never was one."""
        known = self.state.read_truncates(events.sparkSession)
        if self.args.apply_as_truncates is None and known is None:
            return None
        found = events.where(F.col(OP) == TRUNCATE).select(SEQ)
        every = found if known is None else found.unionByName(known.select(SEQ))
        return every.agg(F.max(SEQ).alias(latest.TRUNCATED_AT))

    def remember_truncates(self, events: DataFrame) -> None:
        """Keep the batch's truncates."""
        self.state.append(events.where(F.col(OP) == TRUNCATE).select(SEQ), self.state.truncates, self.batch)


def _plain(text: str) -> str:
    for own, name in ((KEY, "key"), (SEQ, "sequence"), (ROW, "row")):
        text = text.replace(own, name)
    return text
