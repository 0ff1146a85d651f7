"""The command `python -m cdc check-connector`."""

import sys
from collections import Counter
from pathlib import Path

import click

from cdc.connector_check import Config, Level, UnreadableConfig, advice, fitting_spec


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check_connector(file: Path) -> None:
    """Print advice on a connector, and its spec.

    FILE is the connector's configuration in JSON, as in Kafka Connect's REST API. The advice states what a pipeline
    can and cannot guarantee with it; secrets are never shown. The exit status is 1 if data of the source cannot reach
    the tables.
    """
    try:
        config = Config.read(file)
    except UnreadableConfig as error:
        raise click.ClickException(str(error)) from error
    found = advice(config)
    for each in found:
        click.echo(f"{each}\n")
    counts = Counter(each.level for each in found)
    click.echo("\n".join(f"{counts[level]:>3} {level.name:<5} {level.value}" for level in Level))
    click.echo(f"\n# conf/connectors/<connector>.yml\n{fitting_spec(config)}", nl=False)
    sys.exit(1 if counts[Level.LOST] else 0)
