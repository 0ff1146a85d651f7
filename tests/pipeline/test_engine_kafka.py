"""Exactly once from a real Kafka to every table, whatever becomes of the broker meanwhile."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from tests.conformance.tables import read
from tests.support.small_pipeline import SmallPipeline
from tools.kafka_broker import Broker

from dlt_local import Update, UpdateFailed
from dlt_local.delta import delta_log

PATIENCE = 240.0
DOWN = 4.0
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


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        topics = [NewTopic("numbers", 3, 1), NewTopic("even", 1, 1)]
        admin = AdminClient({"bootstrap.servers": running.bootstrap})
        for made in admin.create_topics(topics).values():
            made.result(60)
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
    assert producer.flush(60) == 0


def ids(small: SmallPipeline, table: str) -> list[int]:
    folder = small.pipeline.storage.root / "tables/default" / table
    return sorted(row["id"] for row in read(folder)) if delta_log.exists(folder) else []


def until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.2)


def test_a_broker_that_goes_and_comes_back_during_an_update(broker: Broker, small: SmallPipeline) -> None:
    produce(broker, range(900))
    ended: list[Update | UpdateFailed] = []

    def run() -> None:
        try:
            ended.append(small.pipeline.run())
        except UpdateFailed as failed:
            ended.append(failed)

    running = threading.Thread(target=run)
    running.start()
    until(lambda: len(ids(small, "records")) > 100)
    broker.stop()
    assert len(ids(small, "records")) < 900, "the broker went too late to matter"
    time.sleep(DOWN)
    broker.start()
    running.join(PATIENCE)
    assert isinstance(ended[0], Update), ended
    for table in ("records", "copied", "latest"):
        assert ids(small, table) == list(range(900)), table


def test_a_continuous_update_lives_through_a_restart_of_the_broker(broker: Broker, small: SmallPipeline) -> None:
    produce(broker, range(100))
    stop = threading.Event()
    ended: list[Update] = []
    running = threading.Thread(target=lambda: ended.append(small.pipeline.run_continuously(stop, 0.5)))
    running.start()
    until(lambda: len(ids(small, "latest")) == 100)
    broker.stop()
    time.sleep(DOWN)
    broker.start()
    produce(broker, range(100, 200))
    until(lambda: len(ids(small, "latest")) == 200)
    stop.set()
    running.join(PATIENCE)
    assert ended[0].state == "COMPLETED"
    for table in ("records", "copied", "latest"):
        assert ids(small, table) == list(range(200)), table
    back = small.pipeline.spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
    sent = Counter(
        row.id for row in back.option("subscribe", "even").load().selectExpr("CAST(value AS STRING) id").collect()
    )
    # Kafka takes no part in Spark's commits: at least once, and exactly once where no batch was repeated.
    assert set(sent) == {str(number) for number in range(0, 200, 2)}
