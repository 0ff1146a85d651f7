"""The Spark session that a pipeline runs on when its user brings none."""

import os
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.spark.jars import jars, java

_QUIET = f"-Dlog4j2.configurationFile=file:{Path(__file__).with_name('log4j2.properties')}"

# What runs ten times as often as Java's own threshold says is worth the second compiler: that much only large data
# does. With the usual thresholds it competes with every test for the cores; without it decoding is three times as slow.
_COMPILERS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000 -XX:ReservedCodeCacheSize=256m"
)
# Heap and class space have their size from the beginning: growing to what planning fills at once took 350 collections,
# not 130, and each growth for a large batch is a collection of the whole heap.
_HEAP = "-XX:+UseSerialGC -Xms{memory} -XX:NewRatio=2 -XX:MetaspaceSize=256m"

SMALL_DATA = {
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    # Left alone Spark takes 64 MB at once for each sort and each hash table, however small: a full heap in no time.
    "spark.buffer.pageSize": "2m",
    # Each query's own Java classes cost more to make than a few thousand rows cost without them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # What a UI would show of the past is kept even where there is none.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.session.timeZone": "UTC",
    # Spark keeps a hundred of the Java classes that it makes for queries, and a large batch needs forty, twice over.
    # Made anew for each update, they also have to be compiled again before they are fast: two fifths of its work.
    "spark.sql.codegen.cache.maxEntries": "2000",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    # For each column operation pyspark would ask the JVM three times where in the user's code it stands.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Driver and executor are one process: a machine that slept has lost nothing.
    "spark.executor.heartbeatInterval": "1h",
    "spark.network.timeout": "24h",
    **SMALL_DATA,
}


def create_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """A local Spark session with Delta Lake and the Kafka source, made or already running in this process.

    Args:
        settings: Spark settings over the defaults, such as ``{"spark.master": "local[4]"}``.

    Raises:
        JavaMissing: no Java 17 or newer.
        JarsNotFetched: Delta's and Kafka's jars are not in the cache and could not be fetched.
    """
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("JAVA_HOME", os.path.dirname(os.path.dirname(os.path.realpath(java()))))
    # Python workers are not needed: nothing here runs Python on data. The driver is this very process.
    builder = SparkSession.builder.master("local[*]").appName("dlt_local")
    own = {
        "spark.jars": ",".join(map(str, jars("spark"))),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.driver.memory": os.environ.get("DLT_LOCAL_DRIVER_MEMORY", "3g"),
    }
    wanted = _DEFAULTS | own | dict(settings or {})
    heap = _HEAP.format(memory=wanted["spark.driver.memory"])
    for key, value in ({"spark.driver.extraJavaOptions": f"{_COMPILERS} {heap} {_QUIET}"} | wanted).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
