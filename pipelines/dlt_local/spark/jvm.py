"""Spark's JVM objects behind py4j: the only file that touches the private attributes of pyspark.

Classic Spark only. A plan is a JVM object of type `Any`; walk it with `elements` and its own methods.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.types import StructType

S = TypeVar("S", bound=SparkSession)


def _jvm(session: SparkSession) -> Any:
    assert session._jvm is not None
    return session._jvm


def new_session(base: SparkSession, options: Mapping[str, str], kind: type[S]) -> S:
    """A session of class ``kind`` on the Spark context of ``base``, with a catalog and a shared state of its own."""
    context = base.sparkContext._jsc.sc()
    java_options = _jvm(base).java.util.HashMap()
    for key, value in options.items():
        java_options[key] = value
    # newSession() would share the catalog.
    java_session = _jvm(base).org.apache.spark.sql.classic.SparkSession(context, java_options)
    # Each shared state adds a listener that keeps the plans of every query in the process, for a UI that is off. They
    # would pile up, one for each pipeline.
    listener = java_session.sharedState().statusStore().listener()
    if listener.isDefined():
        context.listenerBus().removeListener(listener.get())
    return kind(base.sparkContext, java_session)


def apply_options(session: SparkSession, builder: SparkSession.Builder) -> None:
    """Set the options of a session builder on an existing session, as Spark does: those that can be changed."""
    module = SparkSession._get_j_spark_session_module(_jvm(session))
    module.applyModifiableSettings(session._jsparkSession, dict(builder._options))


def check_streamable(frame: DataFrame, output_mode: str) -> None:
    """Refuse a stream that Spark cannot run in an output mode, `Append` or `Complete`.

    Raises:
        AnalysisException: it cannot, and why.
    """
    modes = _jvm(frame.sparkSession).org.apache.spark.sql.streaming.OutputMode
    checker = _jvm(frame.sparkSession).org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
    checker.checkForStreaming(analyzed_plan(frame), getattr(modes, output_mode)())


def in_cloned_session(frame: DataFrame) -> DataFrame:
    """The same query in a copy of its session, which shares the catalog but not the conf."""
    session = frame.sparkSession
    java_session = session._jsparkSession.cloneSession()
    dataset = _jvm(session).org.apache.spark.sql.classic.Dataset.ofRows(java_session, analyzed_plan(frame))
    return DataFrame(dataset, SparkSession(session.sparkContext, java_session))


def cloned(session: SparkSession) -> SparkSession:
    """A copy of a session, with the same catalog and a conf of its own."""
    return SparkSession(session.sparkContext, session._jsparkSession.cloneSession())


def end_java(session: SparkSession) -> None:
    """Stop Spark and wait until Java has ended; this Python process cannot start it again."""
    gateway = session.sparkContext._gateway
    session.stop()
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


@contextmanager
def active_session(session: SparkSession) -> Iterator[None]:
    """Make ``session`` the active one of this thread for the duration of a block."""
    companion = _jvm(session).org.apache.spark.sql.SparkSession
    before = companion.getActiveSession()
    companion.setActiveSession(session._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            companion.setActiveSession(before.get())
        else:
            companion.clearActiveSession()


def callback_connection(session: SparkSession) -> Any:
    """The connection over which the JVM thread that called this Python thread calls Python; None where there is none.

    Call it in a callback. The JVM keeps one for each of its threads, and a Python thread and two sockets with it, for
    as long as the process lives: `close_callback_connection` ends them when the JVM's thread has ended.
    """
    gateway = session.sparkContext._gateway
    return None if gateway is None else gateway.java_gateway_server.getCallbackClient().getPerThreadConnection()


def close_callback_connection(connection: Any) -> None:
    """Close a connection, which ends the Python thread that waits for its next call."""
    connection.shutdown()


def sql_over_frames(session: SparkSession, text: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The frame of a query in which some names of tables stand for frames, with the hidden columns of their files.

    A temporary view hides `_metadata`. Names inside of subqueries and of WITH are left as they are.

    Raises:
        ParseException, AnalysisException: as `SparkSession.sql`.
    """
    plans = {name: analyzed_plan(frame) for name, frame in frames.items()}
    plan = _with_relations(session, parsed_plan(session, text), plans)
    dataset = _jvm(session).org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan)
    return DataFrame(dataset, session)


def _with_relations(session: SparkSession, plan: Any, plans: Mapping[str, Any]) -> Any:
    if plan.nodeName() == "UnresolvedRelation":
        return plans.get(str(plan.tableName()), plan)
    children = elements(plan.children())
    if not children:
        return plan
    return plan.withNewChildren(
        _jvm(session).PythonUtils.toSeq([_with_relations(session, child, plans) for child in children])
    )


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
    patterns = _tree_patterns(frame.sparkSession)
    if any(plan.containsPattern(pattern) for pattern in (patterns.CURRENT_LIKE(), patterns.PLAN_EXPRESSION())):
        return None
    operators = list(_with_children(plan))
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


