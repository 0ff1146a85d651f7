"""`CREATE FUNCTION`: an SQL function for the queries of the pipeline."""

import re

from pyspark.errors import AnalysisException

from dlt_local.declarations.registry import current
from dlt_local.declarations.sql.reader import Reader
from dlt_local.errors import DeclarationError
from dlt_local.names import OWN_PREFIX, parts
from dlt_local.spark.pipeline_session import PipelineSession


def create_function(reader: Reader) -> None:
    """Read what follows `CREATE FUNCTION` and create the function in the pipeline's session, where it is temporary.

    One of a schema, as Unity Catalog has them, is a stand-in for it: queries call it by that name.

    Raises:
        DeclarationError: the function is not written in SQL, or cannot be analysed.
    """
    reader.accept("IF", "NOT", "EXISTS")
    location = reader.location()
    name = reader.name()
    for at in range(reader.at, len(reader.tokens)):
        language = Reader(reader.statement, reader.file, at)
        if language.sees("LANGUAGE", "PYTHON"):
            message = f"function {name} is written in Python, which open-source Spark's SQL does not take"
            raise language.fault(message, "register it in a Python source file: spark.udf.register(...)")
    text = reader.statement.text_on_its_lines(reader.at, len(reader.tokens))
    session = current().spark
    assert isinstance(session, PipelineSession)
    is_plain = len(parts(name)) == 1
    temporary = name if is_plain else OWN_PREFIX + re.sub(r"\W", lambda each: f"_{ord(each[0]):x}_", name.lower())
    try:
        session.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {temporary} {session.with_real_functions(text)}")
    except AnalysisException as error:
        message = f"function {name} cannot be created: {str(error).splitlines()[0]}"
        raise DeclarationError("QUERY_FAILED", message, location) from error
    if not is_plain:
        session.add_function(parts(name), temporary)
