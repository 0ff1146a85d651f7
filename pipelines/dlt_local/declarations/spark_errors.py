"""What Spark says of a user's code, as one line, and what to do about it where Spark leaves that open."""

import re

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from dlt_local.declarations.paths import is_remote
from dlt_local.spark import root_cause

_NO_SUCH_PATH = re.compile(r"\[PATH_NOT_FOUND\] Path does not exist: (?:file:)?(\S+)\.")


def line_of(error: Exception) -> str:
    """The first line of the message, or the error's type if there is no message; of a Java error without its stack."""
    if isinstance(error, Py4JJavaError):
        return root_cause.sentence(error)
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def fix_of(line: str) -> str:
    """What to do about the error with this line; empty if the line says it itself.

    >>> fix_of("[PATH_NOT_FOUND] Path does not exist: /Volumes/main/raw/orders. SQLSTATE: 42K03")
    'say which local folder has these files: --map /Volumes/main/raw/orders=FOLDER'
    >>> fix_of("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kinesis.")
    'the connector is not on this machine: for local runs, read the records from files in its place'
    """
    if "BINARY_OP_WRONG_TYPE" in line and 'not "STRING"' in line:
        return "cast the texts: Databricks reads them as numbers here, open-source Spark in ANSI mode does not"
    if "[DATA_SOURCE_NOT_FOUND]" in line:
        return "the connector is not on this machine: for local runs, read the records from files in its place"
    path = _NO_SUCH_PATH.search(line)
    if path and is_remote(path[1]):
        return f"say which local folder has these files: --map {path[1]}=FOLDER"
    return ""
