"""Print what a deployment of the bundle would create, and the files that it would upload: `make bundle TARGET=prod`.

No workspace is asked. Variables are set as for the Databricks CLI: --var, BUNDLE_VAR_<name>, the target, the default.
"""

import sys
from pathlib import Path

import click
import yaml

from dlt_local.bundle import BundleError, read_bundle
from dlt_local.bundle.deployment import deployment, shipped_files

ROOT = Path(__file__).parents[1]


def rendered(target: str, variables: dict[str, str], deployer: str) -> str:
    """The deployment as YAML: identities, resources, files.

    Raises:
        BundleError: the bundle has faults, or a variable has no value.
    """
    bundle = read_bundle(ROOT, target, variables, deployer)
    return yaml.safe_dump(
        {**deployment(bundle), "files": shipped_files(bundle)}, sort_keys=False, width=120, allow_unicode=True
    )


@click.command()
@click.option("--target", required=True, help="The bundle's target.")
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="Value of a variable; repeatable.")
@click.option("--deployer", default="deployer@example.com", help="User name of whoever deploys.")
def main(target: str, variables: tuple[str, ...], deployer: str) -> None:
    """Print the deployment, or all faults of the bundle."""
    given = {name: value for name, _, value in (each.partition("=") for each in variables)}
    try:
        click.echo(rendered(target, given, deployer), nl=False)
    except BundleError as error:
        click.echo(str(error), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
