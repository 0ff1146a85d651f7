"""What changes at the broker: each change of a topic is found before a batch is written, or the rows are right."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic
from pyspark.sql import SparkSession
from tests.conformance.tables import read
from tests.pipeline.test_continuous import Continuous
from tests.support.small_pipeline import SmallPipeline
from tools.kafka_broker import Broker

from dlt_local import Update, UpdateFailed
from dlt_local.delta import delta_log

PATIENCE_SECONDS = 120.0
ANSWER_SECONDS = 40.0
"""20 for Kafka's answer, the rest for an update on a busy machine; Spark's own clients take minutes."""
SOURCE = """
import dlt

def stream(topic):
    kafka = spark.readStream.format("kafka").option("subscribe", topic).option("startingOffsets", "earliest")
    kafka = kafka.option("kafka.bootstrap.servers", spark.conf.get("broker"))
    if login := spark.conf.get("login", None):
        kafka = kafka.option("kafka.security.protocol", "SASL_PLAINTEXT").option("kafka.sasl.mechanism", "PLAIN")
        kafka = kafka.option("kafka.sasl.jaas.config", login)
    kafka = kafka.option("failOnDataLoss", spark.conf.get("failOnDataLoss", "true"))
    return kafka.load().selectExpr("CAST(CAST(value AS STRING) AS INT) AS id", "partition", "offset")

@dlt.table
def numbers():
    return stream(spark.conf.get("topic"))

@dlt.table
def others():
    return spark.readStream.schema("id INT").json(spark.conf.get("rows"))

@dlt.table
def copied():
    return spark.readStream.table("numbers").select("id")
"""


class Topics:
    """The topics of a broker, as their owner changes them."""

    def __init__(self, broker: Broker) -> None:
        self.bootstrap = broker.bootstrap
        self.with_login = broker.with_login
        self._admin = AdminClient({"bootstrap.servers": broker.bootstrap})

    def create(self, name: str, partitions: int = 1) -> None:
        self._admin.create_topics([NewTopic(name, partitions, 1)])[name].result(PATIENCE_SECONDS)

    def delete(self, name: str) -> None:
        self._admin.delete_topics([name])[name].result(PATIENCE_SECONDS)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while name in self._admin.list_topics(timeout=PATIENCE_SECONDS).topics:
            assert time.monotonic() < deadline
            time.sleep(0.1)

    def expire(self, name: str, partition: int, before: int) -> None:
        """Delete the records before an offset, as retention does."""
        place = TopicPartition(name, partition, before)
        self._admin.delete_records([place])[place].result(PATIENCE_SECONDS)

    def grant_reading(self, name: str, user: str) -> None:
        """What the message of a refusal says: DESCRIBE and READ on the topic, READ on consumer groups."""
        allowed = AclPermissionType.ALLOW
        wanted = [
            (ResourceType.TOPIC, name, ResourcePatternType.LITERAL, AclOperation.DESCRIBE),
            (ResourceType.TOPIC, name, ResourcePatternType.LITERAL, AclOperation.READ),
            (ResourceType.GROUP, "spark-kafka-source-", ResourcePatternType.PREFIXED, AclOperation.READ),
        ]
        grants = [AclBinding(*on, f"User:{user}", "*", operation, allowed) for *on, operation in wanted]
        for granted in self._admin.create_acls(grants).values():
            granted.result(PATIENCE_SECONDS)

    def produce(self, name: str, *numbers: int, partition: int = 0) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 3})
        for number in numbers:
            producer.produce(name, value=str(number), partition=partition)
        assert producer.flush(PATIENCE_SECONDS) == 0


@pytest.fixture(scope="module")
def topics() -> Iterator[Topics]:
    with Broker() as broker:
        yield Topics(broker)


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic's name of the test's own."""
    return re.sub(r"\W", "_", request.node.name)


@pytest.fixture
def small(topics: Topics, topic: str, spark: SparkSession, tmp_path: Path) -> SmallPipeline:
    pipeline = SmallPipeline(tmp_path, spark, SOURCE)
    pipeline.pipeline.configuration |= {"broker": topics.bootstrap, "topic": topic}
    return pipeline


def update(small: SmallPipeline, **configuration: str) -> list[int]:
    """Run an update with some settings as in a new process; the numbers in the table, in order of arrival."""
    again = SmallPipeline(small.folder, small.pipeline.spark, SOURCE)
    again.pipeline.configuration |= small.pipeline.configuration | configuration
    again.pipeline.run()
    assert sorted(row["id"] for row in again.table("copied")) == numbers(again)
    return numbers(again)


def numbers(small: SmallPipeline) -> list[int]:
    return sorted(row["id"] for row in small.table("numbers"))


def failure(small: SmallPipeline, **configuration: str) -> str:
    with pytest.raises(UpdateFailed) as failed:
        update(small, **configuration)
    return str(failed.value)


def notices(small: SmallPipeline) -> list[str]:
    return [row.message for row in small.pipeline.event_log().where("level = 'WARN'").collect()]


ACCEPT = {"dlt_local.accept_gaps": "default.numbers"}


