"""The inputs of a query, found in its analyzed logical plan."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dlt_local.graph.stream_sources import FileSource, KafkaSource
from dlt_local.names import EXTERNAL_SCHEMA, VIEW_OF_CALL, TableName, parts
from dlt_local.spark import jvm
from dlt_local.spark.external_tables import is_path

_ALIAS = re.compile(r"(~?)SubqueryAlias (spark_catalog\.\S.*)$")
_VIEW = re.compile(r"View \(`(.*)`, \[")
# The path of a scratch folder; and expression ids.
SCRATCH = re.compile(r"\S*dlt_local-\w+")
EXPRESSION_ID = re.compile(r"#(\d+)L?")
"""Spark's number of an expression in the text of a plan."""
_IDS = re.compile(rf"#\d+L?|{SCRATCH.pattern}")
# A JVM object without a text of its own, such as the table of a Kafka stream, is printed as its class and its address.
_ADDRESS = re.compile(r"\b((?:[a-z]\w*\.)+[A-Z][\w$]*)@[0-9a-f]+\b")
# pyspark numbers the variables of lambda functions (`F.transform`) through the whole process.
_VARIABLES = re.compile(r"\blambda ([a-z])_\d+")
_FILE_FORMATS = ("binaryfile", "csv", "json", "orc", "parquet", "text", "xml")
# The leaf of a stream from files or from a table, and that of a stream from Kafka or another newer source.
_FILES_OR_TABLE, _NEWER_SOURCE = "StreamingRelation", "StreamingRelationV2"
_PATTERN = re.compile(r"[*?\[\]{}\\]")
_CHANGE_OPTIONS = ("readchangefeed", "readchangedata", "skipchangecommits", "ignorechanges", "ignoredeletes")


@dataclass(frozen=True)
class _Source:
    """The source of a stream."""

    format: str
    options: Mapping[str, str]
    """By their names in lower case."""


@dataclass(frozen=True)
class Plan:
    """The inputs of one query."""

    tables: tuple[TableName, ...]
    streamed_tables: tuple[TableName, ...]
    views: tuple[str, ...]
    """Innermost first."""
    files: tuple[FileSource, ...]
    """Local folders whose files the query streams."""
    kafka: tuple[KafkaSource, ...]
    reads_outside: bool
    """True if it reads anything else: a topic, rows made in Python."""
    tables_read_as_changes: frozenset[TableName]

    def reads_changes_of(self, name: TableName) -> bool:
        """True if the query reads the table's change feed, or skips commits that change rows."""
        return name in self.tables_read_as_changes


def read_plan(plan: Any, text: str, real_name: Callable[[TableName], TableName], scratch: str) -> Plan:
    """Find a query's inputs.

    Args:
        plan: the query's analyzed plan.
        text: the plan as a tree, without numbers.
        real_name: maps a table name in the plan to the name of the dataset.
        scratch: the folder of the placeholder tables.
    """
    relations = 0
    tables: dict[TableName, bool] = {}
    views: dict[str, None] = {}
    for line in text.splitlines():
        if alias := _ALIAS.search(line):
            found = TableName(*parts(alias[2])[1:3])
            if found.schema.lower() == EXTERNAL_SCHEMA or is_path((found.schema, found.table)):
                continue
            relations += 1
            name = real_name(found)
            tables[name] = tables.get(name, False) or alias[1] == "~"
        elif (view := _VIEW.search(line)) and not view[1].startswith(VIEW_OF_CALL):
            views[parts(f"`{view[1]}`")[-1]] = None
    streamed_tables = tuple(name for name, is_streamed in tables.items() if is_streamed)
    leaves = jvm.leaves(plan)
    sources = [_source(leaf) for leaf in leaves if leaf.nodeName() == _FILES_OR_TABLE]
    files = [source for source in map(_files, sources) if source is not None and source.folder != scratch]
    return Plan(
        tables=tuple(tables),
        streamed_tables=streamed_tables,
        views=tuple(reversed(views)),
        files=tuple(files),
        kafka=tuple(source for leaf in leaves if (source := _kafka(leaf)) is not None),
        reads_outside=len(leaves) > relations + len(files),
        tables_read_as_changes=frozenset(streamed_tables if any(map(_reads_changes, sources)) else ()),
    )


def without_numbers(text: str) -> str:
    """A plan's text without the numbers that differ from one analysis to the next.

    >>> without_numbers("StreamingRelationV2 kafka, org.apache.spark.KafkaSourceProvider$KafkaTable@5f1c, [key#12]")
    'StreamingRelationV2 kafka, org.apache.spark.KafkaSourceProvider$KafkaTable, [key#]'
    """
    return _VARIABLES.sub(r"lambda \1", _ADDRESS.sub(r"\1", _IDS.sub("#", text)))


def _source(leaf: Any) -> _Source:
    source = leaf.dataSource()
    options = {name.lower(): value for name, value in jvm.entries(source.options()).items()}
    return _Source(source.className().lower(), options)


def _files(source: _Source) -> FileSource | None:
    """The files of a file source; None if its path has a pattern or is not local, or if it may remove what it read."""
    path = source.options.get("path", "").removeprefix("file:")
    is_plain = path.startswith("/") and not _PATTERN.search(path)
    if source.format not in _FILE_FORMATS or not is_plain or "cleansource" in source.options:
        return None
    recursive = source.options.get("recursivefilelookup", "false").lower() == "true"
    return FileSource(path, source.options.get("pathglobfilter"), recursive)


def _kafka(leaf: Any) -> KafkaSource | None:
    if leaf.nodeName() != _NEWER_SOURCE or leaf.sourceName() != "kafka":
        return None
    return KafkaSource(dict(leaf.extraOptions()))


def _reads_changes(source: _Source) -> bool:
    return any(option in source.options for option in _CHANGE_OPTIONS)
