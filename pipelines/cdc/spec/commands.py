"""Commands of `python -m cdc` that check and write conf folders."""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from cdc.spec.load import Conf, read_conf
from cdc.spec.model import TableSpec
from cdc.spec.reference import reference as reference_text
from cdc.spec.scaffold import SourceTable, connector_yaml, dataset_names, source_tables, table_yaml
from cdc.spec.schema import FOLDER

_FOLDER = click.Path(path_type=Path)
_EXISTING = click.Path(exists=True, path_type=Path)


@click.command()
@click.argument("conf", type=_FOLDER, default="conf")
@click.option("--connector", help="Check only this connector and its tables.")
def check(conf: Path, connector: str | None) -> None:
    """Print a conf folder's faults or its tables.

    The exit status is 1 if there are faults; warnings alone leave it at 0.
    """
    found = read_conf(conf, connector)
    for diagnostic in (*found.faults, *found.warnings):
        click.echo(f"{diagnostic}\n")
    if found.faults:
        click.echo(f"{_counted(len(found.faults), 'fault')} in {conf}")
        sys.exit(1)
    click.echo(summary(found))


def summary(conf: Conf) -> str:
    """One aligned line per table, and the counts."""
    headings = ("CONNECTOR", "TABLE", "NAME", "KEY", "COLUMNS", "KEEPS", "TOPIC")
    lines = _aligned([headings, *map(_summary_row, conf.tables)])
    counts = f"{_counted(len(conf.tables), 'table')} of {_counted(len(conf.connectors), 'connector')}, no faults"
    return "\n".join([*lines, "", counts])


def _summary_row(table: TableSpec) -> tuple[str, ...]:
    keeps = "changes" if table.append_only else "history" if table.history else "current rows"
    key = ", ".join(table.key) or "-"
    return (
        table.connector.name,
        table.source,
        table.name,
        key,
        str(len(table.columns)),
        keeps,
        table.topic,
    )


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


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
    tables = [table for table in source_tables(_records(captures)) if not wanted or table.source in wanted]
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


def _records(captures: Iterable[Path]) -> Iterator[Mapping[str, Any]]:
    """The records of capture files and of all captures in folders."""
    for capture in captures:
        files = sorted(capture.rglob("*.jsonl")) if capture.is_dir() else [capture]
        for file in files:
            for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
                if line.strip():
                    yield _record(line, f"{file}:{number}")


def _record(line: str, place: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        message = f"{place}: the line is not JSON ({error.msg}); a capture has one record per line (kcat -C -J)"
        raise click.ClickException(message) from error
    return record if isinstance(record, dict) else {}


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


@click.command()
@click.argument("conf", type=_FOLDER, default="conf")
def schemas(conf: Path) -> None:
    """Copy the JSON Schemas to a conf folder.

    Editors use them for completion.
    """
    target = conf / "schema"
    target.mkdir(parents=True, exist_ok=True)
    for source in sorted(FOLDER.glob("*.schema.json")):
        shutil.copyfile(source, target / source.name)
        click.echo(f"written {target / source.name}")


@click.command()
def reference() -> None:
    """Print the reference as Markdown.

    It lists all fields, types and faults.
    """
    click.echo(reference_text(), nl=False)
