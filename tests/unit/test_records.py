"""Records from a capture folder: Kafka's columns, and nothing lost silently."""

import base64
import gzip
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from tests.support.records import RECORDS
from tests.support.tables import table

from cdc import read_records
from cdc.records import BadKafkaOptions, UnknownSource, kafka_options

ORDERS = table({"id": "int not null"})
TOPIC = ORDERS.topic


def line(**fields: Any) -> str:
    """A line as `kcat -C -J` prints it."""
    plain = {"topic": TOPIC, "partition": 0, "offset": 7, "tstype": "create", "ts": 1_772_366_400_123, "broker": 0}
    return json.dumps({**plain, "headers": [], "key": '{"id":1}', "payload": '{"op":"c"}', **fields})


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """An empty capture folder, set as the source."""
    captures = tmp_path / "captures"
    captures.mkdir()
    spark.conf.set("cdc.source", f"capture:{captures}")
    yield captures
    spark.conf.unset("cdc.source")


def read(spark: SparkSession, folder: Path, *lines: str) -> list[Row]:
    """All records of a capture of these lines."""
    (folder / "1.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return arrived(read_records(spark, ORDERS), folder.parent)


def arrived(stream: DataFrame, scratch: Path) -> list[Row]:
    """The records that the stream has read since the last call with the same checkpoint."""
    found: list[Row] = []
    writer = stream.writeStream.option("checkpointLocation", str(scratch / "checkpoint"))
    query = writer.foreachBatch(lambda batch, _: found.extend(batch.collect())).trigger(availableNow=True).start()
    query.awaitTermination()
    return found


def test_a_record_has_kafkas_columns_and_types(spark: SparkSession, folder: Path) -> None:
    stream = read_records(spark, ORDERS)
    kafkas = spark.createDataFrame([], RECORDS).schema
    assert [(f.name, f.dataType.simpleString()) for f in stream.schema] == [
        (f.name, f.dataType.simpleString()) for f in kafkas
    ]


def test_a_record_is_as_kafkas_reader_returns_it(spark: SparkSession, folder: Path) -> None:
    (record,) = read(spark, folder, line(headers=["a", "1", "b", None], payload='{"x":"č😀"}'))
    assert (record.topic, record.partition, record.offset, record.timestampType) == (TOPIC, 0, 7, 0)
    assert record.timestamp == datetime.fromtimestamp(1_772_366_400.123)  # noqa: DTZ006 (as Spark collects)
    assert [(h.key, h.value and bytes(h.value)) for h in record.headers] == [("a", b"1"), ("b", None)]
    assert bytes(record.key) == b'{"id":1}'
    assert bytes(record.value).decode() == '{"x":"č😀"}'


@pytest.mark.parametrize(
    ("fields", "column", "expected"),
    [
        ({"payload": None}, "value", None),
        ({"key": None}, "key", None),
        ({"payload": ""}, "value", b""),
        ({"payload": None, "payload_base64": base64.b64encode(b"\xff\x00").decode()}, "value", b"\xff\x00"),
        ({"key": None, "key_base64": "AA=="}, "key", b"\x00"),
        ({"payload": None, "payload_base64": None}, "value", None),
        ({"headers": []}, "headers", None),
        ({"headers": None}, "headers", None),
        ({"ts": None, "tstype": "unknown"}, "timestamp", None),
        ({"tstype": "logappend"}, "timestampType", 1),
        ({"tstype": "unknown"}, "timestampType", -1),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_field_of_a_line_becomes(
    spark: SparkSession, folder: Path, fields: dict[str, Any], column: str, expected: Any
) -> None:
    (record,) = read(spark, folder, line(**fields))
    found = record[column]
    assert (bytes(found) if isinstance(found, bytearray) else found) == expected


def test_other_topics_and_blank_lines_are_skipped(spark: SparkSession, folder: Path) -> None:
    records = read(spark, folder, line(topic="server1.shop.dbo.others"), "", line(offset=8), "  ")
    assert [record.offset for record in records] == [8]


def test_new_files_are_picked_up_and_old_ones_are_not_read_again(spark: SparkSession, folder: Path) -> None:
    assert [record.offset for record in read(spark, folder, line())] == [7]
    (folder / "2.jsonl").write_text(line(offset=8) + "\n")
    (folder / "notes.txt").write_text("no capture")
    assert [record.offset for record in arrived(read_records(spark, ORDERS), folder.parent)] == [8]


def test_compressed_files_those_in_subfolders_and_old_ones_are_read_too(spark: SparkSession, folder: Path) -> None:
    assert [record.offset for record in read(spark, folder, line())] == [7]
    (folder / "2.jsonl.gz").write_bytes(gzip.compress(line(offset=8).encode()))
    (folder / "day=1" / "deeper").mkdir(parents=True)
    (folder / "day=1" / "deeper" / "3.jsonl").write_text(line(offset=9))
    (folder / "old.jsonl").write_text(line(offset=10))
    os.utime(folder / "old.jsonl", (0, 0))
    found = arrived(read_records(spark, ORDERS), folder.parent)
    assert sorted(record.offset for record in found) == [8, 9, 10]


def test_a_record_of_more_than_20_million_characters_is_read(spark: SparkSession, folder: Path) -> None:
    large = "x" * 21_000_000
    records = read(spark, folder, line(payload=large), line(offset=8))
    assert sorted((record.offset, len(record.value)) for record in records) == [(7, len(large)), (8, len('{"op":"c"}'))]


@pytest.mark.parametrize(
    "bad",
    [
        "no JSON",
        '{"topic": "x"}',
        line(partition="first"),
        line(offset=None),
        line(payload=None, payload_base64="*"),
        line()[:-20],
    ],
    ids=["text", "fields missing", "no partition", "no offset", "no base64", "truncated"],
)
def test_a_malformed_line_fails_the_update_and_names_the_file(spark: SparkSession, folder: Path, bad: str) -> None:
    with pytest.raises(StreamingQueryException) as failure:
        read(spark, folder, line(), bad)
    assert "NOT_A_RECORD" in str(failure.value)
    assert "captures/1.jsonl" in str(failure.value)
    assert "fix: " in str(failure.value)


@pytest.mark.parametrize("source", [None, "pulsar", "Kafka:x"])
def test_the_error_of_an_unknown_source_lists_the_sources(spark: SparkSession, source: str | None) -> None:
    if source is not None:
        spark.conf.set("cdc.source", source)
    try:
        with pytest.raises(UnknownSource, match="capture:<folder>"):
            read_records(spark, ORDERS)
    finally:
        spark.conf.unset("cdc.source")


def test_kafka_options_come_from_the_configuration(spark: SparkSession) -> None:
    configuration = {
        "cdc.kafka.bootstrap.servers": "broker:9092",
        "cdc.kafka.security.protocol": "SASL_SSL",
        "cdc.kafka.maxOffsetsPerTrigger": "1000",
        "cdc.kafka.options": '{"kafka.sasl.mechanism": "PLAIN", "includeHeaders": "false"}',
    }
    for name, value in configuration.items():
        spark.conf.set(name, value)
    try:
        assert kafka_options(spark) == {
            "kafka.bootstrap.servers": "broker:9092",
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "PLAIN",
            "maxOffsetsPerTrigger": "1000",
            "startingOffsets": "earliest",
            "failOnDataLoss": "true",
            "includeHeaders": "true",
        }
    finally:
        for name in configuration:
            spark.conf.unset(name)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"kafka.ssl.key.password": "hunter2"', "not JSON: Expecting ',' delimiter at character 37"),
        ('["hunter2"]', "JSON, but not an object"),
        ('{"kafka.ssl.key.password": "hunter2", "minPartitions": 1}', "`minPartitions` is not a string"),
    ],
)
def test_options_that_are_not_an_object_of_strings_are_refused_and_not_shown(
    spark: SparkSession, text: str, what: str
) -> None:
    spark.conf.set("cdc.kafka.options", text)
    try:
        with pytest.raises(BadKafkaOptions, match=what) as refused:
            kafka_options(spark)
        assert "hunter2" not in str(refused.value)
    finally:
        spark.conf.unset("cdc.kafka.options")
