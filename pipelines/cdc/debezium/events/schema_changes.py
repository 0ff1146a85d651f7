"""Schema changes: the columns that each table has had, and when.

The connector writes a table's whole schema at its snapshot, and again for every later capture instance.
"""

from functools import partial

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, IntegerType, StructType

from cdc import names
from cdc.debezium.events.reading import Get, read_events
from cdc.debezium.json_texts import TEXT, struct_of, texts_of
from cdc.debezium.positions.position import COMMIT_TIME_FIELD
from cdc.debezium.values.temporal import instant_of_millis

_COLUMN = struct_of(
    {
        "name": TEXT,
        "typeName": TEXT,
        "length": IntegerType(),
        "scale": IntegerType(),
        "position": IntegerType(),
        "optional": BooleanType(),
    }
)
_TABLE = struct_of({"primaryKeyColumnNames": ArrayType(TEXT), "columns": ArrayType(_COLUMN)})
_CHANGE: StructType = struct_of({"type": TEXT, "id": TEXT, "table": _TABLE})
_DEFINITION = ("type", "length", "scale", "position", "nullable", "in_key")


def read(records: DataFrame, position_fields: tuple[str, ...]) -> DataFrame:
    """The tables' schemas as the connector wrote them.

    Grain: one row per record and table in it. Columns: `table` (``shop.dbo.orders``), `change` (``CREATE``,
    ``ALTER`` or ``DROP``), `key` (names), `columns` (name, type, length, scale, position, nullable), `ddl` (null if the
    connector has none), the position's fields, `changed_at` (source time), `_topic`, `_partition`, `_offset`,
    `_recorded_at`.
    """
    source = texts_of((*position_fields, COMMIT_TIME_FIELD))
    fields = {"source": source, "ddl": TEXT, "tableChanges": ArrayType(_CHANGE)}
    events = read_events(records, fields, partial(_columns, position_fields))
    change = F.col("table_change")
    table = change.getField("table")
    # An event without a table is a row too, so that no record is lost.
    return events.select("*", F.explode_outer("table_changes").alias("table_change")).select(
        F.translate(change.getField("id"), '"', "").alias("table"),
        change.getField("type").alias("change"),
        table.getField("primaryKeyColumnNames").alias("key"),
        F.transform(table.getField("columns"), _column).alias("columns"),
        "ddl",
        *position_fields,
        "changed_at",
        *(names.TOPIC, names.PARTITION, names.OFFSET, names.RECORDED_AT),
    )


def columns(schema_changes: DataFrame) -> DataFrame:
    """Every definition that a column has had, with its validity interval.

    Grain: one row per table, column and run of equal definitions. Columns: `table`, `column`, `type`, `length`,
    `scale`, `position`, `nullable`, `in_key`, and `valid_from`, `valid_to` (half-open; `valid_to` is null while valid).
    """
    of_table = Window.partitionBy("table").orderBy(names.PARTITION, names.OFFSET)
    schemas = schema_changes.where("table IS NOT NULL").select(
        "table", "key", "columns", F.row_number().over(of_table).alias("number"), F.col("changed_at").alias("at")
    )
    definitions = schemas.select("table", "key", "number", F.explode("columns").alias("definition")).select(
        "table",
        "number",
        F.col("definition.name").alias("column"),
        *(F.col(f"definition.{name}").alias(name) for name in _DEFINITION[:-1]),
        F.array_contains("key", F.col("definition.name")).alias("in_key"),
    )
    definition = ("table", "column", *_DEFINITION)
    # Within a run of equal definitions the number of the schema and that of the definition grow by the same steps.
    run = F.col("number") - F.row_number().over(Window.partitionBy(*definition).orderBy("number"))
    runs = definitions.select("*", run.alias("run")).groupBy(*definition, "run")
    bounds = runs.agg(F.min("number").alias("first"), (F.max("number") + 1).alias("end"))
    starts = schemas.select("table", F.col("number").alias("first"), F.col("at").alias(names.VALID_FROM))
    ends = schemas.select("table", F.col("number").alias("end"), F.col("at").alias(names.VALID_TO))
    valid = bounds.join(starts, ["table", "first"]).join(ends, ["table", "end"], "left")
    return valid.select(*definition, names.VALID_FROM, names.VALID_TO)


def _columns(position_fields: tuple[str, ...], get: Get) -> list[Column]:
    return [
        get("tableChanges").alias("table_changes"),
        get("ddl").alias("ddl"),
        *(get("source").getField(name).alias(name) for name in position_fields),
        instant_of_millis(get("source").getField(COMMIT_TIME_FIELD)).alias("changed_at"),
    ]


def _column(column: Column) -> Column:
    return F.struct(
        column.getField("name").alias("name"),
        column.getField("typeName").alias("type"),
        column.getField("length").alias("length"),
        column.getField("scale").alias("scale"),
        column.getField("position").alias("position"),
        column.getField("optional").alias("nullable"),
    )
