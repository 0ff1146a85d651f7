"""A pipeline on this machine: the public class that runs updates and reads their tables."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from dlt_local.auto_loader.evolution import SchemaEvolved
from dlt_local.declarations.paths import PathMap
from dlt_local.delta import rebuild
from dlt_local.delta.storage import Storage
from dlt_local.errors import SetupError, did_you_mean
from dlt_local.flows.outcomes import Update, UpdateFailed
from dlt_local.graph.graph import Graph
from dlt_local.names import table_name
from dlt_local.observability import event_log
from dlt_local.observability.progress import Progress, Silent
from dlt_local.observability.redaction import Redactor
from dlt_local.spark import root_cause
from dlt_local.updates import stored_tables
from dlt_local.updates.continuous import ContinuousMode
from dlt_local.updates.definition import PipelineDefinition
from dlt_local.updates.resolution import Sessions, resolved
from dlt_local.updates.selection import Selection
from dlt_local.updates.update_run import UpdateRun


class LocalPipeline:
    """A Delta Live Tables pipeline that runs on this machine.

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
        path_map: Mapping[str, str | Path] | None = None,
    ) -> None:
        """Describe the pipeline; nothing is read or written yet.

        Args:
            name: the pipeline's display name.
            sources: files, globs, or `folder/**`.
            storage: the folder for tables, checkpoints and event log; created if missing.
            catalog: the pipeline's own catalog on Databricks: a name with another one is a table outside of the
                pipeline.
            schema: the schema of unqualified dataset names.
            configuration: what `spark.conf.get(key)` returns in source files; also Spark settings.
            root_path: the folder that source files import from, as they load and as their queries run.
            spark: the Spark session to run on; by default a new one.
            progress: follows updates as they run; by default nothing is shown.
            parallelism: how many datasets run at the same time.
            path_map: folder of Databricks' storage, such as `/Volumes/main/raw` or `s3://bucket` -> local folder.
        """
        self.name = name
        self.sources = tuple(str(source) for source in sources)
        self.storage = Storage(Path(storage).absolute())
        self.catalog = catalog
        self.schema = schema
        self.configuration = {key: str(value) for key, value in (configuration or {}).items()}
        self.root_path = Path(root_path).absolute() if root_path is not None else None
        self.progress: Progress = progress or Silent()
        self.parallelism = parallelism
        self.path_map = {name: Path(folder).absolute() for name, folder in (path_map or {}).items()}
        self._sessions = Sessions(spark)

    @property
    def spark(self) -> SparkSession:
        """The session that the pipeline runs on."""
        return self._sessions.base

    def run(
        self,
        refresh: Iterable[str] = (),
        full_refresh: Iterable[str] = (),
        full_refresh_all: bool = False,
        rebuild: Iterable[str] = (),
        fail_on_rejects: int | None = None,
    ) -> Update:
        """Run one update.

        Args:
            refresh: run only these datasets and those of ``full_refresh``; by default all.
            full_refresh: delete the rows and state of these datasets and rebuild them.
            full_refresh_all: rebuild all datasets.
            rebuild: build these datasets, what they are made from and what is made from that, beside their stored rows,
                which stay readable and are replaced in the end. `orders` means every dataset of that name.
            fail_on_rejects: the number of rejects above which the update has failed, though its tables are complete;
                they are counted in the tables that declare `report.rejects`. By default there is no limit.

        Raises:
            UpdateFailed: a flow failed, or the declarations have errors (then nothing was written); it carries every
                error.
            StorageInUse: another update is running on this storage.
        """
        selection = Selection(tuple(refresh), tuple(full_refresh), full_refresh_all, tuple(rebuild))
        return self._update(selection, None, fail_on_rejects)

    def run_continuously(
        self,
        stop: threading.Event,
        trigger_interval: float = 5.0,
        refresh: Iterable[str] = (),
        full_refresh: Iterable[str] = (),
        full_refresh_all: bool = False,
    ) -> Update:
        """Keep the datasets up to date until ``stop`` is set, then end at the next batch boundary.

        Flows that fail for a reason that may pass, such as a restarting broker, are retried. Source files are read
        once, at the start.

        Args:
            stop: set it, from a signal handler or another thread, to end the update.
            trigger_interval: minimum seconds from one check for new rows to the next.
            refresh: as in `run`.
            full_refresh: as in `run`; done once, at the start.
            full_refresh_all: as in `run`; done once, at the start.

        Raises:
            UpdateFailed: as in `run`.
            StorageInUse: another update is running on this storage.
        """
        selection = Selection(tuple(refresh), tuple(full_refresh), full_refresh_all)
        return self._update(selection, ContinuousMode(stop, trigger_interval))

    def dry_run(self) -> Graph:
        """Load the source files and resolve the graph; run and write nothing.

        Raises:
            UpdateFailed: the declarations have errors; it carries all of them.
        """
        redact = Redactor(self.configuration)
        try:
            with resolved(self._definition(), self._sessions, Selection(), redact.add_value) as current:
                if current.graph.refused:
                    raise UpdateFailed(None, list(current.graph.refused.values()))
                return current.graph
        except UpdateFailed as failed:
            redact.error(failed)
            raise failed from None

    def table(self, name: str) -> DataFrame:
        """A dataset's stored rows.

        Raises:
            LocalPipelineError: there is no such table.
        """
        full = table_name(name, self.schema)
        path = stored_tables.find(self.storage, full)
        if path is None:
            known = [str(each) for each in stored_tables.published(self.storage)]
            near = did_you_mean(str(full), known)
            message = f"there is no table {full}{near}: the tables are {', '.join(known) or '(none)'}"
            raise SetupError("UNKNOWN_TABLE", self.storage.root, message, "correct the name, or run the pipeline first")
        return self.spark.read.format("delta").load(str(path))

    def event_log(self) -> DataFrame:
        """The event log of all updates with Databricks' columns, oldest event first."""
        return event_log.read(self.spark, self.storage)

    def _update(self, selection: Selection, mode: ContinuousMode | None, max_rejects: int | None = None) -> Update:
        try:
            with self.storage.locked():
                return self._until_schemas_are_known(selection, mode, max_rejects)
        except OSError as error:
            if not root_cause.is_disk_full(error):
                raise
            fix = "make room, then run again: the next update finishes what this one started"
            disk_full = SetupError("DISK_FULL", self.storage.root, root_cause.sentence(error), fix)
            raise UpdateFailed(None, [disk_full]) from error

    def _until_schemas_are_known(
        self, selection: Selection, mode: ContinuousMode | None, max_rejects: int | None
    ) -> Update:
        """Run one update, and another each time that Auto Loader has found new columns and recorded them."""
        while True:
            self.storage.finish_resets()
            rebuild.finish(self.storage)
            try:
                return UpdateRun(self._definition(max_rejects), self._sessions, selection, mode).run()
            except UpdateFailed as failed:
                if not any(isinstance(error, SchemaEvolved) for error in failed.errors):
                    raise
                selection = selection.continued()

    def _definition(self, max_rejects: int | None = None) -> PipelineDefinition:
        # Built per update: users may change the public attributes, the configuration above all, between updates.
        return PipelineDefinition(
            self.name,
            self.sources,
            self.storage,
            self.catalog,
            self.schema,
            self.configuration,
            self.root_path,
            self.parallelism,
            self.progress,
            PathMap(self.path_map),
            max_rejects,
        )
