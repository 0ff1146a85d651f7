"""The command line `python -m cdc`, for example `python -m cdc check conf`."""

from importlib import metadata
from pathlib import Path

import click

from cdc.connector_check.command import check_connector
from cdc.interop.command import export_group, import_group
from cdc.plan.command import plan
from cdc.spec.check_command import check
from cdc.spec.commands import reference, schemas
from cdc.spec.scaffold_command import scaffold
from cdc.spec.show_command import show

COMMANDS = (check, check_connector, plan, show, scaffold, export_group, import_group, schemas, reference)


def _version() -> str:
    try:
        return metadata.version("debezium-dlt")
    except metadata.PackageNotFoundError:
        return f"(the checkout in {Path(__file__).parents[2]})"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(_version(), prog_name="cdc", message="%(prog)s %(version)s")
def cdc() -> None:
    """Check and generate the specs of tables made from Debezium change events."""


for command in COMMANDS:
    cdc.add_command(command)


if __name__ == "__main__":
    cdc(prog_name="python -m cdc")
