"""Convert the texts of JSON values to their column types, many in one query."""

from collections.abc import Iterable
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from tests.support.tables import CONNECTOR, column

from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, ConnectorSpec


def converted(
    spark: SparkSession,
    cases: Iterable[tuple[str, str | None]],
    connector: ConnectorSpec = CONNECTOR,
    **spec: Any,
) -> list[str | None]:
    """Each text converted to its column type, as text again: bytes in hex, an instant in UTC with a Z."""
    cases = list(cases)
    columns = [f"c{number}" for number in range(len(cases))]
    texts = spark.createDataFrame([tuple(text for _, text in cases)], ", ".join(f"{name} string" for name in columns))
    shown = [
        _shown(column(name, type_, **spec), connector, F.col(name)).alias(name)
        for name, (type_, _) in zip(columns, cases, strict=True)
    ]
    return list(texts.select(*shown).collect()[0])


def _shown(spec: ColumnSpec, connector: ConnectorSpec, text: Column) -> Column:
    conversion = conversion_of(spec, connector)
    value = conversion.whole(text).cast(conversion.target)
    if conversion.target == "binary":
        return F.lower(F.hex(value))
    if conversion.target == "timestamp":
        utc = F.timestamp_add("MICROSECOND", F.unix_micros(value), F.lit("1970-01-01").cast("timestamp_ntz"))
        return F.concat(utc.cast("string"), F.lit("Z"))
    return value.cast("string")
