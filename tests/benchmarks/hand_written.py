"""Hand-written conversion of the raw row of the benchmarks' table to typed columns."""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructField, StructType

from cdc import TableSpec

_RAW = {"bigint": "bigint", "int": "int", "smallint": "int", "bit": "boolean", "datetime2": "bigint", "date": "int"}


def raw_row(table: TableSpec) -> StructType:
    """The types of a row in JSON."""
    fields = ((c.name, _RAW.get(_kind(c.type), "string")) for c in table.columns)
    return StructType([StructField(name, DataType.fromDDL(type_)) for name, type_ in fields])


def typed_columns(table: TableSpec) -> list[Column]:
    """Typed columns of the struct ``row``."""
    return [_typed(F.col(f"row.{c.name}"), str(c.type)).alias(c.name) for c in table.columns]


def _typed(raw: Column, type_: str) -> Column:
    kind = _kind(type_)
    if kind in ("decimal", "money"):
        unscaled = F.conv(F.hex(F.unbase64(raw)), 16, 10).cast("decimal(20,0)")
        return (
            (unscaled / 100).cast("decimal(12,2)") if kind == "decimal" else (unscaled / 10_000).cast("decimal(19,4)")
        )
    if kind == "datetime2":
        instant = (
            F.timestamp_millis(raw)
            if type_.endswith("(3)")
            else F.timestamp_micros(F.call_function("div", raw, F.lit(1000)))
        )
        return instant.cast("timestamp_ntz")
    if kind == "date":
        return F.date_add(F.lit("1970-01-01").cast("date"), raw)
    return raw.cast("smallint") if kind == "smallint" else raw


def _kind(type_: object) -> str:
    return str(type_).split("(")[0]
