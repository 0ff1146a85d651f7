"""What an analysed query reads, taken from its logical plan."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from dlt_local.names import TableName, parts

_CATALOG = "spark_catalog."
_ALIAS = re.compile(r"(~?)SubqueryAlias (spark_catalog\.\S.*)$")
_VIEW = re.compile(r"View \(`(.*)`, \[")
_IDS = re.compile(r"#\d+L?|\S*dlt_local-\w+")
# Of a function in a query (`F.transform`) pyspark numbers the variables through the whole process.
_VARIABLES = re.compile(r"\blambda ([a-z])_\d+")
_CHANGE_OPTIONS = ("readchangefeed", "readchangedata", "skipchangecommits", "ignorechanges", "ignoredeletes")


@dataclass(frozen=True)
class Plan:
    """The inputs of one query."""

    text: str
    """The plan without the numbers that differ from one analysis to the next."""
    tables: tuple[TableName, ...]
    streamed_tables: tuple[TableName, ...]
    views: tuple[str, ...]
    """Innermost first."""
    reads_outside: bool
    """True where some leaf is no table of the pipeline: a file, a topic, rows made in Python."""
    tables_read_as_changes: frozenset[TableName]

    def reads_changes_of(self, name: TableName) -> bool:
        """True where the query asks for the table's change feed, or to pass over changed rows."""
        return name in self.tables_read_as_changes


def read_plan(frame: DataFrame, real_name: Callable[[TableName], TableName]) -> Plan:
    """Find a query's inputs. Classic Spark only: the plan is the JVM's.

    Args:
        frame: the analysed query.
        real_name: from a table's name as the query has it to the dataset's.
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
    return Plan(
        text=text,
        tables=tuple(tables),
        streamed_tables=streamed,
        views=tuple(reversed(views)),
        reads_outside=leaves.size() > _relations(text),
        tables_read_as_changes=frozenset(streamed if _asks_for_changes(leaves) else ()),
    )


def _relations(text: str) -> int:
    return sum(1 for line in text.splitlines() if _ALIAS.search(line))


def _asks_for_changes(leaves: object) -> bool:
    for i in range(leaves.size()):  # type: ignore[attr-defined]
        leaf = leaves.apply(i)  # type: ignore[attr-defined]
        # Sources of the newer kind, such as Kafka's, have no tables of the pipeline behind them.
        if leaf.nodeName() == "StreamingRelation":
            options = str(leaf.dataSource().options()).lower()
            if any(option in options for option in _CHANGE_OPTIONS):
                return True
    return False
