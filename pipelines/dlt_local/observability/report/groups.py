"""Groups of datasets: a table and what is made from it alone, as one row of the report."""

from collections import Counter
from collections.abc import Sequence

from dlt_local.observability.shapes import Shape


def groups(datasets: Sequence[Shape]) -> dict[str, str]:
    """Dataset -> the first dataset of its group.

    A dataset belongs to the group of what it reads. One that reads nothing of the pipeline, or several groups, is the
    first of its own.

    Args:
        datasets: each after those that it reads.
    """
    found: dict[str, str] = {}
    for each in datasets:
        read = {found[source] for source in each.inputs if source in found}
        found[each.name] = read.pop() if len(read) == 1 else each.name
    return found


def labels(firsts: Sequence[str]) -> dict[str, str]:
    """First dataset of a group -> the group's name: without the schema where that is enough.

    >>> labels(["bronze.orders", "eu.people", "us.people"])
    {'bronze.orders': 'orders', 'eu.people': 'eu.people', 'us.people': 'us.people'}
    """
    uses = Counter(first.rpartition(".")[2] for first in firsts)
    return {first: short if uses[short := first.rpartition(".")[2]] == 1 else first for first in firsts}
