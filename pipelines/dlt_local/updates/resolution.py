"""Resolves a pipeline's source files into graph, registry and catalog for the duration of a block."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.auto_cdc.snapshots import AppliedSnapshots
from dlt_local.auto_loader.loader import AutoLoader
from dlt_local.auto_loader.session import AutoLoaderSession
from dlt_local.declarations import source_files
from dlt_local.declarations.empty_pipeline import nothing_declared
from dlt_local.declarations.registry import Registry
from dlt_local.delta import tables
from dlt_local.delta.storage import StorageFileDamaged, read_json_if_intact
from dlt_local.errors import DeclarationError
from dlt_local.flows.outcomes import UpdateFailed
from dlt_local.graph import resolver
from dlt_local.graph.graph import Graph
from dlt_local.graph.query_identity import FORMS
from dlt_local.graph.table_names import TableNames
from dlt_local.names import TableName
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.external_tables import ExternalTables
from dlt_local.spark.isolation import active, isolated_session, reconfigure, restore_settings
from dlt_local.spark.session import create_session
from dlt_local.spark.temporary import temporary_folder
from dlt_local.updates import stored_tables
from dlt_local.updates.definition import PipelineDefinition
from dlt_local.updates.selection import Selection


class Sessions:
    """A pipeline's Spark sessions, created at first use: the base session, and an isolated one on top of it."""

    def __init__(self, base: SparkSession | None) -> None:
        self._base = base
        self._isolated: AutoLoaderSession | None = None
        self._configured: Mapping[str, str] = {}

    @property
    def base(self) -> SparkSession:
        """The session that the pipeline was given, or a new one."""
        if self._base is None:
            self._base = create_session()
        return self._base

    def isolated(self, pipeline: PipelineDefinition, scratch: Path) -> AutoLoaderSession:
        """The session with the pipeline's own catalog and settings."""
        # Shared by all updates, because Spark releases a session's streaming listeners only when the process ends.
        if self._isolated is None:
            self._isolated = isolated_session(self.base, pipeline.configuration, scratch, AutoLoaderSession)
        else:
            reconfigure(self._isolated, self.base, self._configured, pipeline.configuration)
        self._configured = dict(pipeline.configuration)
        return self._isolated


@dataclass(frozen=True)
class ResolvedPipeline:
    """A pipeline whose source files are loaded and whose queries are analysed."""

    graph: Graph
    registry: Registry
    catalog: Catalog


@contextmanager
def resolved(
    pipeline: PipelineDefinition, sessions: Sessions, selection: Selection, on_secret: Callable[[str], None]
) -> Iterator[ResolvedPipeline]:
    """Load and resolve the source files; session settings and catalog are restored after the block.

    Datasets that ``selection`` fully refreshes or rebuilds are resolved as if they had never been written.
    ``on_secret`` is told of each secret that source files read.

    Raises:
        UpdateFailed: the declarations have errors; it carries all of them.
    """
    with temporary_folder() as folder:
        session = sessions.isolated(pipeline, folder)
        registry = Registry(
            pipeline.schema, session, catalog=pipeline.catalog, on_secret=on_secret, path_map=pipeline.path_map
        )
        session.auto_loader = AutoLoader(session, pipeline.path_map, pipeline.storage.auto_loader, registry.notice)
        external = ExternalTables.of(pipeline.configuration, pipeline.storage.root / "external")
        catalog = Catalog(session, pipeline.schema, folder, external)
        settings = dict(session.conf.getAll)
        names = session.resolve_name = TableNames(registry, catalog)
        try:
            with active(session):
                load_errors = _load(pipeline, registry)
                names.is_loading = False
                datasets = len(registry.tables) + len(registry.views) + len(registry.sinks)
                pipeline.progress.planning(pipeline.name, datasets)
                with registry.with_modules():
                    graph = _resolve(pipeline, registry, catalog, selection, load_errors)
            yield ResolvedPipeline(graph, registry, catalog)
        finally:
            session.resolve_name = session.auto_loader = None
            session.forget_copies()
            catalog.clear()
            restore_settings(session, settings)


def _load(pipeline: PipelineDefinition, registry: Registry) -> Sequence[Exception]:
    files = source_files.source_files(pipeline.sources)
    errors = source_files.load(files, registry, pipeline.root_path)
    if not errors and not registry.tables and not registry.sinks:
        raise UpdateFailed(None, [nothing_declared(files, registry)])
    return errors


def _resolve(
    pipeline: PipelineDefinition,
    registry: Registry,
    catalog: Catalog,
    selection: Selection,
    load_errors: Sequence[Exception],
) -> Graph:
    reset = {name for name in registry.tables if selection.resets(name, pipeline.schema)}
    graph, errors = _resolve_without(reset, pipeline, registry, catalog)
    if selection.rebuild and not load_errors and not errors:
        # Which datasets are rebuilt follows from the graph, which does not depend on what is stored.
        rebuilt = {node.dataset.name for node in selection.rebuilt(graph)}
        graph, errors = _resolve_without(reset | rebuilt, pipeline, registry, catalog)
    if load_errors or errors:
        raise UpdateFailed(None, [*load_errors, *(each for each in errors if not _follows(each, load_errors))])
    return graph


def _latest_snapshot(state: Path) -> object:
    try:
        return AppliedSnapshots(state).latest
    except StorageFileDamaged:
        # The target itself is refused when it is its turn.
        return None


def _resolve_without(
    reset: Collection[TableName | str], pipeline: PipelineDefinition, registry: Registry, catalog: Catalog
) -> tuple[Graph, list[Exception]]:
    """Resolve the graph as if ``reset`` had never been written."""
    kept = [name for name in registry.tables if name not in reset]
    versions = {name: _latest_snapshot(pipeline.storage.auto_cdc(name)) for name in kept}
    schemas = {}
    for name in dict.fromkeys((*stored_tables.published(pipeline.storage), *registry.tables)):
        private = name in registry.tables and registry.tables[name].private
        path = pipeline.storage.table(name, private)
        schema = None if name in reset else tables.stored_schema(catalog.session, path)
        if schema is not None:
            schemas[name] = schema
    return resolver.resolve(registry, catalog, schemas, versions.get, lambda name: _made_before(pipeline, name))


def _made_before(pipeline: PipelineDefinition, name: TableName | str) -> bool:
    """True if a dataset's last update was by a version of the engine with another form of hash."""
    last = read_json_if_intact(pipeline.storage.progress(str(name))) or {}
    hashes = [last.get("fingerprint"), *last.get("queries", {}).values()]
    return any(each and not each.startswith(FORMS) for each in hashes)


def _follows(error: Exception, load_errors: Iterable[Exception]) -> bool:
    """True for a table without a flow in a file that failed to load: its flow may come later in that file."""
    if not isinstance(error, DeclarationError) or error.condition != "NO_FLOW" or error.location is None:
        return False
    locations = [each.location for each in load_errors if isinstance(each, DeclarationError)]
    return error.location.file in {location.file for location in locations if location is not None}
