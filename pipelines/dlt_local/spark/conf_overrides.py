"""Settings of a Spark session, for a while."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def overridden(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """The settings hold inside, and those from before hold again afterwards.

    Who shares the session sees them too: let one in at a time.
    """
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            session.conf.unset(key) if old is None else session.conf.set(key, old)
