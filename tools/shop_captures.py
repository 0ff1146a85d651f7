"""Generation of the demo's captures: the real connector on demo/scenario/shop.json.

The same scenario always gives the same bytes, so ``git diff demo/captures`` shows the effect of a change to it.
"""

from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

import click

from tools import captures
from tools.damage import (
    BROKEN_JSON,
    CUT_JSON,
    EMPTY_OBJECT,
    NO_RECORD_KEY,
    NOT_UTF8,
    NULL_COMMIT_LSN,
    UNKNOWN_OP,
    damaged,
    no_key_anywhere,
    wrong_value,
)
from tools.sqlserver_connector import emitted, placed, repeatable

_DEMO = Path(__file__).resolve().parents[1] / "demo"
SCENARIO = _DEMO / "scenario" / "shop.json"
CAPTURES = _DEMO / "captures"

DAMAGED_SECTION = "4-damaged"
DAMAGES = {
    "shopserver.shop.dbo.orders": (
        BROKEN_JSON,
        CUT_JSON,
        wrong_value("customer_id", "forty-two"),
        no_key_anywhere("order_id"),
        NULL_COMMIT_LSN,
        UNKNOWN_OP,
        EMPTY_OBJECT,
        wrong_value("total", "12.50 EUR"),
        NOT_UTF8,
    ),
    "shopserver.shop.dbo.customers": (
        wrong_value("birth_date", "1985-12-11"),
        no_key_anywhere("customer_id"),
        NULL_COMMIT_LSN,
        wrong_value("is_business", "maybe"),
        NO_RECORD_KEY,
    ),
}


def make(out: Path) -> dict[Path, int]:
    """Play the shop's scenario to the connector and write one capture per section.

    Returns:
        Number of records in each capture.
    """
    began = datetime.now(UTC)
    history = emitted(SCENARIO)
    records = zip(placed(repeatable(history, began, datetime.now(UTC))), history, strict=True)
    written = {}
    for section, group in groupby(records, key=lambda pair: pair[1].section):
        section_records = [record for record, _ in group]
        if section == DAMAGED_SECTION:
            section_records = list(damaged(section_records, DAMAGES))
        capture = out / f"{section}.jsonl"
        captures.write(capture, section_records)
        written[capture] = len(section_records)
    return written


@click.command(name="shop_captures")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=CAPTURES, show_default=True)
def main(out: Path) -> None:
    """Play the shop's scenario to the connector and write one capture per section."""
    for capture, count in make(out).items():
        click.echo(f"{count:4} records -> {capture}")


if __name__ == "__main__":
    main()
