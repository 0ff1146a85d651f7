"""Spark conf overrides for the duration of a block."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession


@contextmanager
def overridden(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set conf on the session inside the block, and restore the previous values after it.

    Everyone who shares the session sees the overrides, so allow one such block at a time.
    """
    before = {key: session.conf.get(key, None) for key in settings}
    for key, value in settings.items():
        session.conf.set(key, value)
    try:
        yield
    finally:
        for key, value_before in before.items():
            session.conf.unset(key) if value_before is None else session.conf.set(key, value_before)
