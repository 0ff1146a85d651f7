"""Files of Auto Loader that a running flow was not prepared for: with unknown columns, or arrived in the meantime."""

import re
from collections.abc import Callable

from dlt_local.auto_loader.rows import ARRIVED_MEANWHILE, UNKNOWN_FIELDS
from dlt_local.auto_loader.session import AutoLoaderSession
from dlt_local.errors import FlowError
from dlt_local.flows import file_log
from dlt_local.flows.context import FlowRun
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.spark import root_cause

_UNKNOWN = re.compile(rf"{UNKNOWN_FIELDS} (\S+) (.*)")


def retried(run: FlowRun, write: Callable[[FlowRun], FlowMetrics]) -> FlowMetrics:
    """Write a flow; again, if a file arrives after its query was evaluated and before its stream has started.

    Raises:
        FlowError: UNKNOWN_FIELD_EXCEPTION; all other errors are as ``write`` raises them.
    """
    while True:
        try:
            return write(run)
        except FlowError:
            raise
        except Exception as error:
            message = root_cause.sentence(error)
            if ARRIVED_MEANWHILE in message:
                continue
            unknown = _UNKNOWN.search(message)
            session = run.update.registry.spark
            auto_loader = session.auto_loader if isinstance(session, AutoLoaderSession) else None
            if unknown is None or auto_loader is None:
                raise
            written = file_log.files_committed(run.checkpoint.folder)
            evolved = auto_loader.evolve(unknown[1], run.node.name, unknown[2], written)
            if evolved is None:
                raise
            raise evolved from error
