"""`read` and `read_stream`: the pipeline's datasets inside a query."""

from pyspark.sql import DataFrame

from dlt_local.declarations.registry import current


def read(name: str) -> DataFrame:
    """All rows of a dataset of this pipeline."""
    return current().spark.read.table(without_live(name))


def read_stream(name: str) -> DataFrame:
    """A dataset of this pipeline as a stream of its new rows."""
    return current().spark.readStream.table(without_live(name))


readStream = read_stream


def without_live(name: str) -> str:
    """The name without the prefix `LIVE.`, an older way to name a dataset of this pipeline.

    >>> without_live("LIVE.orders")
    'orders'
    """
    return name[len("live.") :] if name.lower().startswith("live.") else name
