"""A pipeline on this machine: its source files, its storage, and the updates that are run on them."""

import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local.auto_cdc.snapshots import AppliedSnapshots
from dlt_local.declarations import source_files
from dlt_local.declarations.registry import Registry
from dlt_local.delta import delta_log, tables
from dlt_local.delta.storage import Storage
from dlt_local.errors import DeclarationError, LocalPipelineError, did_you_mean
from dlt_local.flows.outcomes import Update, UpdateFailed
from dlt_local.graph import resolver
from dlt_local.graph.graph import Graph
from dlt_local.names import TableName, table_name
from dlt_local.observability import event_log
from dlt_local.observability.progress import Progress, Silent
from dlt_local.spark import root_cause
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.isolation import active, isolated_session, restore_settings
from dlt_local.spark.session import create_session
from dlt_local.updates.selection import Selection
from dlt_local.updates.update_run import UpdateRun


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
        self.progress: Progress = progress or Silent()
        self.parallelism = parallelism
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
        selection = Selection(tuple(refresh), tuple(full_refresh), full_refresh_all)
        return self._update(selection, None, 0.0)

    def run_continuously(
        self,
        stop: threading.Event,
        trigger_interval: float = 5.0,
        refresh: Iterable[str] = (),
        full_refresh: Iterable[str] = (),
        full_refresh_all: bool = False,
    ) -> Update:
        """Keep the datasets up to date until ``stop`` is set; then end at the next batch boundary.

        Flows that fail for a reason that may pass, such as a broker that restarts, are tried again; source files are
        read once, at the begin.

        Args:
            stop: set it, from a signal handler or another thread, to end the update.
            trigger_interval: seconds from one look for new rows to the next, at least.
            refresh: as of `run`.
            full_refresh: as of `run`, at the begin.
            full_refresh_all: as of `run`, at the begin.

        Raises:
            UpdateFailed: as of `run`.
            StorageInUse: another update runs on this storage.
        """
        selection = Selection(tuple(refresh), tuple(full_refresh), full_refresh_all)
        return self._update(selection, stop, trigger_interval)

    def dry_run(self) -> Graph:
        """Load the source files and resolve the graph; run and write nothing.

        Raises:
            UpdateFailed: the declarations' faults, all of them.
        """
        with self.resolved() as (resolved, _, _):
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

    def _update(self, selection: Selection, stop: threading.Event | None, interval: float) -> Update:
        try:
            with self.storage.locked():
                self.storage.finish_resets()
                return UpdateRun(self, selection, stop, interval).go()
        except OSError as error:
            if not root_cause.is_disk_full(error):
                raise
            fix = "make room, then run again: the next update finishes what this one had begun"
            message = f"DISK_FULL  {self.storage.root}\n  {root_cause.sentence(error)}\n  fix: {fix}"
            raise UpdateFailed(None, [LocalPipelineError(message)]) from error

    @contextmanager
    def resolved(self, drop: Sequence[str] = (), drop_all: bool = False) -> Iterator[tuple[Graph, Registry, Catalog]]:
        """The graph, what was declared, and the names that queries see: for as long as the block lasts.

        Args:
            drop: datasets that are to be resolved as if they had never been made.
            drop_all: True for all of them.

        Raises:
            UpdateFailed: the declarations' faults, all of them.
        """
        scratch = Path(tempfile.mkdtemp(prefix="dlt_local-"))
        # One for all updates: Spark lets go of a session's streaming listeners only with the process.
        self._session = session = self._session or isolated_session(self.spark, self.configuration, scratch)
        registry = Registry(self.schema, session)
        catalog = Catalog(session, self.schema, scratch)
        settings = dict(session.conf.getAll)
        try:
            with active(session):
                faults = source_files.load(source_files.source_files(self.sources), registry, self.root_path)
                dropped = {table_name(name, self.schema) for name in drop}
                stored = {} if drop_all else self._stored_schemas(registry, session, dropped)
                seen = {} if drop_all else {n: self._latest_version(n) for n in registry.tables if n not in dropped}
                resolved, more = resolver.resolve(registry, catalog, stored, seen.get)
            if faults or more:
                raise UpdateFailed(None, [*faults, *(each for each in more if not _follows(each, faults))])
            yield resolved, registry, catalog
        finally:
            catalog.clear()
            restore_settings(session, settings)
            shutil.rmtree(scratch, ignore_errors=True)

    def _latest_version(self, target: TableName) -> object:
        return AppliedSnapshots(self.storage.auto_cdc(target)).latest

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

    def inactive(self, declared: Iterable[TableName]) -> list[TableName]:
        """Tables of earlier updates that no source file declares any more; they keep their data."""
        known = {str(name).lower() for name in declared}
        return [n for n in self._stored_names() if str(n).lower() not in known and delta_log.exists(self._paths(n)[0])]


def _follows(fault: Exception, of_loading: Iterable[Exception]) -> bool:
    """True for a table without a flow in a file that was not read to its end: the flow may stand behind that."""
    if not isinstance(fault, DeclarationError) or fault.condition != "NO_FLOW" or fault.location is None:
        return False
    places = [each.location for each in of_loading if isinstance(each, DeclarationError)]
    return fault.location.file in {place.file for place in places if place is not None}
