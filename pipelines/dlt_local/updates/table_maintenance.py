"""Maintains the tables that an update has written, and the event log; failures never fail the update."""

from collections.abc import Iterator

from dlt_local.declarations.registry import Registry
from dlt_local.delta import delta_log, maintenance
from dlt_local.flows.outcomes import Update
from dlt_local.observability.update_events import UpdateEvents
from dlt_local.updates.definition import PipelineDefinition
from dlt_local.updates.resolution import ResolvedPipeline


def maintain(pipeline: PipelineDefinition, resolved: ResolvedPipeline, update: Update, events: UpdateEvents) -> None:
    """Compact and vacuum what is due."""
    for table in _written_tables(pipeline, resolved.registry, update):
        if not delta_log.exists(table.path) or not maintenance.is_wanted(table, pipeline.configuration):
            continue
        mark = pipeline.storage.maintenance(table.name)
        try:
            for done in maintenance.keep_in_shape(resolved.catalog.session, table, mark):
                events.maintained(done)
        except Exception as error:
            events.maintenance_failed(table.name, error)


def _written_tables(pipeline: PipelineDefinition, registry: Registry, update: Update) -> Iterator[maintenance.Table]:
    written = {each.name for each in update.datasets if each.state == "COMPLETED" and not each.is_idle}
    yield maintenance.Table("event_log", pipeline.storage.event_log, {})
    for name, table in registry.tables.items():
        if str(name) in written:
            path = pipeline.storage.table(name, private=table.private)
            yield maintenance.Table(str(name), path, table.table_properties)
