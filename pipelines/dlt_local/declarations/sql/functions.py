"""`CREATE FUNCTION`: an SQL function for the queries of the pipeline."""

from pyspark.errors import AnalysisException

from dlt_local.declarations.registry import current
from dlt_local.declarations.sql.reader import Reader
from dlt_local.errors import DeclarationError
from dlt_local.names import parts


def create_function(reader: Reader) -> None:
    """Read what follows `CREATE FUNCTION` and create the function in the pipeline's session, where it is temporary.

    Raises:
        DeclarationError: the function is in a schema, is not written in SQL, or cannot be analysed.
    """
    reader.accept("IF", "NOT", "EXISTS")
    location = reader.location()
    name = reader.name()
    if len(parts(name)) > 1:
        message = f"function {name} is in a schema, but functions of a pipeline live in its session only"
        raise reader.fault(message, f"call it `{parts(name)[-1]}`, without a schema, here and in the queries")
    for at in range(reader.at, len(reader.tokens)):
        language = Reader(reader.statement, reader.file, at)
        if language.sees("LANGUAGE", "PYTHON"):
            message = f"function {name} is written in Python, which open-source Spark's SQL does not take"
            raise language.fault(message, "register it in a Python source file: spark.udf.register(...)")
    text = reader.statement.text_on_its_lines(reader.at, len(reader.tokens))
    try:
        current().spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {name} {text}")
    except AnalysisException as error:
        message = f"function {name} cannot be created: {str(error).splitlines()[0]}"
        raise DeclarationError("QUERY_FAILED", message, location) from error
