"""Which session user code finds when it asks pyspark for one: inside a pipeline, the pipeline's.

pyspark keeps the session that it finds in a class attribute, one for the process, so helpers of a pipeline would get
another one than its source files. Threads of other pipelines, and of the program around them, see no difference.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pyspark.sql import SparkSession

from dlt_local.spark import jvm, query_calls
from dlt_local.spark.replaced_methods import ReplacedMethods

_session: ContextVar[SparkSession | None] = ContextVar("session", default=None)
_get_active = SparkSession.__dict__["getActiveSession"]
_get_or_create = SparkSession.Builder.getOrCreate


@contextmanager
def found_in_this_thread(session: SparkSession) -> Iterator[None]:
    """Let `SparkSession.getActiveSession()`, `active()` and `builder.getOrCreate()` return ``session`` in a block."""
    token = _session.set(session)
    try:
        with _LOOKUPS.replaced():
            yield
    finally:
        _session.reset(token)


def _found(cls: type[SparkSession]) -> SparkSession | None:
    session = _session.get()
    found: SparkSession | None = _get_active.__get__(None, cls)() if session is None else session
    return found


def _found_or_created(builder: SparkSession.Builder) -> SparkSession:
    session = _session.get()
    if session is None:
        return _get_or_create(builder)
    call = query_calls.current()
    if call is not None and any(_changes(session, key, value) for key, value in jvm.options(builder).items()):
        call.make()
    jvm.apply_options(session, builder)
    return session


def _changes(session: SparkSession, key: str, value: object) -> bool:
    return session.conf.isModifiable(key) and session.conf.get(key, None) != str(value)


_LOOKUPS = ReplacedMethods(
    [
        (SparkSession, "getActiveSession", classmethod(_found)),
        (SparkSession.Builder, "getOrCreate", _found_or_created),
    ]
)
