"""The events that an update records, in Databricks' form."""

from collections.abc import Sequence
from dataclasses import asdict

from dlt_local.delta import maintenance
from dlt_local.flows.outcomes import DatasetUpdate, FlowMetrics, Update
from dlt_local.graph.graph import Node, ResolvedFlow
from dlt_local.names import TableName
from dlt_local.observability.event_log import Event, EventLog, Level
from dlt_local.observability.report.tallies import Tally
from dlt_local.spark import root_cause


class UpdateEvents:
    """Records the steps of one update in the event log."""

    def __init__(self, log: EventLog, update_id: str) -> None:
        self._log = log
        self._id = update_id

    def created(self) -> None:
        """The update has started."""
        self._log.emit(Event("create_update", f"Update {self._id[:6]} started.", {"update_id": self._id}))

    def defined(self, nodes: Sequence[Node]) -> None:
        """The datasets and flows that are about to run, as Databricks' lineage queries expect them."""
        for node in nodes:
            details = {"dataset_type": node.kind.upper().replace(" ", "_"), "num_flows": len(node.flows)}
            message = f"Dataset '{node.name}' is defined as {node.kind}."
            self._log.emit(Event("dataset_definition", message, details, dataset=node.name))
            for flow in node.flows:
                self._log.emit(_flow_definition(node, flow))

    def noticed(self, text: str) -> None:
        """The declarations ask for something that needs the user's attention."""
        self._log.emit(Event("flow_definition", text, level="WARN"))

    def inactive(self, name: TableName, text: str) -> None:
        """A table of an earlier update is no longer declared."""
        details = {"dataset_name": str(name), "state": "INACTIVE"}
        self._log.emit(Event("dataset_definition", text, details, dataset=str(name)))

    def dataset_ended(self, outcome: DatasetUpdate) -> None:
        """One event per flow that ran; one for the whole dataset if none did."""
        for flow, metrics in outcome.flows.items():
            details = flow_progress(outcome.state, outcome.name, metrics)
            verb = "has" if outcome.state == "COMPLETED" else "is"
            message = f"Flow '{flow}' {verb} {outcome.state}."
            self._log.emit(Event("flow_progress", message, details, dataset=outcome.name, flow=flow))
        if not outcome.flows:
            self._log.emit(_without_flows(outcome))

    def counted(self, tallies: Sequence[Tally]) -> None:
        """What became of the rows that the update added to the tables that ask for counts."""
        for each in tallies:
            details = {
                "counted_by": each.column,
                "new": each.new,
                "total": each.total,
                "num_rejects": sum(each.rejects.values()),
                **({"examples": each.examples} if each.examples else {}),
            }
            self._log.emit(Event("row_counts", str(each), details, dataset=each.dataset))

    def retried(self, error: Exception, message: str) -> None:
        """A round of a continuous update failed and is going to be retried."""
        self._log.emit(Event("update_progress", message, {"state": "RUNNING"}, level="WARN", error=error))

    def ended(self, update: Update) -> None:
        """The update has ended."""
        message = f"Update {self._id[:6]} is {update.state}."
        level: Level = "INFO" if update.state == "COMPLETED" else "ERROR"
        self._log.emit(Event("update_progress", message, {"state": update.state}, level))

    def failed_to_start(self, error: Exception) -> None:
        """The update failed before any dataset ran."""
        self._log.emit(Event("update_progress", "Update has FAILED.", {"state": "FAILED"}, level="ERROR", error=error))

    def maintained(self, done: maintenance.Done) -> None:
        """A table was compacted or vacuumed."""
        message = f"{done.operation} of {done.table}: {done.files_before} files, now {done.files_after}."
        self._log.emit(Event("maintenance_progress", message, {"operation": done.operation}, dataset=done.table))

    def expired(self, table: str, rows: int) -> None:
        """Rows that a table no longer keeps were deleted."""
        message = f"DELETE of expired rows of {table}: {rows:,}."
        self._log.emit(Event("maintenance_progress", message, {"operation": "DELETE", "rows": rows}, dataset=table))

    def maintenance_failed(self, table: str, error: Exception) -> None:
        """Maintenance of a table failed; the update goes on."""
        message = f"Maintenance of {table} failed: {root_cause.sentence(error)}"
        self._log.emit(Event("maintenance_progress", message, level="WARN", error=error))

    def report_failed(self, error: Exception) -> None:
        """The report page could not be written; the update goes on."""
        message = f"The report could not be written: {error}"
        self._log.emit(Event("report_progress", message, level="WARN", error=error))


def flow_progress(status: str, dataset: str, metrics: FlowMetrics) -> dict[str, object]:
    """`details:flow_progress` in Databricks' form; metrics that Databricks does not have are under `apply_changes`."""
    details: dict[str, object] = {"status": status, "metrics": {"num_output_rows": metrics.num_output_rows}}
    if metrics.cdc is not None:
        cdc = asdict(metrics.cdc)
        details["metrics"] = {name: cdc.pop(name) for name in ("num_upserted_rows", "num_deleted_rows")}
        details["apply_changes"] = cdc
    if metrics.failed:
        details["data_quality"] = {
            "dropped_records": metrics.dropped_rows,
            "expectations": [
                {
                    "name": name,
                    "dataset": dataset,
                    "passed_records": metrics.checked_rows - failed,
                    "failed_records": failed,
                }
                for name, failed in metrics.failed.items()
            ],
        }
    return details


def _flow_definition(node: Node, flow: ResolvedFlow) -> Event:
    details = {
        "output_dataset": node.name,
        "input_datasets": [*map(str, flow.inputs), *flow.views],
        "flow_type": "CHANGE" if flow.changes else "APPEND" if flow.streaming else "COMPLETE",
        "schema": flow.schema.jsonValue()["fields"],
    }
    message = f"Flow '{flow.flow.name}' is defined."
    return Event("flow_definition", message, details, dataset=node.name, flow=flow.flow.name)


def _without_flows(outcome: DatasetUpdate) -> Event:
    return Event(
        "flow_progress",
        f"Flow '{outcome.name}' is {outcome.state}{f': {outcome.error}' if outcome.error else ''}",
        {"status": outcome.state},
        level="ERROR" if outcome.error else "INFO",
        dataset=outcome.name,
        flow=outcome.name,
        error=outcome.error,
    )
