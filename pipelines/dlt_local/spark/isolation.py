"""A Spark session that belongs to one pipeline: its own catalog, conf and temporary views."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from dlt_local.errors import SetupError
from dlt_local.spark import jvm
from dlt_local.spark.catalog import LIVE
from dlt_local.spark.jvm.sessions import S
from dlt_local.spark.session_lookup import found_in_this_thread

# A column of many distinct values abandons its dictionary once that is full, and looks up each value in it until then:
# with Parquet's default of a megabyte, a third of the time of a write. A column of few values fits into this.
_DICTIONARY = ("parquet.dictionary.page.size", str(128 * 1024))
_STATE_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_DELTA = "io.delta.sql.DeltaSparkSessionExtension"


def isolated_session(base: SparkSession, configuration: Mapping[str, str], scratch: Path, kind: type[S]) -> S:
    """A session on the Spark context of ``base`` with its own catalog, conf and temporary views.

    Args:
        base: the session whose SQL conf is copied.
        configuration: conf set on top of that.
        scratch: the location of the catalog's default schema, which Spark creates; otherwise in the working directory.
        kind: the session's class.

    Raises:
        SetupError: ``base`` has no Delta Lake.
    """
    if _DELTA not in (base.conf.get("spark.sql.extensions", None) or ""):
        message = "the Spark session given to the pipeline has no Delta Lake"
        fix = (
            f"build it with spark.sql.extensions={_DELTA} and\n"
            "       spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog,\n"
            "       or leave `spark` out: dlt_local creates one"
        )
        raise SetupError("NO_DELTA_LAKE", "", message, fix)
    inherited = {k: v for k, v in base.conf.getAll.items() if k.startswith(("spark.sql.", "spark.databricks."))}
    isolated = {
        # As Databricks' pipelines have it; transformWithState needs it. A stream with a checkpoint keeps what it has.
        "spark.sql.streaming.stateStore.providerClass": _STATE_STORE,
        "spark.sql.warehouse.dir": str(scratch),
        # The database of global temporary views: as one of them, a view has a name under LIVE too.
        "spark.sql.globalTempDatabase": LIVE,
    }
    jvm.call_java_less(base)
    session = jvm.new_session(base, inherited | isolated, kind)
    session.conf.set(_DICTIONARY[0], str(base.conf.get(*_DICTIONARY)))
    for key, value in configuration.items():
        session.conf.set(key, value)
    return session


def reconfigure(
    session: SparkSession, base: SparkSession, before: Mapping[str, str], configuration: Mapping[str, str]
) -> None:
    """Give a session another configuration of its pipeline; what is gone from it is as in the base session again."""
    for key in before.keys() - configuration.keys():
        inherited = base.conf.get(key, None)
        if inherited is None:
            session.conf.unset(key)
        else:
            session.conf.set(key, inherited)
    for key, value in configuration.items():
        if before.get(key) != value:
            session.conf.set(key, value)


def restore_settings(session: SparkSession, before: Mapping[str, str]) -> None:
    """Undo the conf changes that source files made, so that every update starts from the same conf."""
    now = dict(session.conf.getAll)
    for key in now.keys() - before.keys():
        session.conf.unset(key)
    for key, value in before.items():
        if now.get(key) != value:
            session.conf.set(key, value)


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make ``session`` the one that Spark, and whoever asks pyspark for a session, finds in this thread.

    Also silences pyspark's JSON log line for each failed `spark.sql`: resolving a graph makes queries fail on purpose.
    """
    # A logger of pyspark's own class: if this is its first use, a plain one of that name would break pyspark's later.
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    disabled_before = logger.disabled
    with jvm.active_session(session), found_in_this_thread(session):
        logger.disabled = True
        try:
            yield
        finally:
            logger.disabled = disabled_before
