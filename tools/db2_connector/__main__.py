"""Makes the captures of the Db2 connector again: ``python -m tools.db2_connector``."""

import click

from tools.db2_connector.captures import write_history, write_types
from tools.db2_connector.connector import CONFIGURATIONS, SOURCES, VERSIONS
from tools.debezium_connector import worker


@click.command(name="db2_connector")
@click.option("--seeds", default=20, show_default=True, help="Number of random histories.")
@click.option("--types/--no-types", default=True, show_default=True)
def main(seeds: int, types: bool) -> None:
    """Rewrite tests/decoding/captures/db2 and tests/decoding/histories/db2 (takes some minutes)."""
    for version in VERSIONS if types else ():
        for with_schema in (False, True):
            write_types(version, with_schema=with_schema)
            click.echo(f"types of {version}{' with schema' if with_schema else ''}")
    with worker(CONFIGURATIONS["3.6.1.Final"], sources=SOURCES) as jvm:
        for seed in range(seeds):
            write_history(jvm, seed)
            click.echo(f"history {seed}")


if __name__ == "__main__":
    main()
