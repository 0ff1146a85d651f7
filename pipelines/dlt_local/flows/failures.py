"""Turns errors of Spark, of the machine and of expectations into errors that a user can act on."""

from dlt_local.errors import ExpectationFailed, FlowError
from dlt_local.flows import expectations
from dlt_local.flows.continuity import source_replaced
from dlt_local.flows.kafka import errors as kafka_errors
from dlt_local.graph.graph import Node, ResolvedFlow
from dlt_local.spark import root_cause

_OTHER_TABLE = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


def flow_failed(node: Node, flow: ResolvedFlow, error: Exception) -> FlowError:
    """The error of a flow; ExpectationFailed where a row broke an `expect_or_fail`."""
    _, is_expectation, detail = str(error).partition(f"{expectations.FAILURE} ")
    if is_expectation:
        fix = "correct the source, or relax the expectation to expect_or_drop; nothing of the batch was written"
        return ExpectationFailed(expectations.FAILURE, node.name, detail.splitlines()[0], fix, is_permanent=True)
    for source in flow.kafka:
        if explained := kafka_errors.explained(node.name, flow, source, error):
            return explained
    return failed(node.name, f"flow `{flow.flow.name}` ({flow.flow.location}): ", error)


def failed(dataset: str, where: str, error: Exception) -> FlowError:
    """DISK_FULL, SOURCE_REPLACED or FLOW_FAILED, with the root cause.

    Args:
        dataset: its name.
        where: prefix of the message.
        error: as it was raised.
    """
    message = where + (root_cause.of_python(error) or root_cause.sentence(error))
    if _OTHER_TABLE in str(error):
        return source_replaced(dataset, f"{where}a table that it reads has been replaced by another one")
    if root_cause.is_disk_full(error):
        fix = "make room and run again: committed batches stay, the rest follows with the next update, nothing twice"
        return FlowError("DISK_FULL", dataset, message, fix)
    return FlowError("FLOW_FAILED", dataset, message, is_permanent=root_cause.is_permanent(error))
