"""The option `--set cdc.schemas.gold=marts` of the commands that show names."""

from collections.abc import Mapping
from typing import Any

import click

from cdc.spec.deployment import BadSchemaSetting, schemas_from_options


def _read(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Mapping[str, Any]:
    try:
        return schemas_from_options(given)
    except BadSchemaSetting as error:
        raise click.ClickException(str(error)) from error


schemas_option = click.option(
    "--set",
    "deployed",
    multiple=True,
    callback=_read,
    metavar="NAME=VALUE",
    help="A pipeline's setting that decides names, such as cdc.schemas.gold=marts; repeatable.",
)
