"""Spark's sessions, and the one that is active in a thread."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.conf import RuntimeConfig

from dlt_local.spark.jvm.gateway import java_class, static
from dlt_local.spark.jvm.plans import analyzed_plan

S = TypeVar("S", bound=SparkSession)
_BETWEEN, _ARROW = "\x1e", " -> "
"""Between the entries of a Scala Map as text; in one between key and value."""


def new_session(base: SparkSession, options: Mapping[str, str], kind: type[S]) -> S:
    """A session of class ``kind`` on the Spark context of ``base``, with a catalog and a shared state of its own."""
    context = base.sparkContext._jsc.sc()
    java_options = java_class(base, "java.util.HashMap")()
    for key, value in options.items():
        java_options[key] = value
    # newSession() would share the catalog.
    java_session = java_class(base, "org.apache.spark.sql.classic.SparkSession")(context, java_options)
    # Each shared state adds a listener that keeps the plans of every query in the process, for a UI that is off. They
    # would pile up, one for each pipeline.
    listener = java_session.sharedState().statusStore().listener()
    if listener.isDefined():
        context.listenerBus().removeListener(listener.get())
    return kind(base.sparkContext, java_session)


class Conf(RuntimeConfig):
    """A session's conf that is listed in two calls of Java, where pyspark makes two for each of its entries."""

    @property
    def getAll(self) -> dict[str, str]:
        """All settings."""
        entries = self._jconf.getAll()
        listed = [entry.split(_ARROW, 1) for entry in str(entries.mkString(_BETWEEN)).split(_BETWEEN)]
        if len(listed) != entries.size() or any(len(each) != 2 for each in listed):
            return super().getAll
        return {key: value for key, value in listed}


def use_conf(session: SparkSession, kind: type[Conf]) -> None:
    """Let a session's ``conf`` be of this class."""
    # It is a cached property.
    vars(session)["conf"] = kind(session._jsparkSession.conf())


def options(builder: SparkSession.Builder) -> Mapping[str, str]:
    """The options of a session builder."""
    return dict(builder._options)


def apply_options(session: SparkSession, builder: SparkSession.Builder) -> None:
    """Set the options of a session builder on an existing session, as Spark does: those that can be changed."""
    assert session._jvm is not None
    module = SparkSession._get_j_spark_session_module(session._jvm)
    module.applyModifiableSettings(session._jsparkSession, options(builder))


def cloned(session: SparkSession) -> SparkSession:
    """A copy of a session, with the same catalog and a conf of its own."""
    return SparkSession(session.sparkContext, session._jsparkSession.cloneSession())


def in_cloned_session(frame: DataFrame) -> DataFrame:
    """The same query in a copy of its session, which shares the catalog but not the conf."""
    session = frame.sparkSession
    java_session = session._jsparkSession.cloneSession()
    dataset = static(session, "org.apache.spark.sql.classic.Dataset.ofRows")(java_session, analyzed_plan(frame))
    return DataFrame(dataset, SparkSession(session.sparkContext, java_session))


def end_java(session: SparkSession) -> None:
    """Stop Spark and wait until Java has ended; this Python process cannot start it again."""
    gateway = session.sparkContext._gateway
    session.stop()
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Make ``session`` the active one of this thread for the duration of a block."""
    companion = "org.apache.spark.sql.SparkSession"
    before = static(session, f"{companion}.getActiveSession")()
    static(session, f"{companion}.setActiveSession")(session._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            static(session, f"{companion}.setActiveSession")(before.get())
        else:
            static(session, f"{companion}.clearActiveSession")()


def callback_connection(session: SparkSession) -> Any:
    """The connection over which the JVM thread that called this Python thread calls Python; None where there is none.

    Call it in a callback. The JVM keeps one for each of its threads, and a Python thread and two sockets with it, for
    as long as the process lives: `close_callback_connection` ends them when the JVM's thread has ended.
    """
    gateway = session.sparkContext._gateway
    return None if gateway is None else gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()


def close_callback_connection(connection: Any) -> None:
    """Close a connection, which ends the Python thread that waits for its next call."""
    connection.shutdown()
