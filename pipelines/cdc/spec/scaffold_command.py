"""The command `python -m cdc scaffold`."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from cdc.errors import CdcError, near_match
from cdc.spec.captures import NotACapture, captured_records
from cdc.spec.difference_kinds import Change
from cdc.spec.differences import Difference, differences
from cdc.spec.document import read_document
from cdc.spec.evidence import Evidence, evidence
from cdc.spec.fill import filled
from cdc.spec.folder import find_files
from cdc.spec.load import Conf, read_conf
from cdc.spec.reading import listed
from cdc.spec.report import counted
from cdc.spec.scaffold import files
from cdc.spec.update import updated

_FOLDER = click.Path(path_type=Path)
_EXISTING = click.Path(exists=True, path_type=Path)


class CannotCompare(click.ClickException, CdcError):
    """There is nothing to compare; the exit status 1 says that source and specs differ."""

    exit_code = 2


@dataclass(frozen=True)
class Options:
    """What to do with the tables found."""

    connector: str
    wanted: tuple[str, ...]
    write: Path | None
    diff: bool
    update: bool
    conf: Path


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
@click.option("--write", type=_FOLDER, help="Write to this conf folder; existing files are kept.")
@click.option("--diff", is_flag=True, help="Print what the source and the specs differ in.")
@click.option("--update", is_flag=True, help="Edit the specs where they differ; comments and layout are kept.")
@click.option("--conf", type=_FOLDER, default="conf", show_default=True, help="For --diff and --update.")
def scaffold(captures: tuple[Path, ...], **options: Any) -> None:
    """Generate table specs from captures.

    They are made from schema-change records. Capture the connector's schema-change topic (its name is the topic
    prefix) from the start:
    `kcat -C -J -e -t shopserver -b ... > schema-changes.jsonl`.
    For a table without such a record, the schema blocks of its records are used. The exit status of --diff is 1 if
    there are differences, that of --update 1 if some need a person; it is 2 if they could not be compared.
    """
    asked = Options(**options)
    try:
        found = evidence(captured_records(captures))
    except NotACapture as error:
        raise (CannotCompare if asked.diff or asked.update else click.ClickException)(str(error)) from error
    if asked.diff or asked.update:
        _compare(found, asked)
    else:
        _generate(found, asked)


def _generate(found: Evidence, asked: Options) -> None:
    found = _only(found, asked.wanted)
    if not found.tables:
        raise click.ClickException(_nothing_found(found))
    if len(found.prefixes) > 1:
        message = f"the captures have tables of several connectors, by topic prefix: {listed(found.prefixes)}"
        raise click.ClickException(f"{message}\n  fix: capture one connector, or choose its tables by --table.")
    _say_what_is_left_out(found)
    texts = files(found, asked.connector)
    if asked.write is None:
        click.echo("---\n".join(f"# conf/{path}\n{text}" for path, text in texts.items()), nl=False)
    else:
        _write_new(asked.write, texts)


def _compare(found: Evidence, asked: Options) -> None:
    if asked.update:
        _fill(found, asked)
    conf = read_conf(asked.conf, asked.connector, kind_in_records=found.kinds.get)
    if conf.faults:
        faults = "\n\n".join(map(str, conf.faults))
        raise CannotCompare(f"correct the specs first\n\n{faults}")
    found = _of_connector(found, conf, asked.wanted)
    _say_what_is_left_out(found)
    differing = differences(found, [table for table in conf.read if _is_wanted(table.reading.table, asked.wanted)])
    if asked.update:
        differing = _update(found, conf, asked, differing)
    for each in differing:
        click.echo(f"{each}\n")
    if asked.update and differing:
        click.echo(f"{counted(len(differing), 'difference')} left, to be decided by a person")
    elif not asked.update:
        click.echo(f"{counted(len(differing), 'difference')} between the source and {asked.conf}")
    sys.exit(1 if differing else 0)


def _fill(found: Evidence, asked: Options) -> None:
    """Describe the columns of specs that have none yet; with faults as they are, they could not be compared."""
    described = {table.source: table for table in found.tables if _is_wanted(table.source, asked.wanted)}
    for file in find_files(asked.conf, asked.connector).tables.get(asked.connector, ()):
        data = read_document(file, file.as_posix(), []).data
        table = described.get(str(data.get("table")))
        if table and _rewrite(file, partial(filled, data=data, table=table)):
            click.echo(f"updated {file}: the columns of {table.source}")


def _update(found: Evidence, conf: Conf, asked: Options, differing: Iterable[Difference]) -> tuple[Difference, ...]:
    """Edit the files and add those of new tables; returns the differences that a person has to decide."""
    places = {str(table.reading.table): Path(table.reading.document.file) for table in conf.read}
    left: list[Difference] = []
    new: set[str] = set()
    for source, group in groupby(differing, key=lambda each: each.table):
        of_table = list(group)
        left += (each for each in of_table if each.by_hand)
        if any(each.change is Change.NEW_TABLE for each in of_table):
            new.add(source)
        elif edits := [each for each in of_table if not each.by_hand]:
            _edit(places[source], edits)
    if new:
        of_new = replace(found, tables=tuple(table for table in found.tables if table.source in new))
        _write_new(asked.conf, files(of_new, asked.connector))
    return tuple(left)


def _edit(file: Path, edits: Sequence[Difference]) -> None:
    _rewrite(file, lambda text: updated(text, edits))
    click.echo(f"updated {file}: {', '.join(f'{each.change.value} ({each.column})' for each in edits)}")


def _rewrite(file: Path, edit: Callable[[str], str]) -> bool:
    """Edit a file's text, without changing its line endings; returns whether the edit changed it."""
    with file.open(encoding="utf-8", newline="") as opened:
        text = opened.read()
    if (edited := edit(text)) == text:
        return False
    with file.open("w", encoding="utf-8", newline="") as opened:
        opened.write(edited)
    return True


