"""Translates Spark's errors in a query: into the dataset that is missing, or a fault at the query's line."""

import re
import traceback

from pyspark.errors import AnalysisException

from dlt_local.declarations.elements import QueryFlow
from dlt_local.declarations.spark_errors import fix_of, line_of
from dlt_local.declarations.user_lines import lines_below
from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.names import parts, written

# Source: Databricks, "Alphabetical list of built-in functions", less what open-source Spark has.
_DATABRICKS_FUNCTION = re.compile(
    r"(ai|h3|st|cloud_files|pg)_\w+|vector_search|read_(kafka|kinesis|pubsub|pulsar|statestore|state_metadata)|event_log"
    r"|remote_query|http_request|(try_)?secret|list_secrets|is_(account_group_)?member",
    re.IGNORECASE,
)


def missing_dataset(error: AnalysisException) -> str | None:
    """The name that the query reads and the catalog does not know; None for any other error."""
    parameters = error.getMessageParameters() or {}
    match error.getCondition():
        case "TABLE_OR_VIEW_NOT_FOUND":
            return written(parts(parameters.get("relationName", "")))
        case "REQUIRES_SINGLE_PART_NAMESPACE":
            name = parts(parameters.get("identifier", ""))
            return written(name) if len(name) == 3 else None
    return None


def query_failed(flow: QueryFlow, error: Exception) -> DeclarationError:
    """The error as a fault that names the flow and, if known, the line of its query that failed."""
    if isinstance(error, AnalysisException) and (function := _only_on_databricks(error)):
        message = f"`{flow.name}` calls `{function}`, a function that only Databricks has"
        fix = (
            f"for local runs, declare a stand-in in a source file of theirs: CREATE FUNCTION {function}(...) RETURNS"
            f' ... RETURN ..., or in Python spark.udf.register("{function}", ...)'
        )
        return DeclarationError("NOT_SUPPORTED_LOCALLY", message, _location(flow, error), fix)
    below = lines_below(flow.location.file, error)
    line = line_of(error)
    message = f"`{flow.name}` cannot be analysed: {type(error).__name__}: {line}{below}"
    return DeclarationError("QUERY_FAILED", message, _location(flow, error), fix_of(line))


def _only_on_databricks(error: AnalysisException) -> str | None:
    """The function that Spark does not know, if its name is one of Databricks' own."""
    parameters = error.getMessageParameters() or {}
    match error.getCondition():
        case "UNRESOLVED_ROUTINE":
            name = parts(parameters.get("routineName", ""))
        case "UNRESOLVABLE_TABLE_VALUED_FUNCTION":
            name = parts(parameters.get("name", ""))
        case _:
            return None
    return name[-1] if name and _DATABRICKS_FUNCTION.fullmatch(name[-1]) else None


def _location(flow: QueryFlow, error: Exception) -> SourceLocation:
    file = flow.location.file
    if file.endswith(".sql"):
        # The query's text was padded with line breaks, so Spark counts the lines of the file.
        found = re.search(r"[;(] ?line (\d+),? pos", str(error))
        return SourceLocation(file, int(found[1])) if found else flow.location
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return SourceLocation(file, lines[-1] or flow.location.line) if lines else flow.location
