"""What an analysed query reads, taken from its logical plan."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from dlt_local.names import TableName, parts

_CATALOG = "spark_catalog."
_ALIAS = re.compile(r"(~?)SubqueryAlias (spark_catalog\.\S.*)$")
_VIEW = re.compile(r"View \(`(.*)`, \[")
_IDS = re.compile(r"#\d+L?|\S*dlt_local-\w+")
# Of a function in a query (`F.transform`) pyspark numbers the variables through the whole process.
_VARIABLES = re.compile(r"\blambda ([a-z])_\d+")
_FILE_FORMATS = ("binaryfile", "csv", "json", "orc", "parquet", "text", "xml")
_PATTERN = re.compile(r"[*?\[\]{}\\]")
_CHANGE_OPTIONS = ("readchangefeed", "readchangedata", "skipchangecommits", "ignorechanges", "ignoredeletes")


@dataclass(frozen=True)
class _Source:
    """What a stream reads from."""

    format: str
    options: Mapping[str, str]
    """By their names in lower case."""


@dataclass(frozen=True)
class Plan:
    """The inputs of one query."""

    text: str
    """The plan without the numbers that differ from one analysis to the next."""
    tables: tuple[TableName, ...]
    streamed_tables: tuple[TableName, ...]
    views: tuple[str, ...]
    """Innermost first."""
    folders: tuple[str, ...]
    """Folders of this machine of which the query streams the files that come."""
    reads_outside: bool
    """True where some other leaf is no table of the pipeline: a topic, rows made in Python."""
    tables_read_as_changes: frozenset[TableName]

    def reads_changes_of(self, name: TableName) -> bool:
        """True where the query asks for the table's change feed, or to pass over changed rows."""
        return name in self.tables_read_as_changes


def read_plan(frame: DataFrame, real_name: Callable[[TableName], TableName], scratch: str) -> Plan:
    """Find a query's inputs. Classic Spark only: the plan is the JVM's.

    Args:
        frame: the analysed query.
        real_name: from a table's name as the query has it to the dataset's.
        scratch: the folder of the files that stand in for tables.
    """
    plan = frame._jdf.queryExecution().analyzed()
    text = _VARIABLES.sub(r"lambda \1", _IDS.sub("#", str(plan.treeString())))
    tables: dict[TableName, bool] = {}
    views: dict[str, None] = {}
    for line in text.splitlines():
        if alias := _ALIAS.search(line):
            name = real_name(TableName(*parts(alias[2])[1:3]))
            tables[name] = tables.get(name, False) or alias[1] == "~"
        elif view := _VIEW.search(line):
            views[parts(f"`{view[1]}`")[-1]] = None
    streamed = tuple(name for name, is_streamed in tables.items() if is_streamed)
    leaves = plan.collectLeaves()
    streamed_from = tuple(_streams(leaves))
    folders = [folder for source in streamed_from if (folder := _folder(source)) not in (None, scratch)]
    return Plan(
        text=text,
        tables=tuple(tables),
        streamed_tables=streamed,
        views=tuple(reversed(views)),
        folders=tuple(sorted(set(folders))),
        reads_outside=leaves.size() > _relations(text) + len(folders),
        tables_read_as_changes=frozenset(streamed if any(map(_asks_for_changes, streamed_from)) else ()),
    )


def _relations(text: str) -> int:
    return sum(1 for line in text.splitlines() if _ALIAS.search(line))


def _streams(leaves: Any) -> Iterator[_Source]:
    for i in range(leaves.size()):
        # Sources of the newer kind, such as Kafka's, are neither tables of the pipeline nor files.
        if leaves.apply(i).nodeName() == "StreamingRelation":
            source = leaves.apply(i).dataSource()
            options = source.options()
            names = options.keysIterator()
            given = {}
            while names.hasNext():
                name = names.next()
                given[name.lower()] = options.apply(name)
            yield _Source(source.className().lower(), given)


def _folder(source: _Source) -> str | None:
    """The folder of a file source; None where its files may lie elsewhere, or change for another reason than news."""
    path = source.options.get("path", "").removeprefix("file:")
    is_plain = path.startswith("/") and not _PATTERN.search(path)
    if source.format not in _FILE_FORMATS or not is_plain or "cleansource" in source.options:
        return None
    return path


def _asks_for_changes(source: _Source) -> bool:
    return any(option in source.options for option in _CHANGE_OPTIONS)
