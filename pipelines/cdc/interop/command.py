"""The commands `python -m cdc export sdp-meta` and `python -m cdc import sdp-meta`."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from cdc.errors import Diagnostic, SpecError, in_reading_order
from cdc.interop.export import FORMS, Wanted, export
from cdc.interop.import_specs import Asked, import_specs
from cdc.interop.kafka import OPTION, unknown_settings
from cdc.interop.onboarding import read_onboarding
from cdc.interop.sources import Topics
from cdc.spec.load import read_conf
from cdc.spec.report import counted
from cdc.spec.schemas_option import schemas_option

_FOLDER = click.Path(path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _kafka(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Mapping[str, str]:
    settings = dict(each.partition("=")[::2] for each in given)
    if faults := unknown_settings(settings):
        raise click.ClickException("\n\n".join(map(str, faults)))
    return settings


@click.group(name="export")
def export_group() -> None:
    """Write specs as other tools' files."""


@click.group(name="import")
def import_group() -> None:
    """Make specs of other tools' files."""


@export_group.command("sdp-meta")
@click.argument("conf", type=_FOLDER, default="conf")
@click.option("--connector", help="Only this connector and its tables.")
@click.option(
    "--write", type=_FOLDER, required=True, help="Folder for the files; those of an earlier export are replaced."
)
@click.option("--env", default="dev", show_default=True, help="Suffix of the keys that differ by environment.")
@click.option(
    "--read-from", help="Folder from which sdp-meta reads the files, such as a volume; by default that of --write."
)
@click.option(
    OPTION,
    "kafka",
    multiple=True,
    callback=_kafka,
    metavar="NAME=VALUE",
    help="A setting for Kafka, named as after `cdc.kafka.`, such as bootstrap.servers=HOST:PORT; repeatable.",
)
@schemas_option
@click.option("--format", "form", type=click.Choice(FORMS), default=FORMS[0], show_default=True)
def export_sdp_meta(conf: Path, connector: str | None, write: Path, deployed: Mapping[str, str], **wanted: Any) -> None:
    """Write sdp-meta's onboarding and transformation files.

    What they cannot say is listed on stderr. The exit status is 1 if a table is left out.
    """
    found = read_conf(conf, connector, deployed=deployed)
    if found.faults:
        raise click.ClickException(str(SpecError(found.faults)))
    read_from = wanted["read_from"] or write.as_posix()
    exported = export(found, Wanted(wanted["env"], read_from, wanted["form"], wanted["kafka"]))
    for name, text in exported.files.items():
        _write(write / name, text)
    click.echo(f"{counted(len(exported.tables), 'table')} exported")
    sys.exit(_say(exported.found))


@import_group.command("sdp-meta")
@click.argument("onboarding", type=_FILE)
@click.option("--connector", required=True, help="Name of the connector that the tables get.")
@click.option(
    "--conf", type=_FOLDER, default="conf", show_default=True, help="The conf folder; existing files are kept."
)
@click.option("--env", help="The environment to import, if the file has several.")
@click.option("--topic-prefix", "prefix", help="The connector's `topic.prefix`, if the topics do not tell it.")
@click.option("--database", help="The source database, if the topics do not name it.")
def import_sdp_meta(
    onboarding: Path, connector: str, conf: Path, env: str | None, prefix: str | None, database: str | None
) -> None:
    """Make table specs of sdp-meta's onboarding file.

    The types of columns come from captured records:
    `python -m cdc scaffold --update --connector NAME --capture FOLDER`.
    What cannot be taken over is listed on stderr. The exit status is 1 if a data flow is left out, or if there are
    faults; then nothing is written.
    """
    existing = next((each for each in read_conf(conf, connector).connectors if each.name == connector), None)
    asked = Asked(connector, existing, Topics(prefix, database))
    imported = import_specs(read_onboarding(onboarding, env), asked)
    status = _say(imported.found)
    if imported.faults:
        click.echo(f"{counted(len(imported.faults), 'fault')} in {onboarding}; nothing is written", err=True)
        sys.exit(status)
    for name, text in imported.files.items():
        if (conf / name).exists():
            click.echo(f"kept    {conf / name}")
        else:
            _write(conf / name, text)
    if imported.files:
        click.echo(f"next: python -m cdc scaffold --update --connector {connector} --capture FOLDER --conf {conf}")
    sys.exit(status)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"written {path}")


def _say(found: Iterable[Diagnostic]) -> int:
    """Print faults and warnings on stderr; returns the exit status."""
    ordered = in_reading_order(found)
    for each in ordered:
        click.echo(f"{each}\n", err=True)
    return 1 if any(each.severity == "error" for each in ordered) else 0