def with_files(frame: DataFrame, table: StreamedTable, files: list[str]) -> DataFrame:
    """The rows that a streaming query makes of some Parquet files of its table, in a copy of its session."""
    session = cloned(frame.sparkSession)
    rows = _files_as(session, table.output, table.schema, files)
    return _of_plan(session, _with_leaf(session, analyzed_plan(frame), rows))


def no_rows(session: SparkSession, schema: StructType) -> DataFrame:
    """A frame without rows. pyspark's own is made by Python workers, whose environment other threads may change."""
    java_schema = _jvm(session).org.apache.spark.sql.types.DataType.fromJson(schema.json())
    return DataFrame(session._jsparkSession.createDataFrame(_jvm(session).java.util.ArrayList(), java_schema), session)


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
    return DataFrame(_jvm(session).org.apache.spark.sql.classic.Dataset.ofRows(session._jsparkSession, plan), session)


_IN_MEMORY = {"LocalRelation", "OneRowRelation", "Range"}
FilesOf = Callable[[str], tuple[StructType, list[str]] | None]
"""The path of a Delta table -> its schema and the files that hold its rows; None if it has to be read by Delta."""


def with_tables_as_files(frame: DataFrame, files_of: FilesOf) -> DataFrame:
    """The same batch query, reading files in place of Delta tables; the frame itself if it cannot be so."""
    session, plan = frame.sparkSession, analyzed_plan(frame)
    patterns = _tree_patterns(session)
    if plan.containsPattern(patterns.PLAN_EXPRESSION()):
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
    return plan.withNewChildren(_jvm(session).PythonUtils.toSeq(changed))


def _with_leaf(session: SparkSession, plan: Any, leaf: Any) -> Any:
    children = elements(plan.children())
    if not children:
        return leaf
    return plan.withNewChildren(_jvm(session).PythonUtils.toSeq([_with_leaf(session, each, leaf) for each in children]))


def analyzed_plan(frame: DataFrame) -> Any:
    """The analyzed logical plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def leaves(plan: Any) -> list[Any]:
    """The leaves of a plan, and those of all its subqueries."""
    plans = [plan, *elements(plan.subqueriesAll())]
    return [leaf for each in plans for leaf in elements(each.collectLeaves())]


def plan_text(plan: Any) -> str:
    """A plan as a tree for people. The active session's conf decides what it leaves out."""
    return str(plan.treeString())


def plan_json(plan: Any) -> str | None:
    """A plan as JSON, if it has one."""
    try:
        return str(plan.toJSON())
    except Py4JJavaError:
        return None


def calls_python(session: SparkSession, plan: Any) -> bool:
    """True if a plan calls a Python function."""
    return _has_any(plan, _tree_patterns(session).PYTHON_UDF())


def is_of_the_moment(session: SparkSession, plan: Any) -> bool:
    """True if a plan asks for the current time or user, for a session's variable, or for what only Java knows."""
    known = _tree_patterns(session)
    return _has_any(plan, known.CURRENT_LIKE(), known.VARIABLE_REFERENCE(), known.SCALA_UDF())


def _has_any(plan: Any, *patterns: Any) -> bool:
    plans = [plan, *elements(plan.subqueriesAll())]
    return any(each.containsPattern(pattern) for each in plans for pattern in patterns)


def _tree_patterns(session: SparkSession) -> Any:
    """Spark's names of what can be in a plan."""
    return _jvm(session).org.apache.spark.sql.catalyst.trees.TreePattern


def expressions(plan: Any) -> Iterator[Any]:
    """All expressions of a plan and of its subqueries, parents first. Slow: several calls of the JVM for each."""
    for each in [plan, *elements(plan.subqueriesAll())]:
        for operator in _with_children(each):
            for top in elements(operator.expressions()):
                yield from _with_children(top)


def _with_children(node: Any) -> Iterator[Any]:
    yield node
    for child in elements(node.children()):
        yield from _with_children(child)


def python_function(expression: Any) -> bytes | None:
    """The pickled function of a call of a Python UDF; None for any other expression."""
    if not str(expression.getClass().getSimpleName()).startswith("Python"):
        return None
    numbers = str(expression.func().command().mkString(","))
    return bytes(int(number) % 256 for number in numbers.split(","))


def parsed_plan(session: SparkSession, statement: str) -> Any:
    """The logical plan of a SQL statement as parsed, not analyzed.

    Raises:
        ParseException: the statement is not valid SQL.
    """
    return session._jsparkSession.sessionState().sqlParser().parsePlan(statement)