def _of_connector(found: Evidence, conf: Conf, wanted: Sequence[str]) -> Evidence:
    """The part of what was found that is of the conf's one connector."""
    prefix = conf.connectors[0].topic_prefix
    if not found.tables and not found.dropped:
        raise CannotCompare(_nothing_found(found))
    of_prefix = replace(found, tables=tuple(table for table in found.tables if table.topic_prefix == prefix))
    if found.tables and not of_prefix.tables:
        message = f"connector `{conf.connectors[0].name}` has the topic prefix `{prefix}`"
        raise CannotCompare(f"{message}; the captures have: {listed(found.prefixes)}\n  fix: correct `topic_prefix`.")
    return _only(of_prefix, wanted)


def _only(found: Evidence, wanted: Sequence[str]) -> Evidence:
    """What was found of the tables that are asked for."""
    known = [table.source for table in found.tables]
    for name in wanted:
        if name not in known and (near := near_match(name, known)):
            raise click.ClickException(f"the captures do not describe table `{name}` (did you mean `{near}`?)")
    return replace(found, tables=tuple(table for table in found.tables if _is_wanted(table.source, wanted)))


def _is_wanted(source: str | None, wanted: Sequence[str]) -> bool:
    return not wanted or source in wanted


def _nothing_found(found: Evidence) -> str:
    topics = f"; the captures have records of: {listed(sorted(found.topics))}" if found.topics else ""
    return (
        "the captures have no schema-change record of such a table, and no change with a schema block; schema-change "
        f"records are in the topic named like the connector's topic prefix{topics}"
    )


def _say_what_is_left_out(found: Evidence) -> None:
    for source in sorted(found.signals):
        click.echo(f"left out {source}: the connector's signal table", err=True)


def _write_new(conf: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = conf / name
        if path.exists():
            click.echo(f"kept    {path}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            click.echo(f"written {path}")
