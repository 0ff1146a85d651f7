"""Texts of JSON values through the conversions of their column types, many in one query."""

from collections.abc import Iterable

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from cdc.debezium.values import conversion_of
from cdc.spec.model import ConnectorSpec
from cdc.spec.sqlserver_types import parse_type

CONNECTOR = ConnectorSpec(name="shop", topic_prefix="server1")


def converted(
    spark: SparkSession, cases: Iterable[tuple[str, str | None]], connector: ConnectorSpec = CONNECTOR
) -> list[str | None]:
    """What each text becomes as its column type, shown as text: bytes in hex, an instant in UTC with a Z."""
    cases = list(cases)
    texts = spark.createDataFrame(
        [tuple(text for _, text in cases)], ", ".join(f"c{place} string" for place in range(len(cases)))
    )
    shown = [_shown(type_, connector, F.col(f"c{place}")).alias(f"v{place}") for place, (type_, _) in enumerate(cases)]
    return list(texts.select(*shown).collect()[0])


def _shown(type_: str, connector: ConnectorSpec, text: Column) -> Column:
    conversion = conversion_of(parse_type(type_)[0], connector)
    value = conversion.whole(text).cast(conversion.target)
    if conversion.target == "binary":
        return F.lower(F.hex(value))
    if conversion.target == "timestamp":
        utc = F.timestamp_add("MICROSECOND", F.unix_micros(value), F.lit("1970-01-01").cast("timestamp_ntz"))
        return F.concat(utc.cast("string"), F.lit("Z"))
    return value.cast("string")
