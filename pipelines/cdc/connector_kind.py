"""The kind of a connector with `kind: auto`: what the first of its records in the pipeline's source says it is."""

from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc.credentials import secret_reader
from cdc.records import batch
from cdc.spec.topics import pattern_of

_PATHS = ("$.source.connector", "$.payload.source.connector", "$.iodebeziumconnector")
"""Where a record names its connector: in an envelope with or without a schema block, in a CloudEvent."""


@dataclass(frozen=True)
class KindInSource:
    """Finds the kind in the source of a session's pipeline; two of one source are equal."""

    source: str
    """The setting ``cdc.source``."""
    spark: SparkSession = field(compare=False, repr=False)

    def __call__(self, topic_prefix: str) -> str | None:
        """The kind of the connector with this prefix; None if the source has no record yet that names one."""
        return _found(first_kind(batch(self.spark, pattern_of(topic_prefix), secret_reader({}))))


def first_kind(records: DataFrame) -> DataFrame:
    """What the first record that names its connector calls it.

    Grain: one row, or none. Columns: `kind`, in lower case.
    """
    return records.select(connector_of(F.col("value")).alias("kind")).where(F.col("kind").isNotNull()).limit(1)


def connector_of(value: Column) -> Column:
    """What a record's value calls the kind of its connector, in lower case; null if it does not.

    >>> evaluate(connector_of(F.lit('{"op": "c", "source": {"connector": "postgresql", "lsn": 1}}')))
    'postgresql'
    >>> evaluate(connector_of(F.lit('{"id": 1, "__op": "c"}')))
    """
    text = value.cast("string")
    return F.lower(F.coalesce(*(F.get_json_object(text, path) for path in _PATHS)))


def _found(kinds: DataFrame) -> str | None:
    row = kinds.first()
    return None if row is None else str(row["kind"])
