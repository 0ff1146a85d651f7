"""`read_files` and `cloud_files` in SQL: each call becomes a name, of a temporary view while the query is analysed.

From https://docs.databricks.com/sql/language-manual/functions/read_files.html: the options are Auto Loader's without
`cloudFiles.`; types are inferred unless `inferColumnTypes => false`; without `format`, the files' names tell it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local.auto_loader import option_names
from dlt_local.auto_loader.loader import AutoLoader
from dlt_local.declarations.registry import caller
from dlt_local.declarations.sql.tokens import Token, split, statements
from dlt_local.errors import DeclarationError
from dlt_local.names import VIEW_OF_CALL
from dlt_local.spark import jvm
from dlt_local.spark.pipeline_session import PipelineSession

_CALL = re.compile(r"\b(read_files|cloud_files)\s*\(", re.IGNORECASE)
_METADATA = re.compile(r"\b_metadata\b", re.IGNORECASE)
_PREFIX = "cloudfiles."


@dataclass(frozen=True)
class _Call:
    function: str
    start: int
    end: int
    """Where the call ends in the text, with the `STREAM` around it if there is one."""
    streams: bool
    arguments: tuple[tuple[str, str], ...]
    """The name of each argument, empty for one without, and its text."""


def are_called(text: str) -> bool:
    """True if a query may call one of the functions.

    >>> are_called("SELECT * FROM STREAM read_files('/data')"), are_called("SELECT read_files FROM t")
    (True, False)
    """
    return bool(_CALL.search(text))


def run(text: str, session: PipelineSession, auto_loader: AutoLoader, sql: Callable[[str], DataFrame]) -> DataFrame:
    """The frame of a query that calls the functions.

    Args:
        text: the query.
        session: the session that runs it.
        auto_loader: reads the files.
        sql: runs the query with a name in the place of each call.

    Raises:
        DeclarationError: as Auto Loader's reads, or AUTO_LOADER_OPTIONS for arguments that are not understood.
    """
    frames: dict[str, DataFrame] = {}
    # The names are the same each time, as they are a part of the plan, and flows share the session.
    with auto_loader.lock:
        try:
            for call in reversed(_calls(text)):
                name = f"{VIEW_OF_CALL}{len(frames)}"
                frames[name] = _frame(call, session, auto_loader)
                jvm.name_frame(frames[name], name)
                text = f"{text[: call.start]}{name}{text[call.end :]}"
            return (
                jvm.sql_over_frames(session, session.with_real_names(text), frames)
                if _METADATA.search(text)
                else sql(text)
            )
        finally:
            for name in frames:
                jvm.drop_name(session, name)


def _calls(text: str) -> list[_Call]:
    tokens = [token for statement in statements(text) for token in statement.tokens]
    found = []
    for index, token in enumerate(tokens[:-1]):
        if _CALL.fullmatch(f"{token.text}(") and tokens[index + 1].text == "(":
            found.append(_call(text, tokens, index))
    return found


def _call(text: str, tokens: list[Token], index: int) -> _Call:
    opening = index + 1
    depth = tokens[opening].depth
    closing = next(i for i in range(opening + 1, len(tokens)) if tokens[i].text == ")" and tokens[i].depth == depth)
    arguments = []
    for first, end in split(tokens, opening + 1, closing):
        arrow = next((i for i in range(first, end - 1) if tokens[i].text == "=" and tokens[i + 1].text == ">"), None)
        name = "" if arrow is None else "".join(token.value for token in tokens[first:arrow])
        value = first if arrow is None else arrow + 2
        arguments.append((name, text[tokens[value].start : tokens[end - 1].end]))
    start, last, streams = index, closing, False
    if index >= 1 and tokens[index - 1].is_word("STREAM"):
        start, streams = index - 1, True
    elif index >= 2 and tokens[index - 1].text == "(" and tokens[index - 2].is_word("STREAM"):
        start, last, streams = index - 2, closing + 1, True
    function = tokens[index].text.lower()
    streams = streams or function == "cloud_files"
    return _Call(function, tokens[start].start, tokens[last].end, streams, tuple(arguments))


def _frame(call: _Call, session: SparkSession, auto_loader: AutoLoader) -> DataFrame:
    path, options = _path_and_options(call, session)
    schema = options.pop("schema", None)
    if call.function == "read_files":
        options = {_with_prefix(name): value for name, value in options.items()}
        lower = {name.lower() for name in options}
        if f"{_PREFIX}infercolumntypes" not in lower:
            options["cloudFiles.inferColumnTypes"] = "true"
        if f"{_PREFIX}format" not in lower and (found := auto_loader.format_of(path, caller())):
            options["cloudFiles.format"] = found
    columns: StructType | None = None if schema is None else StructType.fromDDL(schema)  # type: ignore[assignment]
    read = auto_loader.stream if call.streams else auto_loader.batch
    return read(options, path, columns, caller())


def _path_and_options(call: _Call, session: SparkSession) -> tuple[str, dict[str, str]]:
    values = [(name, _constant(text, session)) for name, text in call.arguments]
    unnamed = [value for name, value in values if not name]
    named = {name: _text(value) for name, value in values if name}
    path = named.pop("path", None)
    if path is None and unnamed:
        path = str(unnamed.pop(0))
    if call.function == "cloud_files" and unnamed:
        named["cloudFiles.format"] = str(unnamed.pop(0))
        if unnamed and isinstance(unnamed[0], Mapping):
            named |= {str(name): _text(value) for name, value in dict(unnamed.pop(0)).items()}  # type: ignore[call-overload]
    if path is None or unnamed:
        message = f"the arguments of `{call.function}` are not understood"
        fix = "write read_files('FOLDER', format => 'json') or cloud_files('FOLDER', 'json', map('header', 'true'))"
        raise DeclarationError("AUTO_LOADER_OPTIONS", message, caller(), fix)
    return path, named


def _constant(text: str, session: SparkSession) -> object:
    """The value of a constant expression."""
    row = SparkSession.sql(session, f"SELECT {text}").head()
    assert row is not None
    return row[0]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with_prefix(name: str) -> str:
    """The name of Auto Loader's option for that of `read_files`."""
    full = f"{_PREFIX}{name.lower()}"
    has_prefix = full in option_names.READ or full in option_names.NO_EFFECT or full in option_names.REFUSED
    return f"cloudFiles.{name}" if has_prefix else name
