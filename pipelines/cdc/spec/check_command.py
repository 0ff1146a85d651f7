"""The command `python -m cdc check`."""

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from cdc.errors import Diagnostic, in_reading_order
from cdc.spec.bundle_settings import bundle_faults
from cdc.spec.captures import NotACapture, captured_records
from cdc.spec.evidence import kind_in
from cdc.spec.load import Conf, read_conf
from cdc.spec.report import as_annotation, as_json, counted, summary
from cdc.spec.schemas_option import schemas_option
from cdc.spec.sql_check import check_sql
from cdc.spec.topics import topic_faults

_EXISTING = click.Path(exists=True, path_type=Path)
_SECONDS = 10


@dataclass(frozen=True)
class Against:
    """What the specs are compared with; nothing by default."""

    captures: tuple[Path, ...]
    broker: str | None
    bundle: Path | None


@click.command()
@click.argument("conf", type=click.Path(path_type=Path), default="conf")
@click.option("--connector", help="Check only this connector and its tables.")
@click.option(
    "--records",
    "captures",
    type=_EXISTING,
    multiple=True,
    help="Capture file, or folder of captures, whose topics are compared with those of the tables; repeatable.",
)
@click.option("--broker", help="Kafka broker, host:port, whose topics are compared with those of the tables.")
@click.option("--bundle", type=_EXISTING, help="Folder of databricks.yml, to check its `cdc.*` settings too.")
@schemas_option
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True)
def check(conf: Path, connector: str | None, deployed: Mapping[str, str], form: str, **against: Any) -> None:
    """Print a conf folder's faults or its tables.

    The exit status is 1 if there are faults; warnings alone leave it at 0.
    """
    beside = Against(**against)
    found = read_conf(conf, connector, [check_sql], deployed, partial(kind_in, beside.captures))
    more = list(_beside_the_specs(found, beside))
    faults = in_reading_order([*found.faults, *(each for each in more if each.severity == "error")])
    warnings = in_reading_order([*found.warnings, *(each for each in more if each.severity == "warning")])
    _print(dataclasses.replace(found, faults=faults, warnings=warnings), conf, form)
    sys.exit(1 if faults else 0)


def _print(found: Conf, conf: Path, form: str) -> None:
    if form == "json":
        click.echo(as_json((*found.faults, *found.warnings), found.tables))
        return
    for diagnostic in (*found.faults, *found.warnings):
        click.echo(as_annotation(diagnostic) if form == "github" else f"{diagnostic}\n")
    if found.faults:
        click.echo(f"{counted(len(found.faults), 'fault')} in {conf}")
    else:
        click.echo(summary(found.tables, found.connectors))


def _beside_the_specs(conf: Conf, against: Against) -> Iterator[Diagnostic]:
    if against.captures:
        try:
            topics = {str(record["topic"]) for record in captured_records(against.captures) if "topic" in record}
        except NotACapture as error:
            raise click.ClickException(str(error)) from error
        yield from topic_faults(conf, topics, f"in {', '.join(map(str, against.captures))}")
    if against.broker:
        yield from topic_faults(conf, _topics_of(against.broker), f"on broker {against.broker}")
    if against.bundle:
        yield from bundle_faults(against.bundle)


def _topics_of(broker: str) -> set[str]:
    """The topics of a Kafka broker."""
    try:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient
    except ImportError as error:
        message = "--broker needs the package confluent-kafka\n  fix: pip install confluent-kafka; or use --records."
        raise click.ClickException(message) from error
    try:
        # The client repeats each failed attempt on stderr; the error at the end says it once.
        client = AdminClient({"bootstrap.servers": broker, "log_level": 0})
        return set(client.list_topics(timeout=_SECONDS).topics)
    except KafkaException as error:
        message = (
            f"broker {broker} does not answer within {_SECONDS} seconds ({error.args[0].str()})\n"
            "  fix: check host and port (the listener must be reachable from here, without a password); or capture "
            "records and use --records."
        )
        raise click.ClickException(message) from error
