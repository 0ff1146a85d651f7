"""The source of records: Kafka, or a folder of captured records in its place, with the same columns.

The configuration's ``cdc.source`` decides: ``kafka``, or ``capture:<folder>`` with JSON Lines as ``kcat -C -J`` prints
them.
"""

import json
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc import names
from cdc.credentials import SHADED, SecretReader, with_secrets, with_shaded_classes
from cdc.debezium.json_texts import ANY_LENGTH
from cdc.errors import RunCondition, RunError
from cdc.spec.model import TableSpec
from cdc.switches import is_on

_CAPTURE = "capture:"
_DAMAGED = "_damaged"
_LINE = f"""
    topic string, partition int, offset bigint, ts bigint, tstype string, headers array<string>,
    key string, key_base64 string, payload string, payload_base64 string, {_DAMAGED} string
"""
_CAPTURE_FILES = {
    "pathGlobFilter": "*.{jsonl,jsonl.gz}",
    "recursiveFileLookup": "true",
    # Spark skips a new file that is a week older than the newest one it has read. A capture's age says nothing: it is
    # read whenever it arrives.
    "maxFileAge": "365000d",
}
_TIMESTAMP_TYPES = {"create": 0, "logappend": 1}
_NO_TIMESTAMP_TYPE = -1

CLIENT_SETTINGS = (
    "bootstrap.servers",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.oauthbearer.token.endpoint.url",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "client.id",
    "group.id",
    "isolation.level",
    "fetch.max.bytes",
    "max.partition.fetch.bytes",
    "request.timeout.ms",
    "session.timeout.ms",
)
"""Settings of the Kafka client that a pipeline's configuration may have, each under ``cdc.kafka.``."""

_READER_SETTINGS = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "failOnDataLoss",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "groupIdPrefix",
    "databricks.serviceCredential",
)
"""Settings of Spark's Kafka reader, likewise."""
KAFKA_SETTINGS = (*CLIENT_SETTINGS, *_READER_SETTINGS)

_OF_STREAMS = (
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
)
"""Settings of the reader that a batch does not have, or that say where a stream begins."""
_KAFKA_DEFAULTS = {"startingOffsets": "earliest", "failOnDataLoss": "true"}
_KAFKA_FIXED = {"includeHeaders": "true"}


class UnknownSource(RunError):
    """``cdc.source`` is not set, or is not a known source."""

    def __init__(self, source: str | None) -> None:
        self.source = source
        super().__init__(
            RunCondition.UNKNOWN_SOURCE,
            "cdc.source",
            "the setting is missing" if source is None else f"the value is `{source}`",
            "set it in the pipeline's configuration to `kafka`, together with cdc.kafka.bootstrap.servers, or to"
            " `capture:<folder>`.",
        )


class BadKafkaOptions(RunError):
    """``cdc.kafka.options`` is not a JSON object of strings; its text, which may hold a secret, is not shown."""

    def __init__(self, what: str) -> None:
        super().__init__(
            RunCondition.BAD_KAFKA_OPTIONS,
            "cdc.kafka.options",
            what,
            'write a JSON object of strings, such as {"kafka.sasl.mechanism": "PLAIN"}.',
        )


def read_records(spark: SparkSession, table: TableSpec, secrets: SecretReader | None = None) -> DataFrame:
    """The records of one table's topic, as a stream.

    Grain: one row per Kafka record. Columns: `topic`, `partition`, `offset`, `timestamp`, `timestampType`
    (0 create, 1 log append, -1 none), `headers` (null if there are none), `key`, `value` (null: a tombstone).
    Records are read at least once from Kafka or the folder, and written exactly once to the stream's table.

    Args:
        spark: the session whose conf has the source's settings.
        table: the table.
        secrets: reads the secrets that the settings refer to, see `secret_reader`.

    Raises:
        UnknownSource: ``cdc.source`` is not a known source.
        BadKafkaOptions: ``cdc.kafka.options`` is not a JSON object of strings.
        SecretNotReadable: a setting refers to a secret that the workspace does not hand out.
    """
    return read_topic(spark, table.topic, secrets)


def read_topic(spark: SparkSession, topic: str, secrets: SecretReader | None = None) -> DataFrame:
    """The records of any topic, as a stream with the columns of `read_records`."""
    source = spark.conf.get("cdc.source", None)
    if source == "kafka":
        stream = spark.readStream.format("kafka").options(**kafka_options(spark, secrets))
        return stream.option("subscribe", topic).load().select(*names.RECORD_COLUMNS)
    if source and source.startswith(_CAPTURE):
        return _from_capture(spark, source.removeprefix(_CAPTURE), topic)
    raise UnknownSource(source)


def batch(spark: SparkSession, topics: str, secrets: SecretReader | None = None) -> DataFrame:
    """The records that the source has now, of all topics that match a pattern (as of regular expressions).

    Grain: one row per record. Columns: those of `read_records`.
    """
    source = spark.conf.get("cdc.source", None)
    if source == "kafka":
        options = {**kafka_options(spark, secrets), "startingOffsets": "earliest", "subscribePattern": topics}
        of_batch = {name: value for name, value in options.items() if name not in _OF_STREAMS}
        return spark.read.format("kafka").options(**of_batch).load().select(*names.RECORD_COLUMNS)
    if source and source.startswith(_CAPTURE):
        files = spark.read.format("text").options(**_CAPTURE_FILES).load(source.removeprefix(_CAPTURE))
        return _records_of_lines(files.select("value", "_metadata.file_path"), F.col("line.topic").rlike(f"^{topics}$"))
    raise UnknownSource(source)


