"""Which session user code finds when it asks pyspark for one: inside a pipeline, the pipeline's.

pyspark keeps the session that it finds in a class attribute, one for the process, so helpers of a pipeline would get
another one than its source files. Threads of other pipelines, and of the program around them, see no difference.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pyspark.sql import SparkSession

from dlt_local.spark import jvm

_session: ContextVar[SparkSession | None] = ContextVar("session", default=None)
_lock = threading.Lock()
_blocks = 0
_get_active = SparkSession.__dict__["getActiveSession"]
_get_or_create = SparkSession.Builder.getOrCreate


@contextmanager
def found_in_this_thread(session: SparkSession) -> Iterator[None]:
    """Let `SparkSession.getActiveSession()`, `active()` and `builder.getOrCreate()` return ``session`` in a block."""
    token = _session.set(session)
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        _session.reset(token)


def _count(change: int) -> None:
    """Replace the methods of pyspark while at least one thread is in such a block."""
    global _blocks
    with _lock:
        _blocks += change
        if _blocks == 1 and change == 1:
            SparkSession.getActiveSession = classmethod(_found)  # type: ignore[method-assign, assignment]
            SparkSession.Builder.getOrCreate = _found_or_created  # type: ignore[method-assign, assignment]
        elif _blocks == 0:
            SparkSession.getActiveSession = _get_active  # type: ignore[method-assign]
            SparkSession.Builder.getOrCreate = _get_or_create  # type: ignore[method-assign]


def _found(cls: type[SparkSession]) -> SparkSession | None:
    session = _session.get()
    found: SparkSession | None = _get_active.__get__(None, cls)() if session is None else session
    return found


def _found_or_created(builder: SparkSession.Builder) -> SparkSession:
    session = _session.get()
    if session is None:
        return _get_or_create(builder)
    jvm.apply_options(session, builder)
    return session
