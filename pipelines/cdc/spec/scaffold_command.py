"""The command `python -m cdc scaffold`."""

from collections.abc import Sequence
from pathlib import Path

import click

from cdc.spec.captures import NotACapture, captured_records
from cdc.spec.scaffold import SourceTable, connector_yaml, dataset_names, source_tables, table_yaml

_FOLDER = click.Path(path_type=Path)
_EXISTING = click.Path(exists=True, path_type=Path)


@click.command()
@click.option(
    "--capture",
    "captures",
    type=_EXISTING,
    multiple=True,
    required=True,
    help="Capture file, or folder of captures; repeatable.",
)
@click.option("--connector", required=True, help="Name of the connector that the tables belong to.")
@click.option(
    "--table", "wanted", multiple=True, help="Only this source table, for example shop.dbo.orders; repeatable."
)
@click.option("--write", "conf", type=_FOLDER, help="Write to this conf folder; existing files are kept.")
def scaffold(captures: tuple[Path, ...], connector: str, wanted: tuple[str, ...], conf: Path | None) -> None:
    """Generate table specs from captures.

    They are made from schema-change records. Capture the connector's schema-change topic (its name is the topic
    prefix) from the start:
    `kcat -C -J -e -t shopserver -b ... > schema-changes.jsonl`.
    """
    try:
        found = source_tables(captured_records(captures))
    except NotACapture as error:
        raise click.ClickException(str(error)) from error
    tables = [table for table in found if not wanted or table.source in wanted]
    if not tables:
        message = (
            "the captures have no schema-change record of such a table; those records are in the topic named like "
            "the connector's topic prefix"
        )
        raise click.ClickException(message)
    files = _files(connector, tables)
    if conf is None:
        click.echo("---\n".join(f"# conf/{path}\n{text}" for path, text in files.items()), nl=False)
    else:
        for path, text in files.items():
            _write_new(conf / path, text)


def _files(connector: str, tables: Sequence[SourceTable]) -> dict[str, str]:
    """Contents of the new files, by path in the conf folder."""
    names = dataset_names(tables)
    specs = {f"tables/{connector}/{names[each.source]}.yml": table_yaml(each, names[each.source]) for each in tables}
    return {f"connectors/{connector}.yml": connector_yaml(tables[0].topic_prefix), **specs}


def _write_new(path: Path, text: str) -> None:
    if path.exists():
        click.echo(f"kept    {path}")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"written {path}")
