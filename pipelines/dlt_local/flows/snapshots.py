"""AUTO CDC from snapshots: applies what each new snapshot of a source changes in its target."""

from collections.abc import Iterator
from datetime import UTC, datetime

from pyspark.sql import DataFrame

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.snapshots import AppliedSnapshots, differences
from dlt_local.declarations.elements import SnapshotCdcFlow, Table
from dlt_local.delta.transaction import TransactionId
from dlt_local.errors import FlowError
from dlt_local.flows.auto_cdc import ChangeTarget
from dlt_local.flows.context import FlowRun
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.flows.queries import checked, register_inputs
from dlt_local.names import quote
from dlt_local.spark import query_calls
from dlt_local.spark.tuning import tuned


def apply(run: FlowRun, table: Table, declared: SnapshotCdcFlow) -> FlowMetrics:
    """Apply every snapshot newer than the last one applied, in order.

    Raises:
        FlowError: a snapshot has two rows of one key; it and those after it are not applied.
    """
    target = ChangeTarget.of(run, table)
    applied = AppliedSnapshots(target.state)
    session = run.update.session
    metrics = FlowMetrics()
    register_inputs(run)
    for snapshot, version in _new_snapshots(run, declared, applied):
        _refuse_duplicate_keys(snapshot, target.args)
        rows = session.read.format("delta").load(str(target.path))
        # Materialized, because the target is written while the changes are still being read.
        changes = tuned(differences(snapshot, rows, target.args, version)).localCheckpoint()
        metrics += target.apply_rows(changes, TransactionId(run.checkpoint.app_id(), applied.count))
        metrics += FlowMetrics(batches=1)
        applied.add(version)
    return metrics


def _new_snapshots(
    run: FlowRun, declared: SnapshotCdcFlow, applied: AppliedSnapshots
) -> Iterator[tuple[DataFrame, object]]:
    """Snapshots with their versions; the present rows of a dataset are one, versioned by the time of reading."""
    if isinstance(declared.source, str):
        yield run.update.session.read.table(declared.source), datetime.now(UTC)
        return
    registry = run.update.registry
    while True:
        call = run.update.session.call()
        with registry.with_modules(), query_calls.calling(call, registry.conf_of(declared)):
            found = declared.source(applied.latest)
        if found is None:
            return
        frame, version = found
        yield checked(call.result(frame), declared), version


def _refuse_duplicate_keys(snapshot: DataFrame, args: ChangeArgs) -> None:
    keys = [quote(key) for key in args.keys]
    duplicates = snapshot.groupBy(*keys).count().where("count > 1").drop("count").limit(3).collect()
    if duplicates:
        shown = ", ".join(str(row.asDict()) for row in duplicates)
        message = f"a snapshot of flow `{args.flow}` has more than one row for {shown}; {args.target} is unchanged"
        fix = "make the source return one row per key"
        raise FlowError("AUTOCDC_SNAPSHOT_KEY_NOT_UNIQUE", str(args.target), message, fix)
