"""Prints events of the event log: as a table, or as JSON Lines."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

Event = Mapping[str, Any]
"""An event with the columns of the event log."""


def last_update(events: Sequence[Event]) -> list[Event]:
    """The events of the update that recorded the last one."""
    last = events[-1]["origin"]["update_id"]
    return [event for event in events if event["origin"]["update_id"] == last]


def print_json(events: Sequence[Event]) -> None:
    """Print whole events, one JSON object per line."""
    for event in events:
        click.echo(json.dumps({**event, "timestamp": _utc(event).isoformat(timespec="milliseconds")}))


def print_table(events: Sequence[Event]) -> None:
    """Print time, level, event type, dataset and message."""
    table = Table(box=None, pad_edge=False)
    for header in ("time (UTC)", "level", "event", "dataset", "message"):
        table.add_column(header, overflow="fold")
    for event in events:
        time = f"{_utc(event):%Y-%m-%d %H:%M:%S}"
        cells = (time, event["level"], event["event_type"], event["origin"]["dataset_name"] or "", event["message"])
        table.add_row(*map(escape, cells))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def _utc(event: Event) -> datetime:
    timestamp: datetime = event["timestamp"]
    return timestamp.astimezone(UTC)
