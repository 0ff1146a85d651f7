"""Accounts: what became of the rows that an update added, in its output. Pure."""

from collections import Counter
from collections.abc import Iterator, Sequence

from dlt_local.flows.outcomes import Update
from dlt_local.observability.report.tallies import Tally, TooManyRejects, new_rows, number_of_rejects


def lines(update: Update, tallies: Sequence[Tally]) -> Iterator[str]:
    """One line for each tally, then one for each expectation that rows did not meet."""
    yield from map(str, tallies)
    for dataset in update.datasets:
        failed: Counter[str] = Counter()
        for metrics in dataset.flows.values():
            failed.update(metrics.failed)
        for name, rows in failed.items():
            if rows:
                yield f"{dataset.name}: {new_rows(rows)} {'does' if rows == 1 else 'do'} not meet `{name}`"


def too_many(tallies: Sequence[Tally], limit: int | None) -> tuple[TooManyRejects, ...]:
    """The error of an update that added more rejects than its user allows; none without a limit."""
    if limit is None or number_of_rejects(tallies) <= limit:
        return ()
    return (TooManyRejects(tallies, limit),)