def elements(sequence: Any) -> list[Any]:
    """The elements of a Scala Seq."""
    return [sequence.apply(index) for index in range(sequence.size())]


def entries(options: Any) -> dict[str, str]:
    """The entries of a Scala Map of strings."""
    keys = options.keysIterator()
    found: dict[str, str] = {}
    while keys.hasNext():
        key = keys.next()
        found[key] = options.apply(key)
    return found


def create_reserved_database(session: SparkSession, name: str, location: Path) -> None:
    """Create a database without the check that its name is not the one reserved for global temporary views."""
    jvm = _jvm(session)
    uri, properties = jvm.java.net.URI(location.as_uri()), jvm.PythonUtils.toScalaMap({})
    database = jvm.org.apache.spark.sql.catalyst.catalog.CatalogDatabase(name, "", uri, properties)
    _external_catalog(session).createDatabase(database, True)


@dataclass(frozen=True)
class ExternalFolder:
    """A table outside of Spark's warehouse: a folder, and how to read it."""

    location: Path
    provider: str
    """``delta``, or a file format."""
    schema: StructType
    """Empty where the folder itself says it, as a Delta table does."""


def register(session: SparkSession, database: str, table: str, folder: ExternalFolder) -> None:
    """Add a table to the session's catalog without looking at its folder; the database exists.

    What CREATE TABLE does, for a fifth of its time: that reads a Delta table's log to compare schemas.
    """
    jvm = _jvm(session)
    catalyst, none = jvm.org.apache.spark.sql.catalyst, jvm.scala.Option.empty()
    no_entries, no_elements = jvm.PythonUtils.toScalaMap({}), jvm.PythonUtils.toSeq([])
    uri = _some(session, jvm.java.net.URI(folder.location.as_uri()))
    storage = catalyst.catalog.CatalogStorageFormat(uri, none, none, none, False, no_entries, none)
    schema = jvm.org.apache.spark.sql.types.DataType.fromJson(folder.schema.json())
    now = int(time.time() * 1000)
    definition = catalyst.catalog.CatalogTable(
        catalyst.TableIdentifier(table, _some(session, database)),
        catalyst.catalog.CatalogTableType.EXTERNAL(),
        *(storage, schema, _some(session, folder.provider), no_elements, none),
        *("", now, -1, "", no_entries, none, none, none, none, no_elements),
        *(False, True, no_entries, none, none),
    )
    session._jsparkSession.sessionState().catalog().createTable(definition, False, False)


def unregister(session: SparkSession, database: str, table: str) -> None:
    """Drop a table from the session's catalog; its folder stays. Follow with `invalidate_cached_tables`."""
    identifier = _jvm(session).org.apache.spark.sql.catalyst.TableIdentifier(table, _some(session, database))
    session._jsparkSession.sessionState().catalog().dropTable(identifier, True, True)


def drop_reserved_table(session: SparkSession, database: str, table: str) -> None:
    """Drop a table of a database that Spark refuses to drop from; follow with `invalidate_cached_tables`."""
    _external_catalog(session).dropTable(database, table, True, True)


def invalidate_cached_tables(session: SparkSession) -> None:
    """Forget the files of every table that the session has read."""
    session._jsparkSession.sessionState().catalog().invalidateAllCachedTables()


def name_session_catalog(session: SparkSession, name: str) -> None:
    """Give the session catalog a second name: `<name>.schema.table` is `schema.table` from now on."""
    manager = session._jsparkSession.sessionState().catalogManager()
    # There is no public way: the manager's map of catalogs is private.
    field = manager.getClass().getDeclaredField("catalogs")
    field.setAccessible(True)
    field.get(manager).put(name, manager.v2SessionCatalog())


def _some(session: SparkSession, value: object) -> Any:
    return _jvm(session).scala.Option.apply(value)


def _external_catalog(session: SparkSession) -> Any:
    return session._jsparkSession.sharedState().externalCatalog()


def is_empty(observation: Observation) -> bool:
    """True for an observation that ended without metrics, since Spark had optimized the query away."""
    return observation._jo is not None and observation._jo.getRow().size() == 0


def release_checkpoint(frame: DataFrame) -> None:
    """Free the blocks of a frame made by `DataFrame.localCheckpoint`."""
    frame._jdf.logicalPlan().rdd().unpersist(False)


def forget_delta_log(session: SparkSession, path: Path) -> None:
    """Drop what Delta keeps in memory of the table at ``path``, because another table has taken its place."""
    _jvm(session).org.apache.spark.sql.delta.DeltaLog.invalidateCache(
        session._jsparkSession, _hadoop_path(session, path)
    )


