"""`make projects`: runs each project, update after update and once more without new input, and prints a table."""

import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table
from tests.support.projects import NAMES, Project

from dlt_local.errors import LocalPipelineError


def main() -> None:
    """Run all projects; the exit status is 1 if one of them fails or has other rows than it should."""
    console = Console()
    table = Table("project", "like", "updates", "seconds", "then", "rows")
    failed = []
    for name in NAMES:
        with console.status(name), tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            project = Project(name, Path(folder))
            then, faults = _run(project)
            updates, seconds = str(len(project.case.updates)), f"{time.monotonic() - started:.0f}"
        table.add_row(name, project.case.like, updates, seconds, then, "different" if faults else "as expected")
        failed += [f"{name}: {fault}" for fault in faults]
    console.print(table)
    for each in failed:
        console.print(each, markup=False)
    sys.exit(1 if failed else 0)


def _run(project: Project) -> tuple[str, list[str]]:
    faults: list[str] = []
    try:
        for step in project.case.updates:
            project.run(step)
            faults += project.differences(step)
        last = project.pipeline.run()
    except LocalPipelineError as error:
        return "FAILED", [*faults, str(error)]
    wrote = project.rows_streamed(last)
    return (f"{wrote} rows streamed" if wrote else "idle"), faults


if __name__ == "__main__":
    main()
