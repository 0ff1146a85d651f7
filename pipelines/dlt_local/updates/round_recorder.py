"""What the scheduler reports of a round of datasets, passed on to progress and event log."""

from dlt_local.flows.outcomes import DatasetUpdate
from dlt_local.observability.update_events import UpdateEvents
from dlt_local.updates.continuous import CumulativeProgress


class RoundRecorder:
    """Records one round; idle datasets are recorded in the first round only."""

    def __init__(self, progress: CumulativeProgress, events: UpdateEvents, records_idle: bool) -> None:
        self._progress = progress
        self._events = events
        self._records_idle = records_idle

    def started(self, dataset: str) -> None:
        """A dataset has started."""
        self._progress.state(dataset, "RUNNING")

    def finished(self, outcome: DatasetUpdate) -> None:
        """A dataset has run."""
        if self._records_idle or not outcome.is_idle:
            for flow, metrics in outcome.flows.items():
                self._progress.batch(outcome.name, flow, metrics)
            self._events.dataset_ended(outcome)
        self._progress.state(outcome.name, outcome.state)

    def not_run(self, outcome: DatasetUpdate) -> None:
        """A dataset was skipped or excluded."""
        self._events.dataset_ended(outcome)
        self._progress.state(outcome.name, outcome.state)
