"""Command line: play the scenario to the connectors and rewrite demo/kinds/*/captures."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import click

from tools import captures
from tools.captures import Record
from tools.damage import CUT_JSON, EMPTY_OBJECT, NULL_SOURCE_TIME, UNKNOWN_OP, damaged, wrong_value
from tools.small_shops import binlog, db2, mongodb, postgresql
from tools.small_shops.database import Database
from tools.small_shops.scenario import DEMO, operations, steps

_SHOPS: Mapping[str, Callable[[Path], AbstractContextManager[Database]]] = {
    "postgresql": postgresql.opened,
    "mariadb": binlog.MARIADB_SHOP,
    "mysql": binlog.MYSQL_SHOP,
    "mongodb": mongodb.opened,
    "db2": db2.opened,
}
_DAMAGED_SECTION = "4-damaged"
_QUIET_SECONDS = 2.0


def play(database: Database) -> dict[str, list[Record]]:
    """Play the scenario; returns the records of each section."""
    connector, sections, taken = database.connector, dict[str, list[Record]](), 0
    section = ""
    for step in steps():
        if "transaction" in step:
            database.transact(operations(step))
            continue
        if "start" not in step and section:
            connector.wait(quiet=_QUIET_SECONDS)
        for name, value in step.items():
            match name:
                case "section" | "stop":
                    if section:
                        sections[section] = connector.records()[taken:]
                        taken = len(connector.records())
                    section = value
                case "add":
                    database.add_column(*value)
                case "start":
                    database.start()
                    connector.wait(records=1)
                case "flush":
                    connector.flush()
                case "kill":
                    connector.kill()
                    connector.start()
    connector.stop()
    return sections


def make(kind: str) -> dict[Path, int]:
    """Make a kind's captures again.

    Returns:
        Number of records in each.
    """
    with tempfile.TemporaryDirectory() as folder, _SHOPS[kind](Path(folder)) as database:
        sections = play(database)
    updates = sections[_DAMAGED_SECTION]
    total = "TOTAL" if kind == "db2" else "total"
    damages = (CUT_JSON, wrong_value(total, "12.50 EUR"), NULL_SOURCE_TIME, UNKNOWN_OP, EMPTY_OBJECT)
    sections[_DAMAGED_SECTION] = list(damaged(updates, {updates[0].topic: damages}))
    written = {DEMO / "kinds" / kind / "captures" / f"{name}.jsonl": each for name, each in sections.items()}
    for capture, records in written.items():
        captures.write(capture, records)
    return {capture: len(records) for capture, records in written.items()}


@click.command(name="small_shops")
@click.argument("kinds", nargs=-1, type=click.Choice(list(_SHOPS)))
def main(kinds: tuple[str, ...]) -> None:
    """Play the scenario to the connectors of these KINDS, by default all, and rewrite their captures."""
    for kind in kinds or _SHOPS:
        for capture, count in make(kind).items():
            click.echo(f"{count:4} records -> {capture.relative_to(DEMO)}")


if __name__ == "__main__":
    main()
