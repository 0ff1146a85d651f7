"""``make bench``: run every measure beside its peer; write a page, a JSON file and a picture."""

import json
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from tests.benchmarks import MEASURES
from tests.benchmarks.bench import Bench, session_for_peers
from tests.benchmarks.page import Setting, page, picture, terminal_table
from tests.benchmarks.result import Result

from dlt_local import create_session

_CHECKOUT = Path(__file__).parents[2]


@click.command()
@click.option("--scale", default=1.0, show_default=True, help="1 is the size for which the goals are set.")
@click.option("--rounds", default=3, show_default=True, help="Timed rounds of each measure, after one to warm up.")
@click.option("--only", multiple=True, type=click.Choice(list(MEASURES)), help="Run only these measures.")
@click.option("--to", default=_CHECKOUT / "docs", type=click.Path(path_type=Path), help="Folder of the results.")
def main(scale: float, rounds: int, only: Sequence[str], to: Path) -> None:
    """Measure, and write docs/performance.md, .json and .svg."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    setting = Setting(machine, scale, rounds)
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    console = Console()
    try:
        results = _run(folder, setting, only or list(MEASURES), console)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    console.print(terminal_table(results))
    figures = {"machine": machine, "scale": scale, "results": [result.as_json() for result in results]}
    (to / "performance.json").write_text(json.dumps(figures, indent=1) + "\n")
    (to / "performance.svg").write_text(picture(results))
    (to / "performance.md").write_text(page(results, setting))


def _run(folder: Path, setting: Setting, names: Sequence[str], console: Console) -> list[Result]:
    spark = create_session()
    bench = Bench(spark, session_for_peers(spark), folder, setting.scale, setting.rounds)
    results = []
    for name in names:
        console.print(f"{name} ...")
        started = time.monotonic()
        results.append(MEASURES[name](bench))
        took = time.monotonic() - started
        console.print(f"  {results[-1].ratio:.2f} ({results[-1].goal.text}), measured in {took:.0f} s")
    return results


if __name__ == "__main__":
    main()
