"""Spark's SQL executions while a test runs: what each one does, and with which settings."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Execution:
    """One SQL execution."""

    description: str
    """For an execution inside a micro-batch: the query's and the run's id, and the number of the batch."""
    plan: str
    conf: Mapping[str, str]
    """Settings that differ from those Spark was started with."""


class _Listener:
    """A `SparkListenerInterface`; events other than the start of an execution are ignored."""

    def __init__(self) -> None:
        self.executions: list[Execution] = []

    def onOtherEvent(self, event: Any) -> None:
        if event.getClass().getSimpleName() == "SparkListenerSQLExecutionStart":
            entries = event.modifiedConfigs().iterator()
            conf = {}
            while entries.hasNext():
                entry = entries.next()
                conf[entry._1()] = entry._2()
            self.executions.append(Execution(event.description(), event.physicalPlanDescription(), conf))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on"):
            return lambda event: None
        raise AttributeError(name)

    class Java:
        implements = ("org.apache.spark.scheduler.SparkListenerInterface",)


@contextmanager
def recorded(spark: SparkSession) -> Iterator[list[Execution]]:
    """The executions of a block, complete when it ends."""
    context = spark.sparkContext
    ensure_callback_server_started(context._gateway)
    listener = _Listener()
    bus = context._jsc.sc().listenerBus()
    context._jsc.sc().addSparkListener(listener)
    try:
        yield listener.executions
        bus.waitUntilEmpty()
    finally:
        context._jsc.sc().removeSparkListener(listener)
