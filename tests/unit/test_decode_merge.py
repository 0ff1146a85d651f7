"""Columns whose value a change does not carry and the spec merges from the previous version."""

from dataclasses import replace

from pyspark.sql import SparkSession
from tests.support.records import Record, Topic, frame
from tests.support.tables import column, table

from cdc import decode
from cdc.spec.model import TableSpec

PLACEHOLDER = "__debezium_unavailable_value"
DOCUMENTS = table(
    {
        "id": "int not null",
        "title": "nvarchar(80)",
        "body": column("body", "nvarchar(max)", target="text", null_is_unchanged=True, nullable=False),
        "form": column("form", "xml", unavailable="merge"),
    }
)
documents = Topic(DOCUMENTS.topic)


def decoded_columns(spark: SparkSession, record: Record, spec: TableSpec = DOCUMENTS) -> tuple[str, list[str]]:
    (row,) = decode(frame(spark, [record]), spec).select("_outcome", "_columns_to_update").collect()
    return tuple(row)


def test_a_null_in_an_update_keeps_the_previous_value(spark: SparkSession) -> None:
    record = documents.update(id=1, title="a", body=None, form="<a/>")
    assert decoded_columns(spark, record) == ("change", ["id", "title", "form"])


def test_a_placeholder_keeps_the_previous_value(spark: SparkSession) -> None:
    record = documents.update(id=1, title="a", body="text", form=PLACEHOLDER)
    assert decoded_columns(spark, record) == ("change", ["id", "title", "text"])


def test_a_null_where_placeholders_are_merged_is_null(spark: SparkSession) -> None:
    record = documents.update(id=1, title=None, body="text", form=None)
    assert decoded_columns(spark, record) == ("change", ["id", "title", "text", "form"])


def test_a_create_carries_all_columns(spark: SparkSession) -> None:
    nullable = replace(DOCUMENTS, columns=tuple(replace(each, nullable=True) for each in DOCUMENTS.columns))
    record = documents.create(id=1, title="a", body=None, form=None)
    assert decoded_columns(spark, record, nullable) == ("change", ["id", "title", "text", "form"])
    assert decoded_columns(spark, record)[0] == "reject"


def test_a_table_that_merges_nothing_lacks_the_list_of_columns(spark: SparkSession) -> None:
    plain = table({"id": "int not null", "body": "nvarchar(max)", "note": column("note", "int", unavailable="merge")})
    assert "_columns_to_update" not in decode(frame(spark, [documents.create(id=1)]), plain).columns
    appended = replace(DOCUMENTS, key=(), append_only=True)
    assert "_columns_to_update" not in decode(frame(spark, [documents.create(id=1)]), appended).columns
