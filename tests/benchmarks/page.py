"""Results for people: a table for the terminal, a page and a picture for docs/."""

from collections.abc import Sequence
from statistics import median

from rich.table import Table
from tests.benchmarks.bench import Result

_VERDICTS = {True: "reached", False: "not reached", None: ""}
_WIDTH, _ROW, _NAMES = 900, 44, 330


def terminal_table(results: Sequence[Result]) -> Table:
    """One row per measure."""
    table = Table("measure", "beside", "ours s", "peer's s", "ratio", "goal", "", "rows/s/core")
    for result in results:
        table.add_row(*_cells(result))
    return table


def page(results: Sequence[Result], machine: str, scale: float, rounds: int) -> str:
    """docs/performance.md: grain, one table row per measure."""
    head = ("measure", "beside", "ours, s", "the peer's, s", "ratio", "goal", "", "rows/s/core")
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *map(_cells, results))]
    size = "the size that the goals speak of" if scale == 1 else f"{scale:g} of the size that the goals speak of"
    notes = "".join(f"- {note}\n" for result in results for note in result.notes)
    return _PAGE.format(table="\n".join(lines), notes=notes, machine=machine, size=size, rounds=rounds)


def picture(results: Sequence[Result]) -> str:
    """A bar per measure: how far the goal is passed, the goal being the line."""
    with_goal = [(result, result.limit) for result in results if result.limit is not None]
    bars = "".join(_bar(place, *each) for place, each in enumerate(with_goal))
    height = _ROW * len(with_goal) + 40
    goal = _NAMES + 200
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif"'
        f' font-size="14">\n<rect width="{_WIDTH}" height="{height}" fill="white"/>\n{bars}'
        f'<line x1="{goal}" x2="{goal}" y1="10" y2="{height - 30}" stroke="black" stroke-dasharray="4"/>\n'
        f'<text x="{goal}" y="{height - 10}" text-anchor="middle">the goal; longer is better</text>\n</svg>\n'
    )


def _bar(place: int, result: Result, limit: float) -> str:
    margin = result.ratio / limit if result.is_faster_goal else limit / result.ratio
    length, top = min(margin, 2.7) * 200, place * _ROW + 14
    colour = "#2a7f62" if result.is_reached else "#b3541e"
    return (
        f'<text x="{_NAMES - 10}" y="{top + 17}" text-anchor="end">{result.measure}</text>\n'
        f'<rect x="{_NAMES}" y="{top}" width="{length:.0f}" height="26" fill="{colour}"/>\n'
        f'<text x="{_NAMES + 8}" y="{top + 18}" fill="white">{result.ratio:.2f}</text>\n'
    )


def _cells(result: Result) -> tuple[str, ...]:
    ratio = f"{result.ratio:.2f} x {'as fast' if result.is_faster_goal else 'its time'}"
    ours, peers = f"{median(result.ours):.1f}", f"{median(result.peers):.1f}"
    return (
        result.measure,
        result.peer,
        ours,
        peers,
        ratio,
        result.goal,
        _VERDICTS[result.is_reached],
        f"{result.rows_a_second_and_core:,.0f}" if result.rows else "",
    )


_PAGE = """# Performance

Written by `make bench`, which runs every measure beside its peer, in turn, in one run on one machine: what counts is
the ratio of the medians. Before a time counts, the tables are compared row for row.

Machine: {machine}. Size: {size}. {rounds} timed rounds each, after one to warm up.

![How far each measure is from its goal](performance.svg)

{table}

{notes}
The driver's heap, which is the executor's too, is the engine's default of 3 GiB.

*Recipe*: what tutorials teach, `foreachBatch` with from_json of the whole envelope, `row_number` per key and MERGE
(tests/benchmarks/recipe.py). *Floor*: what no way can do without, the needed fields parsed once, the last change of
each key, one write (tests/benchmarks/floor.py). Records are made by tests/benchmarks/records.py: SQL Server envelopes
of a table with 12 columns, one delete in ten.

What stands between a measure and its goal: [performance-notes.md](performance-notes.md).

To repeat one measure: `make bench ARGS="--only first-load --scale 0.1"`. Figures as JSON: performance.json.
"""
