"""The Spark session that a pipeline runs on unless its user provides one."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.spark import class_archive, jvm
from dlt_local.spark.jars import is_fetched, jars, java
from dlt_local.spark.stderr import without_java_warnings
from dlt_local.spark.temporary import folder_of_process

_QUIET = f"-Dlog4j2.configurationFile=file:{Path(__file__).with_name('log4j2.properties')}"

# The optimizing compiler starts at ten times the calls of Java's default thresholds, which only large data reaches. At
# the defaults it competes with small runs for the cores; without it decoding large data is three times as slow.
_COMPILERS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000 -XX:ReservedCodeCacheSize=256m"
)
# Heap and class space start at full size: growing to what planning needs took 350 collections instead of 130, and each
# growth for a large batch is a full collection.
_HEAP = "-XX:+UseSerialGC -Xms{memory} -XX:NewRatio=2 -XX:MetaspaceSize=256m"

# A killed JVM leaves its folders and unpacked libraries behind. Here the next process finds and removes them.
_TEMPORARY = "-Djava.io.tmpdir={0}"

SMALL_DATA = {
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    # By default Spark allocates 64 MB for each sort and each hash table, however small, which soon fills the heap.
    "spark.buffer.pageSize": "2m",
    # For a few thousand rows, generating and compiling a query's Java classes costs more than interpreting it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Spark retains the history that a UI would show even when the UI is off.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.session.timeZone": "UTC",
    # A large batch needs two sets of forty generated classes, and Spark caches a hundred for all queries together.
    # Generated again in each update, they also have to warm up again: two fifths of an update's work.
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    # Otherwise each column operation costs three calls to the JVM to record its place in the user's code.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Driver and executor are one process: after the machine has slept, a missed heartbeat means nothing.
    "spark.executor.heartbeatInterval": "1h",
    "spark.network.timeout": "24h",
    # By default both use Hadoop's FileContext, which starts a process eight times for each file it renames.
    # These also look whether a commit exists before they rename; one process at a time writes to a storage.
    "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    **SMALL_DATA,
}


def without_optimizing_compiler() -> None:
    """Let the next session, and those of processes started from here, do without Java's optimizing compiler.

    Many small queries take a fifth less time then, because profiling for that compiler costs more than it saves; large
    data takes three times as long. Options of a user's own in SPARK_SUBMIT_OPTS stay.
    """
    os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")


def create_session(
    settings: Mapping[str, str] | None = None, *, archive_classes_to: Path | None = None
) -> SparkSession:
    """A local Spark session with Delta Lake and the Kafka source: a new one, or the one running in this process.

    Args:
        settings: Spark conf on top of the defaults, such as ``{"spark.master": "local[4]"}``.
        archive_classes_to: where Java, when it ends, writes an archive of the classes that it has loaded.

    Raises:
        JavaMissing: there is no Java 17 or newer.
        JarsNotFetched: the jars of Delta and Kafka are not cached and could not be fetched.
    """
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Workers of another Python, or without the packages of this one, would fail at the first Python function.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("JAVA_HOME", os.path.dirname(os.path.dirname(os.path.realpath(java()))))
    if not is_fetched("spark"):
        print("fetching the jars of Delta Lake and Kafka for Spark (23 MB, once)", file=sys.stderr)
    builder = SparkSession.builder.master("local[*]").appName("dlt_local")
    required = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.driver.memory": os.environ.get("DLT_LOCAL_DRIVER_MEMORY", "3g"),
    }
    conf = _DEFAULTS | required | dict(settings or {})
    # On Java's own class path, since driver and executor would each load the classes of `spark.jars` on their own.
    class_path = [*map(str, jars("spark")), *filter(None, [conf.get("spark.driver.extraClassPath")])]
    conf["spark.driver.extraClassPath"] = os.pathsep.join(class_path)
    heap = _HEAP.format(memory=conf["spark.driver.memory"])
    classes = class_archive.writing(archive_classes_to) if archive_classes_to else class_archive.loading()
    java_options = f"{_COMPILERS} {heap} {_QUIET} {_TEMPORARY.format(folder_of_process())} {classes}"
    for key, value in ({"spark.driver.extraJavaOptions": java_options} | conf).items():
        builder = builder.config(key, value)
    with without_java_warnings():
        session = builder.getOrCreate()
    jvm.call_java_less(session)
    return session
