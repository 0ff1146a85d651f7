"""Command line: play a scenario to the connector and capture the records that it emits."""

from datetime import UTC, datetime
from pathlib import Path

import click

from tools import captures
from tools.debezium_connector.classes import NotCompiled
from tools.debezium_connector.placing import placed
from tools.debezium_connector.repeatable import repeatable
from tools.sqlserver_connector.connector import VERSIONS, ConnectorFailed, Version, emitted


@click.command(name="sqlserver_connector")
@click.argument("scenario", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("properties", nargs=-1, metavar="[PROPERTY=VALUE]...")
@click.option("--with-schema", is_flag=True, help="Write values as {schema, payload}, Connect's default.")
@click.option("--connector-version", "version", type=click.Choice(VERSIONS), default=VERSIONS[0], show_default=True)
@click.option("--topic", "topics", multiple=True, help="Only the records of this topic; repeatable.")
def main(
    scenario: Path,
    out: Path,
    properties: tuple[str, ...],
    with_schema: bool,
    version: Version,
    topics: tuple[str, ...],
) -> None:
    """Play SCENARIO to Debezium's SQL Server connector and write the records that it emits to the capture OUT.

    PROPERTY=VALUE sets a property of the connector, converter.PROPERTY=VALUE one of Connect's JsonConverter.
    """
    settings = dict(_split(text) for text in properties)
    if with_schema:
        settings["converter.schemas.enable"] = "true"
    began = datetime.now(UTC)
    try:
        records = emitted(scenario, version=version, properties=settings)
    except (ConnectorFailed, NotCompiled) as failure:
        raise click.ClickException(str(failure)) from failure
    settled = placed(repeatable(records, began, datetime.now(UTC)))
    kept = [record for record in settled if not topics or record.topic in topics]
    captures.write(out, kept)
    click.echo(f"{len(kept)} records in {len({record.topic for record in kept})} topics -> {out}")


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        message = f"{text!r} is not PROPERTY=VALUE"
        raise click.BadArgumentUsage(message)
    return name, value


if __name__ == "__main__":
    main()