def append_to_delta(rows: DataFrame, path: Path, application: str, version: int) -> None:
    """Append to the Delta table at ``path`` what no transaction of this application and version has appended.

    What a writer with the options txnAppId and txnVersion does, without a look for the transaction in the table, which
    has Delta compute the table's whole state.
    """
    jvm = _jvm(rows.sparkSession)
    mark = jvm.org.apache.spark.sql.delta.actions.SetTransaction(
        application, version, jvm.scala.Option.apply(int(time.time() * 1000))
    )
    _write_to_delta(rows, path, jvm.org.apache.spark.sql.SaveMode.Append, [mark])


def replace_in_delta(rows: DataFrame, path: Path, version: int, added: Iterable[str]) -> bool:
    """Replace the rows of the Delta table at ``path``; its schema and all else stay.

    What an overwrite does, without having Delta compute which files the table has.

    Args:
        rows: the new rows.
        path: the table.
        version: the table's latest.
        added: the action `add` of each of its files, as JSON.

    Returns:
        False, with nothing written, if the table has another version by now.
    """
    jvm = _jvm(rows.sparkSession)
    read = jvm.org.apache.spark.sql.delta.actions.Action.fromJson
    removed = [read(action).remove() for action in added]
    return _write_to_delta(rows, path, jvm.org.apache.spark.sql.SaveMode.Overwrite, removed, version)


def _write_to_delta(rows: DataFrame, path: Path, mode: Any, others: list[Any], version: int | None = None) -> bool:
    """Commit rows, as new files, and other actions; False, with nothing written, onto another version than that."""
    jvm, session = _jvm(rows.sparkSession), rows.sparkSession._jsparkSession
    delta, none = jvm.org.apache.spark.sql.delta, jvm.scala.Option.empty()
    append, no_columns = jvm.org.apache.spark.sql.SaveMode.Append, jvm.PythonUtils.toSeq([])
    options = delta.DeltaOptions(jvm.PythonUtils.toScalaMap({"mergeSchema": "true"}), session.sessionState().conf())
    log = delta.DeltaLog.forTable(session, _hadoop_path(rows.sparkSession, path))
    transaction = log.startTransaction()
    if version is not None and transaction.readVersion() != version:
        return False
    write = delta.commands.WriteIntoDelta(
        log, append, options, no_columns, jvm.PythonUtils.toScalaMap({}), rows._jdf, none, none, False
    )
    with active_session(rows.sparkSession):
        actions = write.write(transaction, session, none, False)
    for other in others:
        actions = actions.appended(other)
    operation = getattr(delta, "DeltaOperations$Write")(
        mode, jvm.scala.Option.apply(no_columns), none, none, none, none, jvm.scala.Option.apply(True), none, none
    )
    transaction.commit(actions, operation)
    return True


def _hadoop_path(session: SparkSession, path: Path) -> Any:
    return _jvm(session).org.apache.hadoop.fs.Path(str(path))


def kafka_topics(
    session: SparkSession, settings: Mapping[str, str], names: Iterable[str]
) -> dict[str, tuple[str, dict[int, tuple[int, int]]]]:
    """Topic -> its id, and for each partition the first offset and the offset after the last; without unknown topics.

    Raises:
        Py4JJavaError: the broker cannot be reached or does not answer, or the client's settings are wrong.
    """
    java, kafka = _jvm(session).java, _jvm(session).org.apache.kafka.clients.admin
    properties = java.util.HashMap()
    for name, value in settings.items():
        properties[name] = value
    admin = kafka.AdminClient.create(properties)
    try:
        asked = java.util.ArrayList()
        for name in names:
            asked.add(name)
        descriptions = admin.describeTopics(asked).topicNameValues()
        topics = {name: found for name in asked if (found := _description(descriptions[name])) is not None}
        places = [info for found in topics.values() for info in _partitions(session, found)]
        offsets = []
        for spec in (kafka.OffsetSpec.earliest(), kafka.OffsetSpec.latest()):
            wanted = java.util.HashMap()
            for place in places:
                wanted[place] = spec
            answer = admin.listOffsets(wanted).all().get()
            offsets.append([answer[place].offset() for place in places])
    finally:
        admin.close(java.time.Duration.ofSeconds(1))
    found_offsets: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in topics}
    for place, first, end in zip(places, *offsets, strict=True):
        found_offsets[place.topic()][place.partition()] = (first, end)
    return {name: (str(topics[name].topicId().toString()), found_offsets[name]) for name in topics}


def _description(future: Any) -> Any:
    try:
        return future.get()
    except Py4JJavaError as error:
        if "UnknownTopicOrPartitionException" in str(error.java_exception.toString()):
            return None
        raise


def _partitions(session: SparkSession, description: Any) -> list[Any]:
    place = _jvm(session).org.apache.kafka.common.TopicPartition
    return [place(description.name(), info.partition()) for info in description.partitions()]
