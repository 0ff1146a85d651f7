"""Queries that read something else in place of a table: the files of a batch, or another frame."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.types import StructType

from dlt_local.spark.jvm.gateway import elements, entries, java_class, java_schema, scala_seq, static
from dlt_local.spark.jvm.plans import analyzed_plan, has_any, leaves, parsed_plan, with_children
from dlt_local.spark.jvm.sessions import cloned


def sql_over_frames(session: SparkSession, text: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The frame of a query in which some names of tables stand for frames, with the hidden columns of their files.

    A temporary view hides `_metadata`. Names inside of subqueries and of WITH are left as they are.

    Raises:
        ParseException, AnalysisException: as `SparkSession.sql`.
    """
    plans = {name: analyzed_plan(frame) for name, frame in frames.items()}
    plan = _with_relations(session, parsed_plan(session, text), plans)
    return _of_plan(session, plan)


def _with_relations(session: SparkSession, plan: Any, plans: Mapping[str, Any]) -> Any:
    if plan.nodeName() == "UnresolvedRelation":
        return plans.get(str(plan.tableName()), plan)
    children = elements(plan.children())
    if not children:
        return plan
    return plan.withNewChildren(scala_seq(session, [_with_relations(session, child, plans) for child in children]))


_STATELESS = {"Project", "Filter", "SubqueryAlias", "Generate", "View", "StreamingRelation"}


@dataclass(frozen=True)
class StreamedTable:
    """The Delta table that a streaming query reads."""

    path: str
    schema: StructType
    """What the query reads of it, which may include hidden columns such as `_metadata`."""
    output: Any
    """The same as attributes of the plan."""

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return self.schema.names


def streamed_table(frame: DataFrame) -> StreamedTable | None:
    """The table that a query streams; None if it reads anything else, keeps state, or asks what time it is.

    The time of a batch is the same for all jobs that compute its rows only in a streaming query.
    """
    plan = analyzed_plan(frame)
    if has_any(frame.sparkSession, plan, "CURRENT_LIKE", "PLAN_EXPRESSION"):
        return None
    operators = list(with_children(plan))
    if any(operator.nodeName() not in _STATELESS for operator in operators):
        return None
    relations = [operator for operator in operators if operator.nodeName() == "StreamingRelation"]
    if len(relations) != 1 or relations[0].sourceName() != "delta":
        return None
    options = entries(relations[0].dataSource().options())
    # Commits that `skipChangeCommits` skips remove rows.
    if options.keys() - {"skipChangeCommits"} != {"path"}:
        return None
    path, schema = options["path"], StructType.fromJson(json.loads(relations[0].schema().json()))
    if path.startswith("file:"):
        path = unquote(urlsplit(path).path)
    return StreamedTable(path, schema, relations[0].output())


def named_tables(frame: DataFrame, format: str) -> Iterator[tuple[str, str]]:
    """The tables of a file format that a query reads by a name of Spark's catalog.

    Yields `schema.table`, and the URI of its folder.
    """
    plan = analyzed_plan(frame)
    # Each call of Java counts, and most queries have no such table: the text of a relation has its format, that of a
    # stream of files its source.
    text = str(plan.collectLeaves().mkString())
    if format not in text and "FileSource" not in text and not plan.subqueriesAll().size():
        return
    for leaf in leaves(plan):
        kind = leaf.nodeName()
        if kind not in ("LogicalRelation", "StreamingRelation"):
            continue
        found = (leaf if kind == "LogicalRelation" else leaf.dataSource()).catalogTable()
        if found.isEmpty() or not found.get().provider().contains(format):
            continue
        name, location = found.get().identifier(), found.get().storage().locationUri()
        yield f"{name.database().get()}.{name.table()}", str(location.get().toString())


def required_texts(frame: DataFrame) -> list[tuple[str, str]]:
    """What the rows of a streamed table need for a query to keep them: columns, each with the text that it must be.

    Only conditions of the form ``column = 'text'`` in filters that are directly on the table.
    """
    required: list[tuple[str, str]] = []
    operators = list(with_children(analyzed_plan(frame)))
    for each in reversed(operators[:-1]):
        if each.nodeName() == "Filter":
            required += filter(None, map(_required_text, _conjuncts(each.condition())))
        elif each.nodeName() != "SubqueryAlias":
            break
    return required


def _conjuncts(condition: Any) -> Iterator[Any]:
    if condition.nodeName() == "And":
        yield from _conjuncts(condition.left())
        yield from _conjuncts(condition.right())
    else:
        yield condition


