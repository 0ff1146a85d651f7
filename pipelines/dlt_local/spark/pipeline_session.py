"""The session of a pipeline, as its source files see it: it knows which table each name means.

Spark's catalog has one table of each schema and name. A name with a catalog may mean another one, a table outside of
the pipeline, so names are resolved before Spark sees them.
"""

import re
from collections.abc import Callable
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import DataFrame
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader

from dlt_local.names import parts, quote
from dlt_local.spark import jvm
from dlt_local.spark.query_calls import Call, CopyingRegistration, CopyingTableRegistration, statement

OptionValue = bool | float | int | str | None
ResolveName = Callable[[tuple[str, ...]], str | None]
"""The parts of a table's name -> the name, as SQL, by which the session has it; None if that is the same."""

_PART = r"(?:`(?:[^`]|``)+`|[^\W\d]\w*)"
_NAME = re.compile(
    rf"""'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | --[^\n]* | /\*.*?\*/ | (?P<name>{_PART}(?:\.{_PART})+)""",
    re.VERBOSE | re.DOTALL,
)
_READS_NOTHING = re.compile(
    r"\s*(CREATE(?!.*\bVIEW\b)|DROP|ALTER|DESCRIBE|SHOW|SET|USE|OPTIMIZE|VACUUM|COMMENT)\b", re.IGNORECASE | re.DOTALL
)
_CTE = re.compile(r"\bCTE \[(.*?)\]")
_RELATION = re.compile(r"UnresolvedRelation \[(.*?)\], \[")


def own_class(value: OptionValue) -> OptionValue:
    """An option's value with Kafka's classes under their own names: Databricks has them as `kafkashaded.org...`.

    >>> own_class("kafkashaded.org.apache.kafka.common.security.plain.PlainLoginModule required;")
    'org.apache.kafka.common.security.plain.PlainLoginModule required;'
    """
    return value.replace("kafkashaded.org.apache.", "org.apache.") if isinstance(value, str) else value


class PipelineReader(DataFrameReader):
    """A batch reader that resolves the names of tables first."""

    def __init__(self, session: "PipelineSession") -> None:
        super().__init__(session)
        self._pipeline_session = session

    def option(self, key: str, value: OptionValue) -> DataFrameReader:
        """As Spark's."""
        return super().option(key, own_class(value))

    def options(self, **options: OptionValue) -> DataFrameReader:
        """As Spark's."""
        return super().options(**{key: own_class(value) for key, value in options.items()})

    def table(self, tableName: str) -> DataFrame:
        """As Spark's."""
        return super().table(self._pipeline_session.real_name(tableName))


class PipelineStreamReader(DataStreamReader):
    """A stream reader that resolves the names of tables first."""

    def __init__(self, session: "PipelineSession") -> None:
        super().__init__(session)
        self._pipeline_session = session

    def option(self, key: str, value: OptionValue) -> DataStreamReader:
        """As Spark's."""
        return super().option(key, own_class(value))

    def options(self, **options: OptionValue) -> DataStreamReader:
        """As Spark's."""
        return super().options(**{key: own_class(value) for key, value in options.items()})

    def table(self, tableName: str) -> DataFrame:
        """As Spark's."""
        return super().table(self._pipeline_session.real_name(tableName))


class PipelineSession(jvm.CopiedSession):
    """A session that resolves the names of tables first; without ``resolve_name``, as Spark does."""

    resolve_name: ResolveName | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._functions: dict[tuple[str, ...], str] = {}

    def call(self) -> Call:
        """A call of a query function that may change the session."""
        return Call(self)

    def add_function(self, name: tuple[str, ...], temporary: str) -> None:
        """Let queries call a temporary function by a name with a schema, or with a catalog and a schema."""
        self._functions[tuple(part.lower() for part in name)] = temporary

    def real_name(self, name: str) -> str:
        """The name by which the session has the table that a source file calls ``name``."""
        real = None if self.resolve_name is None else self.resolve_name(parts(name))
        return name if real is None else real

    def table(self, tableName: str) -> DataFrame:
        """As Spark's."""
        return super().table(self.real_name(tableName))

    @property
    def udf(self) -> CopyingRegistration:
        """As Spark's."""
        return CopyingRegistration(self)

    @property
    def udtf(self) -> CopyingTableRegistration:
        """As Spark's."""
        return CopyingTableRegistration(self)

    @property
    def read(self) -> PipelineReader:
        """As Spark's."""
        return PipelineReader(self)

    @property
    def readStream(self) -> PipelineStreamReader:
        """As Spark's."""
        return PipelineStreamReader(self)

    def sql(self, sqlQuery: str, *args: Any, **kwargs: Any) -> DataFrame:
        """As Spark's."""
        return super().sql(self.with_real_names(statement(sqlQuery)), *args, **kwargs)

    def with_real_names(self, text: str) -> str:
        """A query with the names by which the session has its tables and functions."""
        if self.resolve_name is None or _READS_NOTHING.match(text):
            return text
        text = self.with_real_functions(text)
        try:
            plan = str(jvm.parsed_plan(self, text).treeString())
        except ParseException:
            # Spark says what is wrong with it; or it has placeholders that are filled in later.
            return text
        # Only where Spark takes it for a table: elsewhere the same words may be a column and its fields.
        relations = {tuple(found.split(", ")) for found in _RELATION.findall(plan)}
        relations -= {(name,) for found in _CTE.findall(plan) for name in found.split(", ")}
        for name in relations:
            # Whatever the text looks like: who resolves names also learns what is read.
            self.resolve_name(name)
        return _NAME.sub(lambda match: self._real(match, relations), text)

    def with_real_functions(self, text: str) -> str:
        """SQL with the names by which the session has its functions."""
        return _NAME.sub(self._real_function, text) if self._functions else text

    def _real_function(self, match: "re.Match[str]") -> str:
        if match["name"] is None or not match.string[match.end() :].lstrip().startswith("("):
            return match[0]
        called = tuple(part.lower() for part in parts(match["name"]))
        # What a pipeline of this catalog leaves out of a name is the same in all of its functions.
        found = [temporary for name, temporary in self._functions.items() if name[-len(called) :] == called]
        return found[0] if len(found) == 1 else match[0]

    def _real(self, match: "re.Match[str]", relations: set[tuple[str, ...]]) -> str:
        found = match["name"]
        if found is None:
            return match[0]
        split = parts(found)
        # A column may be qualified by the whole name of its table.
        length = next((n for n in (3, 2) if split[:n] in relations), 0)
        real = self.resolve_name(split[:length]) if length and self.resolve_name is not None else None
        return match[0] if real is None else ".".join([real, *map(quote, split[length:])])
