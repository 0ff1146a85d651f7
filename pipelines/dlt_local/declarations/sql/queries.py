"""The query after `AS` in an SQL statement, as the query function of a declaration."""

import re

from pyspark.sql import DataFrame

from dlt_local.declarations.elements import Query
from dlt_local.declarations.registry import current, located_at
from dlt_local.declarations.sql.columns import ColumnList
from dlt_local.declarations.sql.reader import Reader
from dlt_local.errors import DeclarationError

_REFUSED = re.compile(r"\b(read_kafka|read_kinesis|read_pubsub|read_pulsar)\s*\(", re.IGNORECASE)


def query(reader: Reader, columns: ColumnList) -> Query:
    """Read the rest of the statement as a query; its columns are renamed as listed.

    Raises:
        DeclarationError: there is none, or it calls a function that only Databricks has.
    """
    if reader.is_done:
        raise reader.fault("the query is missing")
    text = reader.statement.text_on_its_lines(reader.at, len(reader.tokens))
    if refused := _REFUSED.search(text):
        message = f"`{refused[1]}` is Databricks' own"
        fix = "declare the read as a view in a Python source file: spark.readStream.format(...)"
        raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, reader.location(), fix)

    location = reader.location()

    def run() -> DataFrame:
        with located_at(location):
            return columns.renamed(current().spark.sql(text))

    return run