def _required_text(condition: Any) -> tuple[str, str] | None:
    if condition.nodeName() != "EqualTo":
        return None
    column, value = condition.left(), condition.right()
    if column.nodeName() != "AttributeReference" or value.nodeName() != "Literal":
        return None
    # Of another collation, texts that differ may be equal; its name is part of the type's.
    if {column.dataType().simpleString(), value.dataType().simpleString()} != {"string"} or value.value() is None:
        return None
    return str(column.name()), str(value.value().toString())


def with_files(frame: DataFrame, table: StreamedTable, files: list[str]) -> DataFrame:
    """The rows that a streaming query makes of some Parquet files of its table, in a copy of its session."""
    session = cloned(frame.sparkSession)
    rows = _files_as(session, table.output, table.schema, files)
    return _of_plan(session, _with_leaf(session, analyzed_plan(frame), rows))


def no_rows(session: SparkSession, schema: StructType) -> DataFrame:
    """A frame without rows. pyspark's own is made by Python workers, whose environment other threads may change."""
    none = java_class(session, "java.util.ArrayList")()
    return DataFrame(session._jsparkSession.createDataFrame(none, java_schema(session, schema)), session)


def read_files(session: SparkSession, schema: StructType, files: list[str]) -> DataFrame:
    """The rows of Parquet files; none of none."""
    if not files:
        return no_rows(session, schema)
    return session.read.option("__globPaths__", "false").schema(schema).parquet(*files)


def _files_as(session: SparkSession, output: Any, schema: StructType, files: list[str]) -> Any:
    """A relation of some files whose attributes are those that a plan's expressions name."""
    relation = analyzed_plan(read_files(session, schema, files))
    return relation.copy(
        relation.relation(), output, relation.catalogTable(), relation.isStreaming(), relation.stream()
    )


def _of_plan(session: SparkSession, plan: Any) -> DataFrame:
    of_rows = static(session, "org.apache.spark.sql.classic.Dataset.ofRows")
    return DataFrame(of_rows(session._jsparkSession, plan), session)


_IN_MEMORY = {"LocalRelation", "OneRowRelation", "Range"}


FilesOf = Callable[[str], tuple[StructType, list[str]] | None]
"""The path of a Delta table -> its schema and the files that hold its rows; None if it has to be read by Delta."""


def with_tables_as_files(frame: DataFrame, files_of: FilesOf) -> DataFrame:
    """The same batch query, reading files in place of Delta tables; the frame itself if it cannot be so."""
    session, plan = frame.sparkSession, analyzed_plan(frame)
    if has_any(session, plan, "PLAN_EXPRESSION"):
        return frame
    replaced: dict[int, Any] = {}
    for leaf in elements(plan.collectLeaves()):
        if leaf.nodeName() in _IN_MEMORY:
            continue
        path = _delta_path(leaf)
        found = None if path is None else files_of(path)
        output = elements(leaf.output()) if found is not None else []
        # A query of hidden columns, such as `_metadata`, has more attributes than the table has columns.
        if found is None or not found[1] or [attribute.name() for attribute in output] != found[0].names:
            return frame
        replaced[leaf.hashCode()] = _files_as(session, leaf.output(), *found)
    return _of_plan(session, _with_leaves(session, plan, replaced)) if replaced else frame


def _delta_path(leaf: Any) -> str | None:
    """The folder of the Delta table that a leaf of a batch query reads as it is now; None for any other leaf."""
    if leaf.nodeName() != "LogicalRelation":
        return None
    relation = leaf.relation()
    kind = relation.getClass()
    # Delta's is an anonymous subclass.
    if "HadoopFsRelation" not in (kind.getSimpleName(), kind.getSuperclass().getSimpleName()):
        return None
    location = relation.location()
    if not str(location.getClass().getSimpleName()).startswith("TahoeLogFileIndex"):
        return None
    if location.isTimeTravelQuery():
        return None
    return str(location.path().toUri().getPath())


def _with_leaves(session: SparkSession, plan: Any, leaves: Mapping[int, Any]) -> Any:
    children = elements(plan.children())
    if not children:
        return leaves.get(plan.hashCode(), plan)
    changed = [_with_leaves(session, child, leaves) for child in children]
    return plan.withNewChildren(scala_seq(session, changed))


def _with_leaf(session: SparkSession, plan: Any, leaf: Any) -> Any:
    children = elements(plan.children())
    if not children:
        return leaf
    return plan.withNewChildren(scala_seq(session, [_with_leaf(session, each, leaf) for each in children]))


def is_empty(observation: Observation) -> bool:
    """True for an observation that ended without metrics, since Spark had optimized the query away."""
    return observation._jo is not None and observation._jo.getRow().size() == 0


def release_checkpoint(frame: DataFrame) -> None:
    """Free the blocks of a frame made by `DataFrame.localCheckpoint`."""
    frame._jdf.logicalPlan().rdd().unpersist(False)
