"""The command `python -m cdc show`."""

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from cdc.errors import near_match
from cdc.spec.effective import effective
from cdc.spec.load import Conf, read_conf
from cdc.spec.reading import listed
from cdc.spec.report import aligned
from cdc.spec.schema_faults import flow
from cdc.spec.schemas_option import schemas_option
from cdc.spec.table import ReadTable


@click.command()
@click.argument("table")
@click.option("--conf", type=click.Path(path_type=Path), default="conf", show_default=True, help="The conf folder.")
@click.option("--connector", help="The connector, if several have such a table.")
@schemas_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def show(table: str, conf: Path, connector: str | None, deployed: Mapping[str, str], form: str) -> None:
    """Print a table's effective spec, and where each value comes from.

    TABLE is the source table or its name in the lakehouse: shop.dbo.orders or orders.
    """
    found = read_conf(conf, connector, deployed=deployed)
    wanted = _wanted(found, table)
    file = wanted.reading.document.file
    if wanted.spec is None:
        for fault in found.faults:
            click.echo(f"{fault}\n")
        click.echo(f"{file} cannot be shown before these faults are corrected")
        sys.exit(1)
    settings = effective(found, wanted)
    if form == "json":
        click.echo(json.dumps([dataclasses.asdict(each) for each in settings], ensure_ascii=False, indent=2))
        return
    rows = [(each.field, "-" if each.value is None else flow(each.value), each.origin) for each in settings]
    click.echo("\n".join(aligned([("FIELD", "VALUE", "FROM"), *rows])))


def _wanted(conf: Conf, table: str) -> ReadTable:
    """The one table of this name, by its name in the source or in the lakehouse."""
    if not conf.read:
        raise click.ClickException("\n\n".join(map(str, conf.faults)) or "the conf folder has no tables")
    found = [each for each in conf.read if table in (each.name, each.reading.table)]
    if len(found) == 1:
        return found[0]
    if found:
        files = ", ".join(each.reading.document.file for each in found)
        raise click.ClickException(f"several files describe `{table}`: {files}\n  fix: choose one by --connector.")
    known = [name for each in conf.read for name in (each.name, each.reading.table) if name]
    near = near_match(table, known)
    meant = f" (did you mean `{near}`?)" if near else f"; tables: {listed([each.name or '?' for each in conf.read])}"
    raise click.ClickException(f"no file describes table `{table}`{meant}")
