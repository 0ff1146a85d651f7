"""Show results: a table for the terminal, a page and a picture for docs/."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from tests.benchmarks.result import Result

_VERDICTS = {True: "reached", False: "not reached", None: ""}
_WIDTH, _ROW, _NAMES = 900, 44, 330
_HEAD = ("measure", "beside", "ours, s", "the peer's, s", "ratio", "goal", "", "rows/s/core")


@dataclass(frozen=True)
class Setting:
    """The machine and the size of a run."""

    machine: str
    scale: float
    rounds: int


def terminal_table(results: Sequence[Result]) -> Table:
    """A row for each measure."""
    table = Table(*_HEAD)
    for result in results:
        table.add_row(*_cells(result))
    return table


def page(results: Sequence[Result], setting: Setting) -> str:
    """docs/performance.md, with a table row for each measure."""
    lines = [f"| {' | '.join(cells)} |" for cells in (_HEAD, ("---",) * len(_HEAD), *map(_cells, results))]
    share = "" if setting.scale == 1 else f"{setting.scale:g} of "
    notes = "".join(f"- {note}\n" for result in results for note in result.notes)
    return _PAGE.format(
        table="\n".join(lines), notes=notes, machine=setting.machine, share=share, rounds=setting.rounds
    )


def picture(results: Sequence[Result]) -> str:
    """A bar for each measure with a goal; bars that pass the dashed line reach theirs."""
    with_goal = [(result, result.goal.limit) for result in results if result.goal.limit is not None]
    bars = "".join(_bar(number, result, limit) for number, (result, limit) in enumerate(with_goal))
    height = _ROW * len(with_goal) + 40
    goal = _NAMES + 200
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif"'
        f' font-size="14">\n<rect width="{_WIDTH}" height="{height}" fill="white"/>\n{bars}'
        f'<line x1="{goal}" x2="{goal}" y1="10" y2="{height - 30}" stroke="black" stroke-dasharray="4"/>\n'
        f'<text x="{goal}" y="{height - 10}" text-anchor="middle">the goal; longer is better</text>\n</svg>\n'
    )


def _bar(number: int, result: Result, limit: float) -> str:
    margin = result.ratio / limit if result.goal.is_speed else limit / result.ratio
    length, top = min(margin, 2.7) * 200, number * _ROW + 14
    colour = "#2a7f62" if result.is_reached else "#b3541e"
    return (
        f'<text x="{_NAMES - 10}" y="{top + 17}" text-anchor="end">{result.measure}</text>\n'
        f'<rect x="{_NAMES}" y="{top}" width="{length:.0f}" height="26" fill="{colour}"/>\n'
        f'<text x="{_NAMES + 8}" y="{top + 18}" fill="white">{result.ratio:.2f}</text>\n'
    )


def _cells(result: Result) -> tuple[str, ...]:
    ratio = f"{result.ratio:.2f} x {'as fast' if result.goal.is_speed else 'its time'}"
    return (
        result.measure,
        result.peer,
        f"{result.ours:.1f}",
        f"{result.peers:.1f}",
        ratio,
        result.goal.text,
        _VERDICTS[result.is_reached],
        f"{result.rows_a_second_and_core:,.0f}" if result.rows else "",
    )


_PAGE = """# Performance

Written by `make bench`, which runs every measure and its peer alternately, in one run on one machine: what counts is
the ratio of the medians. Tables are compared row for row, and a measure with a difference fails.

Machine: {machine}. Size: {share}the size for which the goals are set. {rounds} timed rounds each, after one to warm up.

![Each measure and its goal](performance.svg)

{table}

{notes}
The driver's heap, which is the executor's too, is the engine's default of 3 GiB.

*Recipe*: what tutorials teach, `foreachBatch` with from_json of the whole envelope, `row_number` per key and MERGE
(tests/benchmarks/recipe.py). *Floor*: the least work of any solution, parsing the needed fields once, taking the last
change of each key and writing once (tests/benchmarks/floor.py). tests/benchmarks/records.py makes the records: SQL
Server envelopes of a table with 12 columns, one delete in ten.

Why a measure misses its goal: [performance-notes.md](performance-notes.md).

To repeat one measure: `make bench ARGS="--only first-load --scale 0.1"`. Figures as JSON: performance.json.
"""
