"""Generation of the tables in docs/types/<kind>.md and docs/rejects.md, from decoder and records."""

from collections.abc import Mapping
from pathlib import Path

import click

from cdc.debezium.rejects import Reason
from tools.type_pages import PAGES

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARK = "<!-- what follows is made by `python -m tools.types_reference` -->\n\n"


def reasons() -> str:
    """One line per reason of a reject."""
    lines = [f"| {reason.name} | {reason.value} |" for reason in Reason]
    return "\n".join(["| reason | when |", "|---|---|", *lines]) + "\n"


def generated() -> Mapping[str, str]:
    """Page below docs/ -> its generated part."""
    return {**{f"types/{kind}.md": page.text() for kind, page in PAGES.items()}, "rejects.md": reasons()}


@click.command(name="types_reference")
def main() -> None:
    """Rewrite the generated parts of docs/types/<kind>.md and docs/rejects.md."""
    for name, text in generated().items():
        page = DOCS / name
        written, mark, _ = page.read_text(encoding="utf-8").partition(MARK)
        page.write_text(written + (mark or MARK) + text, encoding="utf-8")
        click.echo(f"written {name}")


if __name__ == "__main__":
    main()
