"""Exactly once from a real Kafka to every table, even when the broker restarts during an update."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from tests.conformance.tables import read
from tests.support.small_pipeline import SmallPipeline
from tools.kafka_broker import Broker

from dlt_local import Update
from dlt_local.delta import delta_log

PATIENCE_SECONDS = 600.0
DOWN_SECONDS = 4.0
SOURCE = """
import dlt

@dlt.table
def records():
    kafka = spark.readStream.format("kafka").option("subscribe", "numbers").option("startingOffsets", "earliest")
    kafka = kafka.option("kafka.bootstrap.servers", spark.conf.get("broker")).option("maxOffsetsPerTrigger", 60)
    return kafka.load().selectExpr("CAST(CAST(value AS STRING) AS INT) AS id", "partition", "offset")

@dlt.table
def copied():
    return spark.readStream.table("records").select("id")

dlt.create_streaming_table("latest")
dlt.apply_changes(target="latest", source="records", keys=["id"], sequence_by="offset")

dlt.create_sink("back", "kafka", {"kafka.bootstrap.servers": spark.conf.get("broker"), "topic": "even"})

@dlt.append_flow(target="back")
def even():
    return spark.readStream.table("records").where("id % 2 = 0").selectExpr("CAST(id AS STRING) AS value")
"""
TABLES = ("records", "copied", "latest")


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        topics = [NewTopic("numbers", 3, 1), NewTopic("even", 1, 1)]
        admin = AdminClient({"bootstrap.servers": running.bootstrap})
        for created in admin.create_topics(topics).values():
            created.result(PATIENCE_SECONDS)
        yield running


@pytest.fixture
def small(broker: Broker, spark: SparkSession, tmp_path: Path) -> SmallPipeline:
    pipeline = SmallPipeline(tmp_path, spark, SOURCE)
    pipeline.pipeline.configuration["broker"] = broker.bootstrap
    return pipeline


def produce(broker: Broker, numbers: range) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True, "log_level": 3})
    for number in numbers:
        producer.produce("numbers", value=str(number), partition=number % 3)
    assert producer.flush(PATIENCE_SECONDS) == 0


def ids(small: SmallPipeline, table: str) -> list[int]:
    folder = small.pipeline.storage.root / "tables/default" / table
    return sorted(row["id"] for row in read(folder)) if delta_log.exists(folder) else []


def sent_back(small: SmallPipeline, broker: Broker) -> set[str]:
    reader = small.pipeline.spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
    values = reader.option("subscribe", "even").load().selectExpr("CAST(value AS STRING) AS id")
    return {row.id for row in values.collect()}


def wait_until(is_met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_met():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.2)


@contextmanager
def continuous_update(small: SmallPipeline) -> Iterator[Future[Update]]:
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        try:
            yield pool.submit(small.pipeline.run_continuously, stop, 0.5)
        finally:
            stop.set()


def test_an_update_survives_a_restart_of_the_broker(broker: Broker, small: SmallPipeline) -> None:
    produce(broker, range(900))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(small.pipeline.run)
        wait_until(lambda: running.done() or len(ids(small, "records")) > 100)
        broker.stop()
        assert len(ids(small, "records")) < 900, "the broker went too late to matter"
        time.sleep(DOWN_SECONDS)
        broker.start()
        assert running.result(PATIENCE_SECONDS).state == "COMPLETED"
    for table in TABLES:
        assert ids(small, table) == list(range(900)), table


def test_a_continuous_update_survives_a_restart_of_the_broker(broker: Broker, small: SmallPipeline) -> None:
    produce(broker, range(100))
    with continuous_update(small) as running:
        wait_until(lambda: running.done() or len(ids(small, "latest")) == 100)
        broker.stop()
        time.sleep(DOWN_SECONDS)
        broker.start()
        produce(broker, range(100, 200))
        wait_until(lambda: running.done() or len(ids(small, "latest")) == 200)
    assert running.result().state == "COMPLETED"
    for table in TABLES:
        assert ids(small, table) == list(range(200)), table
    # Kafka takes no part in Spark's commits, so a batch that was repeated is sent twice: at least once.
    assert sent_back(small, broker) == {str(number) for number in range(0, 200, 2)}
