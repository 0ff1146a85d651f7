"""Command line: make the captures of MariaDB and MySQL again."""

import click

from tools.binlog_connector import charsets, descriptions, events, histories, types


@click.group(name="binlog_connector")
def main() -> None:
    """Run Debezium's MariaDB and MySQL connectors over real servers and rewrite captures."""


@main.command("types")
def of_types() -> None:
    """Every column type in every converter mode, by every version."""
    types.write_all()


@main.command("charsets")
def of_charsets() -> None:
    """Texts in every character set, by every version."""
    charsets.write_all()


@main.command("events")
def of_events() -> None:
    """Positions, key changes, DDL, truncates and redelivery, by every version."""
    events.write_all()


@main.command("descriptions")
def of_descriptions() -> None:
    """Every column type as schema-change records describe it."""
    descriptions.write_all()


@main.command("histories")
@click.argument("seeds", nargs=-1, type=int)
def of_histories(seeds: tuple[int, ...]) -> None:
    """Random histories of a table in MariaDB; SEEDS: by default all."""
    histories.write_all(seeds or histories.SEEDS)


if __name__ == "__main__":
    main()
