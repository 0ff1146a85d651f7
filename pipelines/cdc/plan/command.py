"""The command `python -m cdc plan`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from cdc import names, retention
from cdc.plan.edits import Effect, TablePlan, with_edits
from cdc.plan.edits import plan as plan_of
from cdc.plan.moves import left_behind, moves
from cdc.plan.stored import (
    Source,
    decoded_definition,
    folder_of,
    source,
    stored_definition,
    stored_properties,
    stored_sources,
)
from cdc.spec.load import read_conf
from cdc.spec.model import TableSpec
from cdc.spec.schemas_option import schemas_option
from cdc.targets import targets

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("conf", type=_FOLDER, default="conf")
@click.option("--connector", help="Plan only this connector's tables.")
@schemas_option
@click.option(
    "--storage", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True, help="Storage folder."
)
def plan(conf: Path, connector: str | None, deployed: Mapping[str, str], storage: Path) -> None:
    """Show what the conf folder's edits do to the stored tables.

    Reads nothing but the logs of the Delta tables, and writes nothing. The exit status is 1 if the conf folder has
    faults, 2 if a table needs a rebuild, or leaves its rows behind under another name.
    """
    found = read_conf(conf, connector, deployed=deployed)
    if found.faults:
        for fault in found.faults:
            click.echo(f"{fault}\n")
        sys.exit(1)
    behind = left_behind(storage, {dataset for table in found.read for dataset in table.datasets})
    plans = [_with_moves(_plan(table, storage), storage, behind) for table in found.tables]
    for each in plans:
        click.echo("\n".join(_lines(each, storage)))
    # Of one connector's tables alone, those of others would seem to be gone.
    for line in () if connector else _removed_sources(found.tables, storage):
        click.echo(line)
    if any(each.effect in (Effect.REBUILD, Effect.MOVED) for each in plans):
        sys.exit(2)


def _removed_sources(tables: Sequence[TableSpec], storage: Path) -> Iterator[str]:
    """A line for each source that a target has rows of and that no spec names any more."""
    for sources in targets(tables):
        dataset = names.versions_dataset(sources[0])
        named = {table.into.source for table in sources if table.into}
        for name, table in stored_sources(storage, dataset).items():
            if named and name not in named:
                yield f"{dataset}: source {name} ({table}) has no spec any more"
                yield f"    its rows stay as they are; a rebuild of {names.target_name(sources[0])} removes them"


def _plan(table: TableSpec, storage: Path) -> TablePlan:
    return plan_of(table, stored_definition(storage, table), decoded_definition(storage, table))


def _with_moves(plan: TablePlan, storage: Path, behind: Mapping[str, str]) -> TablePlan:
    return with_edits(plan.table, (*plan.edits, *moves(plan.table, storage, behind)), plan.effect)


def _lines(plan: TablePlan, storage: Path) -> Iterator[str]:
    yield f"{plan.table.name}: {_HEADLINES[plan.effect]}"
    for edit in plan.edits:
        yield f"    {edit.text}"
        if edit.advice:
            yield f"        {edit.advice}"
    if plan.effect is Effect.REBUILD:
        yield f"    undo the edit, or run once with --rebuild {names.target_name(plan.table)}"
        yield f"        builds {', '.join(plan.rebuilt)} anew"
        yield f"        from {names.records_dataset(plan.table)}: {_shown(source(storage, plan.table))}"
        yield from _without_expired(plan.table, storage)


def _without_expired(table: TableSpec, storage: Path) -> Iterator[str]:
    """What stands in the way of a rebuild where rows expire."""
    if retention.of_silver(table):
        yield "        take `retention` out of its spec for that: the tables must not be built anew while it is set"
    dataset = names.records_dataset(table)
    expired_at = stored_properties(folder_of(storage, dataset)).get(retention.EXPIRED_AT)
    if expired_at:
        yield f"        rows of {dataset} have expired, the last time on {expired_at[:10]}: have the source send all of"
        yield f"        its rows again, then add --set dlt_local.accept_expired={dataset}"


_HEADLINES = {
    Effect.NONE: "unchanged",
    Effect.NEW: "new, or not built yet",
    Effect.IN_PLACE: "changed, existing rows stay",
    Effect.MOVED: "has new names, and its rows are stored under the old ones",
    Effect.REBUILD: "needs a rebuild; until then its tables are not updated",
}


def _shown(records: Source) -> str:
    count = "all of its records" if records.records is None else f"{records.records:,} records"
    return count if records.since is None else f"{count} since {records.since:%Y-%m-%d %H:%M}"
