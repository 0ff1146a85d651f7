"""The query after `AS` in an SQL statement, as the query function of a declaration."""

import re

from pyspark.sql import DataFrame

from dlt_local.declarations.elements import Query
from dlt_local.declarations.registry import current, located_at
from dlt_local.declarations.sql.columns import ColumnList
from dlt_local.declarations.sql.query_text import query_text
from dlt_local.declarations.sql.reader import Reader
from dlt_local.errors import DeclarationError

_REFUSED = re.compile(r"\b(read_kafka|read_kinesis|read_pubsub|read_pulsar)\s*\(", re.IGNORECASE)


def query(reader: Reader, columns: ColumnList, end: int | None = None) -> Query:
    """Read the rest of the statement, or the tokens up to ``end``, as a query; its columns are renamed as listed.

    Raises:
        DeclarationError: there is none, or it calls a function that only Databricks has.
    """
    if reader.is_done:
        raise reader.fault("the query is missing")
    end = len(reader.tokens) if end is None else end
    if refused := _REFUSED.search(reader.statement.text(reader.at, end)):
        message = f"`{refused[1]}` is Databricks' own"
        fix = "declare the read as a view in a Python source file: spark.readStream.format(...)"
        raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, reader.location(), fix)
    text = query_text(reader, end)

    location = reader.location()

    def run() -> DataFrame:
        with located_at(location):
            registry = current()
            for view, path in text.paths.items():
                registry.spark.readStream.format("delta").load(path).createOrReplaceTempView(view)
            views = {view.lower() for view in registry.views}
            return columns.renamed(registry.spark.sql(text.text(lambda name: name.lower() in views)))

    return run
