"""Spark's sessions, and the one that is active in a thread."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.catalog import Catalog
from pyspark.sql.conf import RuntimeConfig

from dlt_local.spark.jvm.catalog import name_session_catalog
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


class CopiedSession(SparkSession):
    """A session in whose place a block of a thread can use a copy of it; source files have one `spark` for all."""

    def __init__(self, context: SparkContext, java_session: Any) -> None:
        super().__init__(context, java_session)
        self._conf = Conf(self)
        self._catalog_names: dict[str, None] = {}
        self._by_conf: dict[frozenset[tuple[str, str]], SparkSession] = {}
        """For queries with conf of their own."""

    @property
    def _jsparkSession(self) -> Any:
        copy = _copy.get()
        return self._java if copy is None or copy.java is None or copy.session is not self else copy.java

    @_jsparkSession.setter
    def _jsparkSession(self, java_session: Any) -> None:
        self._java = java_session

    @property
    def conf(self) -> RuntimeConfig:
        """The conf of the session, or of its copy."""
        return self._conf

    @property
    def catalog(self) -> Catalog:
        """The catalog of the session, or of its copy."""
        return super().catalog if self._jsparkSession is self._java else Catalog(self)

    def name_catalog(self, name: str) -> None:
        """Give the catalog a second name: `<name>.schema.table` is `schema.table` from now on."""
        self._catalog_names[name] = None
        name_session_catalog(self._java, name)

    def forget_copies(self) -> None:
        """Let later queries have none of the sessions that queries with conf of their own have run in.

        They have the functions of their time.
        """
        bus = self.sparkContext._jsc.sc().listenerBus()
        for session in self._by_conf.values():
            manager = session._jsparkSession.sessionState().streamingQueryManager()
            # Otherwise Spark keeps the listener of its streams for good. There is no public way.
            field = manager.getClass().getDeclaredField("listenerBus")
            field.setAccessible(True)
            bus.removeListener(field.get(manager))
        self._by_conf.clear()


class Copy:
    """What a block uses in a session's place: the session itself, until it needs a copy."""

    def __init__(self, session: CopiedSession) -> None:
        self.session = session
        self.java: Any = None

    def make(self) -> None:
        """Use a copy from now on, with the catalog, the conf, the temporary views and functions of the session."""
        if self.java is None:
            self.java = self.session._java.cloneSession()
            # Spark copies all but these.
            for name in self.session._catalog_names:
                name_session_catalog(self.java, name)

    def moved(self, frame: DataFrame) -> DataFrame:
        """The same query in the copy, with whose names and conf it goes on."""
        return DataFrame(_moved(frame, self.java), self.session)

    def result(self, frame: DataFrame) -> DataFrame:
        """The same query, which no longer needs the copy, in a session with its conf."""
        if self.java is None:
            return frame
        conf = _settings(self.java.conf())
        if conf == _settings(self.session._java.conf()):
            return DataFrame(_moved(frame, self.session._java), self.session)
        # Each session that has run a stream listens to all events of Spark, so sessions of the same conf are one.
        copy = SparkSession(self.session.sparkContext, self.java)
        session = self.session._by_conf.setdefault(frozenset(conf.items()), copy)
        return in_session(frame, session)


_copy: ContextVar[Copy | None] = ContextVar("copy", default=None)


@contextmanager
def copied_on_demand(copy: Copy | None) -> Iterator[None]:
    """Let this thread use a copy of a session in a block, once it is made; with None, no copy whatever is around it."""
    token = _copy.set(copy)
    try:
        yield
    finally:
        _copy.reset(token)


def current_copy() -> Copy | None:
    """What `copied_on_demand` has for this thread."""
    return _copy.get()


class Conf(RuntimeConfig):
    """The conf of a session, or of the copy that this thread uses in its place."""

    def __init__(self, session: CopiedSession) -> None:
        super().__init__(session._java.conf())
        self._session = session

    @property
    def _jconf(self) -> Any:
        java_session = self._session._jsparkSession
        return self._of_session if java_session is self._session._java else java_session.conf()

    @_jconf.setter
    def _jconf(self, java_conf: Any) -> None:
        self._of_session = java_conf

    @property
    def getAll(self) -> dict[str, str]:
        """All settings."""
        return _settings(self._jconf)

    def set(self, key: str, value: str | int | bool) -> None:
        """Set it; a block that may use a copy does from then on."""
        if (copy := _copy.get()) is not None:
            copy.make()
        super().set(key, value)

    def unset(self, key: str) -> None:
        """Unset it, likewise."""
        if (copy := _copy.get()) is not None:
            copy.make()
        super().unset(key)


def _settings(java_conf: Any) -> dict[str, str]:
    """All settings in two calls of Java; pyspark makes two for each of them."""
    entries = java_conf.getAll()
    listed = [entry.split(_ARROW, 1) for entry in str(entries.mkString(_BETWEEN)).split(_BETWEEN)]
    if len(listed) != entries.size() or any(len(each) != 2 for each in listed):
        return RuntimeConfig(java_conf).getAll
    return {key: value for key, value in listed}


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
    return in_session(frame, cloned(frame.sparkSession))


def in_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same query in another session; itself if that is its own."""
    return frame if frame.sparkSession is session else DataFrame(_moved(frame, session._jsparkSession), session)


def _moved(frame: DataFrame, java_session: Any) -> Any:
    """Java's object of the same query in another session."""
    of_rows = static(frame.sparkSession, "org.apache.spark.sql.classic.Dataset.ofRows")
    return of_rows(java_session, analyzed_plan(frame))


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