def test_expired_records_are_missing_by_name_until_the_gap_is_accepted(
    topics: Topics, topic: str, small: SmallPipeline
) -> None:
    topics.create(topic)
    topics.produce(topic, 0, 1, 2)
    assert update(small) == [0, 1, 2]
    topics.produce(topic, 3, 4, 5)
    topics.expire(topic, 0, 5)
    for _ in range(2):
        assert failure(small) == (
            "KAFKA_RECORDS_MISSING  default.numbers\n"
            f"  flow `default.numbers` ({small.file}:13): the broker {topics.bootstrap} does not have all records that"
            " follow those in default.numbers:\n"
            f"    {topic}, partition 0: offsets 3 to 4 (deleted by the broker before they were read)\n"
            "  Nothing was written.\n"
            "  fix: to go on with what there is and have the gap recorded, run once with --set"
            " dlt_local.accept_gaps=default.numbers\n"
            "  or to build the table again from what there is, run with --full-refresh default.numbers"
        )
    assert numbers(small) == [0, 1, 2]
    assert update(small, **ACCEPT) == [0, 1, 2, 5]
    assert notices(small) == [
        "default.numbers went on over a gap:"
        f" {topic}, partition 0: offsets 3 to 4 (deleted by the broker before they were read)"
    ]
    topics.produce(topic, 6)
    assert update(small) == [0, 1, 2, 5, 6]
    assert len(notices(small)) == 1, "no notice that the query has changed"
    small.pipeline.run(full_refresh=["numbers", "copied"])
    assert numbers(small) == [5, 6]


@pytest.mark.parametrize("count", [2, 5], ids=["shorter than before", "longer than before"])
def test_a_topic_that_was_created_again_is_read_from_its_start(
    topics: Topics, topic: str, small: SmallPipeline, count: int
) -> None:
    topics.create(topic, 2)
    topics.produce(topic, 0, 1, 2)
    topics.produce(topic, 10, partition=1)
    assert update(small) == [0, 1, 2, 10]
    topics.delete(topic)
    topics.create(topic, 1)
    topics.produce(topic, *range(100, 100 + count))
    message = failure(small)
    assert f"{topic}, partition 0: offset 3 and after (if there were any, deleted with the topic" in message
    assert f"{topic}, partition 1: offset 1 and after (if there were any, deleted with the topic" in message
    assert update(small, failOnDataLoss="false") == [0, 1, 2, 10, *range(100, 100 + count)]
    topics.produce(topic, 200)
    assert update(small) == [0, 1, 2, 10, *range(100, 100 + count), 200]


def test_a_missing_topic_stops_its_table_until_it_is_there(topics: Topics, topic: str, small: SmallPipeline) -> None:
    started = time.monotonic()
    message = failure(small)
    assert time.monotonic() - started < ANSWER_SECONDS
    assert message == (
        "KAFKA_TOPIC_MISSING  default.numbers\n"
        f"  flow `default.numbers` ({small.file}:13): the broker {topics.bootstrap} has no topic {topic}\n"
        "  fix: correct the topic's name in the options of the stream, or create the topic; then run again"
    )
    topics.create(topic)
    topics.produce(topic, 1)
    assert update(small) == [1]


def test_in_continuous_mode_a_table_without_its_topic_waits_alone(
    topics: Topics, topic: str, small: SmallPipeline
) -> None:
    def ids(table: str) -> list[int]:
        folder = small.pipeline.storage.root / "tables/default" / table
        return sorted(row["id"] for row in read(folder)) if delta_log.exists(folder) else []

    running = Continuous(small)
    small.drop({"id": 1})
    running.wait_until(lambda: ids("others") == [1])
    small.drop({"id": 2})
    running.wait_until(lambda: ids("others") == [1, 2])
    topics.create(topic)
    topics.produce(topic, 7)
    running.wait_until(lambda: ids("copied") == [7])
    running.stop.set()
    result = running.result()
    assert isinstance(result, Update) and result.state == "COMPLETED"


def test_a_refused_login_and_missing_grants_are_named_and_with_both_it_reads(
    topics: Topics, topic: str, small: SmallPipeline
) -> None:
    topics.create(topic)
    topics.produce(topic, 1)
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="reader" password="{}";'
    message = failure(small, broker=topics.with_login, login=login.format("wrong-secret"))
    assert message == (
        "KAFKA_AUTHENTICATION_FAILED  default.numbers\n"
        f"  flow `default.numbers` ({small.file}:13): the broker {topics.with_login} refused the client's login:"
        " Authentication failed: Invalid username or password\n"
        "  fix: correct kafka.security.protocol, kafka.sasl.* and kafka.ssl.* in the options of the stream, then run"
        " again"
    )
    message = failure(small, broker=topics.with_login, login="no.such.Module required;")
    assert message == (
        "KAFKA_SETTINGS_REFUSED  default.numbers\n"
        f"  flow `default.numbers` ({small.file}:13): Kafka's client refused its settings: No LoginModule found for"
        " no.such.Module\n"
        "  fix: correct the option of the stream"
    )
    right = {"broker": topics.with_login, "login": login.format("reader-secret")}
    message = failure(small, **right)
    assert message.startswith("KAFKA_NOT_AUTHORIZED  default.numbers\n"), message
    assert message.endswith("grant the client DESCRIBE and READ on the topic, and READ on its consumer group")
    topics.grant_reading(topic, "reader")
    assert update(small, **right) == [1]


def test_a_broker_that_does_not_answer_is_named_within_20_seconds(small: SmallPipeline) -> None:
    started = time.monotonic()
    message = failure(small, broker="127.0.0.1:1")
    assert time.monotonic() - started < ANSWER_SECONDS
    assert message.startswith("KAFKA_UNREACHABLE  default.numbers\n")
    assert "no answer from the Kafka broker 127.0.0.1:1 for topic test_a_broker" in message
    message = failure(small, broker="no-such-host.invalid:9092")
    assert message.startswith("KAFKA_UNREACHABLE  default.numbers\n") and "no-such-host.invalid:9092" in message