def kafka_options(spark: SparkSession, secrets: SecretReader | None = None) -> Mapping[str, str]:
    """The Kafka reader's options, from the pipeline's configuration.

    ``cdc.kafka.<setting>`` sets one of the settings listed here: the client's (`bootstrap.servers`) are passed with
    the prefix ``kafka.``, the reader's own (`startingOffsets`) as they are. ``cdc.kafka.options``, a JSON object with
    the reader's names, sets any other: the configuration's keys cannot be listed on serverless compute. References to
    secrets are replaced where there is a reader of them, and classes of Kafka's client renamed where
    ``cdc.kafka.shaded`` is true.
    """
    client = {f"kafka.{name}": spark.conf.get(f"cdc.kafka.{name}", None) for name in CLIENT_SETTINGS}
    reader = {name: spark.conf.get(f"cdc.kafka.{name}", None) for name in _READER_SETTINGS}
    configured = {name: value for name, value in (client | reader).items() if value is not None}
    given = {name: with_secrets(value, secrets) for name, value in (configured | _other_options(spark)).items()}
    if is_on(spark, SHADED):
        given = {name: with_shaded_classes(value) for name, value in given.items()}
    return _KAFKA_DEFAULTS | given | _KAFKA_FIXED


def _other_options(spark: SparkSession) -> dict[str, str]:
    text = spark.conf.get("cdc.kafka.options", None) or "{}"
    try:
        options = json.loads(text)
    except json.JSONDecodeError as broken:
        what = f"the value is not JSON: {broken.msg} at character {broken.pos + 1}"
        raise BadKafkaOptions(what) from None
    if not isinstance(options, dict):
        what = "the value is JSON, but not an object"
        raise BadKafkaOptions(what)
    for name, value in options.items():
        if not isinstance(value, str):
            what = f"the value of `{name}` is not a string"
            raise BadKafkaOptions(what)
    return options


def _from_capture(spark: SparkSession, folder: str, topic: str) -> DataFrame:
    lines = spark.readStream.format("text").options(**_CAPTURE_FILES).load(folder)
    return records_of_lines(lines.select("value", "_metadata.file_path"), topic)


def records_of_lines(lines: DataFrame, topic: str) -> DataFrame:
    """The records of a topic in the lines of a capture.

    Grain: one row per line of the topic; blank lines are skipped. Columns: Kafka's, as in `read_records`.

    Args:
        lines: `value`, a line of the capture, and `file_path`, its file.
        topic: the topic whose records are wanted.
    """
    return _records_of_lines(lines, F.col("line.topic") == topic)


def _records_of_lines(lines: DataFrame, is_wanted: Column) -> DataFrame:
    line = F.from_json("value", _LINE, {"columnNameOfCorruptRecord": _DAMAGED, **ANY_LENGTH})
    parsed = lines.where(F.trim("value") != "").select("*", line.alias("line"))
    checked = parsed.select(_checked(F.col("line"), F.col("value"), F.col("file_path")).alias("line"))
    return checked.where(is_wanted).select(*_record(F.col("line")))


def _checked(line: Column, text: Column, file: Column) -> Column:
    """The line; one that is not a record fails the update: skipping it would silently lose a change.

    The message is one line: of an error in a query only the first one is shown.
    """
    is_record = (
        line.getField(_DAMAGED).isNull()
        & line.getField("topic").isNotNull()
        & line.getField("partition").isNotNull()
        & line.getField("offset").isNotNull()
        & _is_readable(line.getField("key_base64"))
        & _is_readable(line.getField("payload_base64"))
    )
    message = F.concat(
        F.lit(f"{RunCondition.NOT_A_RECORD.name}  "),
        file,
        F.lit(": a line of this capture is not a record as `kcat -C -J` prints it: "),
        F.substring(text, 1, 200),
        F.lit("; fix: repair or remove the line, or move the file out of the capture folder, then run again"),
    )
    return F.when(is_record, line).otherwise(F.raise_error(message))


def _is_readable(base64: Column) -> Column:
    return base64.isNull() | F.try_to_binary(base64, F.lit("base64")).isNotNull()


def _record(line: Column) -> tuple[Column, ...]:
    return (
        line.getField("topic").alias("topic"),
        line.getField("partition").alias("partition"),
        line.getField("offset").alias("offset"),
        F.timestamp_millis(line.getField("ts")).alias("timestamp"),
        _timestamp_type(line.getField("tstype")).alias("timestampType"),
        _headers(line.getField("headers")).alias("headers"),
        _bytes(line, "key").alias("key"),
        _bytes(line, "payload").alias("value"),
    )


def _timestamp_type(name: Column) -> Column:
    number = F.lit(_NO_TIMESTAMP_TYPE)
    for known, code in _TIMESTAMP_TYPES.items():
        number = F.when(name == known, code).otherwise(number)
    return number


def _headers(flat: Column) -> Column:
    """From k, v, k, v to Kafka's array of structs; null if there are none, as from Spark's reader."""
    indexes = F.sequence(F.lit(0), F.size(flat) - 2, F.lit(2))
    pairs = F.transform(
        indexes,
        lambda index: F.struct(F.get(flat, index).alias("key"), F.get(flat, index + 1).cast("binary").alias("value")),
    )
    return F.when(F.size(flat) > 0, pairs)


def _bytes(line: Column, field: str) -> Column:
    decoded = F.try_to_binary(line.getField(f"{field}_base64"), F.lit("base64"))
    return F.coalesce(decoded, line.getField(field).cast("binary"))
