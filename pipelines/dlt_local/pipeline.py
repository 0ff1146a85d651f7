"""A pipeline on this machine: its source files, its storage, and the updates that are run on them."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local import delta_log, event_log, graph, sources, tables, update
from dlt_local.auto_cdc import drift
from dlt_local.auto_cdc.snapshots import Applied
from dlt_local.catalog import Catalog, active, isolated_session
from dlt_local.elements import Table, View
from dlt_local.errors import DeclarationError, LocalPipelineError, did_you_mean
from dlt_local.event_log import EventLog
from dlt_local.flows import DatasetRunner
from dlt_local.graph import Graph, Node
from dlt_local.names import TableName, table_name
from dlt_local.progress import Progress, Silent
from dlt_local.registry import Registry
from dlt_local.session import create_session
from dlt_local.storage import Storage
from dlt_local.update import Update, UpdateFailed

_RESET_ALLOWED = "pipelines.reset.allowed"


class LocalPipeline:
    """A Delta Live Tables pipeline that runs here.

    >>> pipeline = LocalPipeline(name="shop", sources=["pipelines/bronze/**"], storage="/data/shop")  # doctest: +SKIP
    >>> pipeline.run().state  # doctest: +SKIP
    'COMPLETED'
    """

    def __init__(
        self,
        name: str,
        sources: Sequence[str | Path],
        storage: str | Path,
        catalog: str | None = None,
        schema: str = "default",
        configuration: Mapping[str, str] | None = None,
        root_path: str | Path | None = None,
        spark: SparkSession | None = None,
        progress: Progress | None = None,
        parallelism: int = 4,
    ) -> None:
        """Describe the pipeline; nothing is read or written yet.

        Args:
            name: the pipeline's name, for people.
            sources: files, globs, or `folder/**`.
            storage: the folder for tables, checkpoints and event log; made if need be.
            catalog: the catalog's name on Databricks; locally it may stand in front of names.
            schema: where unqualified dataset names land.
            configuration: what `spark.conf.get(key)` gives in source files; also Spark settings.
            root_path: put on sys.path while source files run.
            spark: the Spark session to run on; by default one is made.
            progress: is told of updates as they go; by default nobody is.
            parallelism: how many datasets are brought up to date side by side.
        """
        self.name = name
        self.sources = tuple(str(source) for source in sources)
        self.storage = Storage(Path(storage).absolute())
        self.catalog = catalog
        self.schema = schema
        self.configuration = {key: str(value) for key, value in (configuration or {}).items()}
        self.root_path = Path(root_path).absolute() if root_path is not None else None
        self._spark = spark
        self._progress: Progress = progress or Silent()
        self._parallelism = parallelism
        self._session: SparkSession | None = None

    @property
    def spark(self) -> SparkSession:
        """The session that the pipeline runs on."""
        if self._spark is None:
            self._spark = create_session()
        return self._spark

    def run(
        self,
        refresh: Iterable[str] = (),
        full_refresh: Iterable[str] = (),
        full_refresh_all: bool = False,
    ) -> Update:
        """Bring the datasets up to date.

        Args:
            refresh: only these datasets (and those of ``full_refresh``); by default all.
            full_refresh: forget these datasets wholly and build them anew.
            full_refresh_all: do so with all of them.

        Raises:
            UpdateFailed: a flow failed, or the declarations have faults (then nothing was written); it carries every
                error.
            StorageInUse: another update runs on this storage.
        """
        refresh, full_refresh = list(refresh), list(full_refresh)
        with self.storage.locked():
            self.storage.finish_resets()
            log = EventLog(self.storage, self.name, update_id := update.new_id())
            log.emit("create_update", f"Update {update_id[:6]} started.", {"update_id": update_id})
            try:
                return self._run(update_id, log, refresh, full_refresh, full_refresh_all)
            except (UpdateFailed, LocalPipelineError) as error:
                failed = error if isinstance(error, UpdateFailed) else UpdateFailed(None, [error])
                if failed.update is None:
                    told = {"state": "FAILED"}
                    log.emit("update_progress", "Update has FAILED.", told, level="ERROR", error=failed)
                raise failed from error
            finally:
                log.publish(self.spark)

    def dry_run(self) -> Graph:
        """Load the source files and resolve the graph; run and write nothing.

        Raises:
            UpdateFailed: the declarations' faults, all of them.
        """
        with self._resolved() as (resolved, _, _):
            return resolved

    def table(self, name: str) -> DataFrame:
        """A dataset as it stands in the storage.

        Raises:
            LocalPipelineError: there is no such table.
        """
        full = table_name(name, self.schema)
        path = next((p for p in self._paths(full) if delta_log.exists(p)), None)
        if path is None:
            known = sorted(str(n) for n in self._stored_names())
            message = f"{full} is not in {self.storage.root}{did_you_mean(str(full), known)}: it has {', '.join(known)}"
            raise LocalPipelineError(message)
        return self.spark.read.format("delta").load(str(path))

    def event_log(self) -> DataFrame:
        """The event log of all updates, oldest first, with Databricks' columns."""
        return event_log.read(self.spark, self.storage)

    def _run(
        self,
        update_id: str,
        log: EventLog,
        refresh: list[str],
        full_refresh: list[str],
        full_refresh_all: bool,
    ) -> Update:
        with self._resolved(drop=full_refresh, drop_all=full_refresh_all) as (resolved, registry, catalog):
            wanted, reset = self._selected(resolved, refresh, full_refresh, full_refresh_all)
            self._check_drift(wanted, reset)
            for node in reset:
                dataset = node.dataset
                assert not isinstance(dataset, View)
                self.storage.reset(dataset.name, private=isinstance(dataset, Table) and dataset.private)
            for notice in resolved.notices:
                log.emit("flow_definition", notice, level="WARN")
            title = f"{self.name}: update {update_id[:6]}"
            self._progress.begin(title, Graph(tuple(wanted), resolved.notices))
            runner = DatasetRunner(catalog.session, registry, resolved, catalog, self.storage, self._progress.batch)
            ended = update.run(update_id, resolved, wanted, runner, log, self._progress, self._parallelism)
        self._progress.end(ended.state)
        told = {"state": ended.state}
        level: event_log.Level = "INFO" if ended.state == "COMPLETED" else "ERROR"
        log.emit("update_progress", f"Update {update_id[:6]} is {ended.state}.", told, level=level)
        if ended.state == "FAILED":
            raise UpdateFailed(ended, ended.errors)
        return ended

    @contextmanager
    def _resolved(self, drop: Sequence[str] = (), drop_all: bool = False) -> Iterator[tuple[Graph, Registry, Catalog]]:
        scratch = Path(tempfile.mkdtemp(prefix="dlt_local-"))
        # One for all updates: Spark lets go of a session's streaming listeners only with the process.
        self._session = session = self._session or isolated_session(self.spark, self.configuration, scratch)
        registry = Registry(self.schema, session)
        catalog = Catalog(session, self.schema, scratch)
        try:
            with active(session):
                faults = sources.load(sources.source_files(self.sources), registry, self.root_path)
                dropped = {table_name(name, self.schema) for name in drop}
                stored = {} if drop_all else self._stored_schemas(registry, session, dropped)
                seen = {} if drop_all else {n: self._latest_version(n) for n in registry.tables if n not in dropped}
                resolved, more = graph.resolve(registry, catalog, stored, seen.get)
            if faults or more:
                raise UpdateFailed(None, [*faults, *more])
            yield resolved, registry, catalog
        finally:
            catalog.clear()
            shutil.rmtree(scratch, ignore_errors=True)

    def _latest_version(self, target: TableName) -> object:
        return Applied(self.storage.auto_cdc(target)).latest

    def _stored_schemas(
        self, registry: Registry, session: SparkSession, without: set[TableName]
    ) -> dict[TableName, StructType]:
        found = {}
        for name in (*self._stored_names(), *registry.tables):
            private = name in registry.tables and registry.tables[name].private
            schema = tables.stored_schema(session, self.storage.table(name, private))
            if schema is not None and name not in without:
                found[name] = schema
        return found

    def _stored_names(self) -> list[TableName]:
        folders = sorted((self.storage.root / "tables").glob("*/*"))
        return [TableName(folder.parent.name, folder.name) for folder in folders]

    def _paths(self, name: TableName) -> list[Path]:
        return [self.storage.table(name), self.storage.table(name, private=True)]

    def _selected(
        self, resolved: Graph, refresh: list[str], full_refresh: list[str], full_refresh_all: bool
    ) -> tuple[list[Node], list[Node]]:
        every = list(resolved.tables)
        reset = every if full_refresh_all else [self._find(resolved, name) for name in full_refresh]
        if full_refresh_all:
            reset = [node for node in every if _may_reset(node)]
        for node in reset:
            if not _may_reset(node):
                message = (
                    f"{node.name} has {_RESET_ALLOWED}=false: a full refresh would lose what its source no longer has"
                )
                fix = "leave it out of the selection, or take the property back"
                raise DeclarationError("RESET_NOT_ALLOWED", message, node.dataset.location, fix)
        if not refresh and not full_refresh:
            return every, reset
        names = {self._find(resolved, name).name for name in (*refresh, *full_refresh)}
        return [node for node in every if node.name in names], reset

    def _find(self, resolved: Graph, name: str) -> Node:
        full = str(table_name(name, self.schema)).lower()
        node = next((n for n in resolved.tables if n.name.lower() in (full, name.lower())), None)
        if node is None:
            known = [n.name for n in resolved.tables]
            raise LocalPipelineError(f"the pipeline has no dataset {name}{did_you_mean(name, known)}")
        return node

    def _check_drift(self, wanted: Sequence[Node], reset: Sequence[Node]) -> None:
        faults: list[Exception] = []
        for node in wanted:
            for flow in node.flows:
                if flow.changes is None or node in reset:
                    continue
                try:
                    drift.check(flow.changes, self.storage.auto_cdc(flow.changes.target), flow.flow.location)
                except DeclarationError as fault:
                    faults.append(fault)
        if faults:
            raise UpdateFailed(None, faults)


def _may_reset(node: Node) -> bool:
    if not isinstance(node.dataset, Table):
        return True
    return node.dataset.table_properties.get(_RESET_ALLOWED, "true").strip().lower() != "false"
