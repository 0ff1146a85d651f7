"""Prints events of the event log: as a table, or as JSON Lines."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import click
from pyspark.sql import Row
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def last_update(events: Sequence[Row]) -> list[Row]:
    """The events of the update that recorded the last one."""
    return [event for event in events if event.origin.update_id == events[-1].origin.update_id]


def print_json(events: Sequence[Row]) -> None:
    """Print whole events, one JSON object per line."""
    for event in events:
        timestamp = _utc(event).isoformat(timespec="milliseconds")
        click.echo(json.dumps({**event.asDict(recursive=True), "timestamp": timestamp}))


def print_table(events: Sequence[Row]) -> None:
    """Print time, level, event type, dataset and message."""
    table = Table(box=None, pad_edge=False)
    for header in ("time (UTC)", "level", "event", "dataset", "message"):
        table.add_column(header, overflow="fold")
    for event in events:
        time = f"{_utc(event):%Y-%m-%d %H:%M:%S}"
        cells = (time, event.level, event.event_type, event.origin.dataset_name or "", event.message)
        table.add_row(*map(escape, cells))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def _utc(event: Row) -> datetime:
    # Spark returns timestamps in the local time zone, without an offset.
    timestamp: datetime = event.timestamp
    return timestamp.astimezone(UTC)
