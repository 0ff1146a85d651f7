"""The command `python -m cdc plan`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from cdc import names
from cdc.plan.edits import Effect, TablePlan
from cdc.plan.edits import plan as plan_of
from cdc.plan.stored import Source, source, stored_definition
from cdc.spec.load import read_conf

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("conf", type=_FOLDER, default="conf")
@click.option("--connector", help="Plan only this connector's tables.")
@click.option(
    "--storage", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True, help="Storage folder."
)
def plan(conf: Path, connector: str | None, storage: Path) -> None:
    """Show what the conf folder's edits do to the stored tables.

    Reads nothing but the logs of the Delta tables, and writes nothing. The exit status is 1 if the conf folder has
    faults, 2 if a table needs a rebuild.
    """
    found = read_conf(conf, connector)
    if found.faults:
        for fault in found.faults:
            click.echo(f"{fault}\n")
        sys.exit(1)
    plans = [plan_of(table, stored_definition(storage, table)) for table in found.tables]
    for each in plans:
        click.echo("\n".join(_lines(each, storage)))
    if any(each.effect is Effect.REBUILD for each in plans):
        sys.exit(2)


def _lines(plan: TablePlan, storage: Path) -> Iterator[str]:
    yield f"{plan.table.name}: {_HEADLINES[plan.effect]}"
    for edit in plan.edits:
        yield f"    {edit.text}"
        if edit.advice:
            yield f"        {edit.advice}"
    if plan.effect is Effect.REBUILD:
        yield f"    undo the edit, or run once with --rebuild {plan.table.name}"
        yield f"        builds {', '.join(plan.rebuilt)} anew"
        yield f"        from {names.records_dataset(plan.table)}: {_shown(source(storage, plan.table))}"


_HEADLINES = {
    Effect.NONE: "unchanged",
    Effect.NEW: "new, or not built yet",
    Effect.IN_PLACE: "changed, existing rows stay",
    Effect.REBUILD: "needs a rebuild; until then its tables are not updated",
}


def _shown(records: Source) -> str:
    count = "all of its records" if records.records is None else f"{records.records:,} records"
    return count if records.since is None else f"{count} since {records.since:%Y-%m-%d %H:%M}"
