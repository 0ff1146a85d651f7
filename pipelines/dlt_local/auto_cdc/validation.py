"""What is measured of a batch before anything is written, and the refusal of one with nulls in key or sequence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import assembled, has_null_key, has_null_sequence, sequence
from dlt_local.auto_cdc.high_watermark import SequenceRange, range_aggregates, range_of
from dlt_local.auto_cdc.names import KEY, OP, ROW, SEQ, TRUNCATE
from dlt_local.errors import FlowError


@dataclass(frozen=True)
class BatchStatistics:
    """A batch in numbers; events of the source."""

    events: int
    """All of them, truncates included."""
    truncates: int = 0
    null_keys: int = 0
    null_sequences: int = 0
    sequences: SequenceRange = field(default_factory=SequenceRange)
    duplicates: int = 0
    """Events delivered more than once in this batch, as far as preparing it shows."""
    ties: int = 0
    """Different events with the same key and sequence, likewise."""


@dataclass(frozen=True)
class Batch:
    """A microbatch, prepared and measured."""

    flat: DataFrame
    """Its flat events."""
    statistics: BatchStatistics


def aggregated(frame: DataFrame, *what: Column) -> Mapping[str, Any]:
    """Aggregates over all rows of the frame, by name."""
    row = frame.agg(*what).head()
    assert row is not None
    return row.asDict()


def null_aggregates(args: ChangeArgs) -> list[Column]:
    """Aggregates over flat events: how many there are, and how many have a null in key or sequence."""
    return [
        F.count(F.lit(1)).alias("events"),
        F.count_if(has_null_key(args)).alias("null_keys"),
        F.count_if(has_null_sequence(args)).alias("null_sequences"),
    ]


def batch_aggregates(args: ChangeArgs) -> list[Column]:
    """Aggregates over flat events, of which `statistics_of` makes the batch's statistics."""
    truncates = F.count_if(F.col(OP) == TRUNCATE).alias("truncates")
    return [*null_aggregates(args), truncates, *range_aggregates(sequence(args), args.sequence_type)]


def statistics_of(found: Mapping[str, Any]) -> BatchStatistics:
    """The statistics of flat events, from the `batch_aggregates` of them."""
    return BatchStatistics(
        events=found["events"],
        truncates=found["truncates"],
        null_keys=found["null_keys"],
        null_sequences=found["null_sequences"],
        sequences=range_of(found),
    )


def validate(batch: Batch, args: ChangeArgs) -> None:
    """Refuse the whole batch if a key or a sequence is null. Sequences are checked first, as Spark does.

    Raises:
        FlowError: which part is null, in how many events, and three of them.
    """
    statistics = batch.statistics
    if statistics.null_sequences:
        _refuse(batch, args, "NULL_SEQUENCE", statistics.null_sequences)
    if statistics.null_keys:
        _refuse(batch, args, "NULL_KEY", statistics.null_keys)


def _refuse(batch: Batch, args: ChangeArgs, condition: str, count: int) -> None:
    is_sequence = condition == "NULL_SEQUENCE"
    is_bad = has_null_sequence(args) if is_sequence else has_null_key(args)
    where = "sequence_by" if is_sequence else f"key ({', '.join(args.keys)})"
    example = F.to_json(F.struct(F.col(KEY).alias("key"), F.col(SEQ).alias("sequence"), F.col(ROW).alias("row")))
    shown = assembled(batch.flat.where(is_bad), args).select(example.alias("example")).limit(3).collect()
    raise FlowError(
        f"AUTOCDC_MICROBATCH_VALIDATION.{condition}",
        str(args.target),
        f"{count} of {batch.statistics.events} changes of flow `{args.flow}` have a null in their {where}; "
        f"the batch is refused and {args.target} is unchanged. For example:"
        + "".join(f"\n    {row['example']}" for row in shown),
        "give every part a value in the source (coalesce), or filter such rows out (`where`, an expectation)",
    )
