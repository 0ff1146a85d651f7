"""docs/connectors.md and docs/connectors/<kind>.md say what the code does, and their examples are sound specs."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.conf_folder import read_conf, write_conf

from cdc.__main__ import cdc
from cdc.connector_check import Config, Level, advice
from cdc.connector_check.kinds import CLASS, RULES
from cdc.spec.kinds import KINDS

DOCS = Path(__file__).parents[2] / "docs"
OVERVIEW = (DOCS / "connectors.md").read_text(encoding="utf-8")
SETTINGS_OF = {kind: "mariadb" if kind == "mysql" else kind for kind in KINDS}
"""Kind -> the page with its settings to choose: MySQL's refers to MariaDB's."""


def page(kind: str) -> str:
    return (DOCS / f"connectors/{kind}.md").read_text(encoding="utf-8")


def rows(text: str, head: str) -> list[list[str]]:
    """The cells of the first table whose head begins with some cells, row by row."""
    table = text[text.index(f"| {head} |") :].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" |")] for line in table]


def quoted(cell: str) -> list[str]:
    """What a cell has in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def by_kind(head: str) -> Mapping[str, list[str]]:
    """A table of the overview: kind -> what the second cell of its row has in backticks."""
    return {kind: quoted(row[1]) for row in rows(OVERVIEW, head) for kind in quoted(row[0])}


def test_the_overview_links_every_page() -> None:
    assert {row[0].strip("`"): re.findall(r"\((.*)\)", row[1]) for row in rows(OVERVIEW, "kind | database")} == {
        kind: [f"connectors/{kind}.md"] for kind in KINDS
    }
    assert {file.stem for file in (DOCS / "connectors").iterdir()} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pages_examples_pass_check(kind: str, tmp_path: Path) -> None:
    examples = dict(re.findall(r"```yaml\n# conf/(\S+)\n(.*?)```", page(kind), re.DOTALL))
    checked = CliRunner().invoke(cdc, ["check", str(write_conf(tmp_path, examples))], catch_exceptions=False)
    assert (checked.exit_code, "no faults\n" in checked.output) == (0, True), checked.output
    conf = read_conf(tmp_path)
    assert [connector.kind for connector in conf.connectors] == [kind]
    assert len(conf.tables) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_with_the_settings_to_choose_nothing_is_lost(kind: str) -> None:
    of_page = rows(page(SETTINGS_OF[kind]).partition("## Settings to choose")[2], "setting | value")
    chosen = [(quoted(setting)[0], value) for setting, values, *_ in of_page for value in quoted(values)]
    assert len(chosen) >= 4
    for setting, value in chosen:
        config = Config({CLASS: KINDS[kind].connector_class, "topic.prefix": "shopserver", setting: value})
        found = [each.level for each in advice(config) if each.setting == setting]
        assert Level.LOST not in found, f"{setting}={value}"


def test_the_table_of_orders_is_the_kinds() -> None:
    assert by_kind("kind | values") == {name: [*kind.modes["within_transaction"]] for name, kind in KINDS.items()}


def test_the_table_of_added_fields_is_the_checks() -> None:
    stated = {kind: fields.split(",") for kind, (fields,) in by_kind("kind | `add.fields`").items()}
    flattened = set(KINDS) - {"mongodb"}
    assert stated == {kind: ["op", *RULES[kind].position] for kind in flattened}
