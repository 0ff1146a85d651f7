"""Kafka's client: what topics a broker has, and which offsets."""

from collections.abc import Iterable, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from dlt_local.spark.jvm.gateway import java_class, static

_ADMIN = "org.apache.kafka.clients.admin"


def kafka_topics(
    session: SparkSession, settings: Mapping[str, str], names: Iterable[str]
) -> dict[str, tuple[str, dict[int, tuple[int, int]]]]:
    """Topic -> its id, and for each partition the first offset and the offset after the last; without unknown topics.

    Raises:
        Py4JJavaError: the broker cannot be reached or does not answer, or the client's settings are wrong.
    """
    new_map = java_class(session, "java.util.HashMap")
    properties = new_map()
    for name, value in settings.items():
        properties[name] = value
    admin = static(session, f"{_ADMIN}.AdminClient.create")(properties)
    try:
        asked = java_class(session, "java.util.ArrayList")()
        for name in names:
            asked.add(name)
        descriptions = admin.describeTopics(asked).topicNameValues()
        topics = {name: found for name in asked if (found := _description(descriptions[name])) is not None}
        places = [info for found in topics.values() for info in _partitions(session, found)]
        offsets = []
        for which in ("earliest", "latest"):
            wanted, spec = new_map(), static(session, f"{_ADMIN}.OffsetSpec.{which}")()
            for place in places:
                wanted[place] = spec
            answer = admin.listOffsets(wanted).all().get()
            offsets.append([answer[place].offset() for place in places])
    finally:
        admin.close(static(session, "java.time.Duration.ofSeconds")(1))
    found_offsets: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in topics}
    for place, first, end in zip(places, *offsets, strict=True):
        found_offsets[place.topic()][place.partition()] = (first, end)
    return {name: (str(topics[name].topicId().toString()), found_offsets[name]) for name in topics}


def _description(future: Any) -> Any:
    try:
        return future.get()
    except Py4JJavaError as error:
        if "UnknownTopicOrPartitionException" in str(error.java_exception.toString()):
            return None
        raise


def _partitions(session: SparkSession, description: Any) -> list[Any]:
    place = java_class(session, "org.apache.kafka.common.TopicPartition")
    return [place(description.name(), info.partition()) for info in description.partitions()]
