"""The demo's output, as values for the terminal; no side effects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.markup import escape
from rich.table import Table

from cdc import names
from demo.counts import Counts
from demo.tables import Row


@dataclass(frozen=True)
class Moved:
    """Effect of one update on one source table."""

    counts: Counts
    """Of the records that arrived in the update."""
    upserted: int
    """Versions inserted or changed in silver (changed mostly means ended), as counted by the update."""
    deleted: int
    """Versions removed from silver, likewise; a delete at the source ends a version but removes none."""
    versions: int
    """In gold's history, after the update."""
    rows: int
    """In gold, after the update."""


def accounted(title: str, by_table: Mapping[str, Moved]) -> Table:
    """Outcomes of an update's records, one line per source table: changes, rejects and ignored records."""
    table = _table(title)
    table.add_column("table")
    for header in ("records", "= changes", "+ rejects"):
        table.add_column(header, justify="right")
    table.add_column("+ ignored")
    table.add_column("")
    for name, each in by_table.items():
        table.add_row(name, *_equation(each.counts))
    table.add_row("[bold]all[/]", *_equation(sum((each.counts for each in by_table.values()), Counts())))
    return table


def _equation(counts: Counts) -> tuple[str, ...]:
    ignored = ", ".join(f"{kind}: {n}" for kind, n in sorted(counts.ignored.items()))
    verdict = "[green]holds[/]" if counts.adds_up else "[bold red]DOES NOT HOLD[/]"
    return (*map(_number, (counts.records, counts.changes, counts.rejects)), ignored or "0", verdict)


_OPERATIONS = {names.READ: "reads", names.CREATE: "creates", names.UPDATE: "updates", names.DELETE: "deletes"}


def applied(title: str, by_table: Mapping[str, Moved]) -> Table:
    """An update's changes by operation, their effect on silver's versions, and gold's size afterwards."""
    table = _table(title)
    table.add_column("table", vertical="bottom")
    effects = ("re-\ndelivered", "versions\nupserted", "versions\ndeleted", "versions\nnow", "rows\nnow")
    for header in (*_OPERATIONS.values(), *effects):
        table.add_column(header, justify="right", vertical="bottom")
    for name, each in by_table.items():
        by_operation = [each.counts.operations[op] for op in _OPERATIONS]
        rest = (each.counts.redelivered, each.upserted, each.deleted, each.versions, each.rows)
        table.add_row(name, *map(_number, (*by_operation, *rest)))
    return table


def _number(count: int) -> str:
    return f"{count:,}"


def orders(rows: Iterable[Row]) -> Table:
    """The current orders, with some of their columns."""
    table = _table("gold.orders: the current orders")
    for header in ("order", "customer"):
        table.add_column(header, justify="right")
    table.add_column("status")
    table.add_column("total", justify="right")
    for header in ("placed", "paid (UTC)", "channel"):
        table.add_column(header)
    for row in rows:
        table.add_row(
            str(row["order_id"]),
            str(row["customer_id"]),
            escape(row["status"]),
            f"{row['total']:,}",
            moment(row["placed_at"]),
            moment(row["paid_at"]),
            escape(row["channel"] or ""),
        )
    return table


def history(title: str, versions: Sequence[Row], columns: Sequence[str]) -> Table:
    """The versions of one order, oldest first, with the columns that changed."""
    table = _table(title)
    table.add_column("version", justify="right")
    for header in ("valid from (UTC)", "valid to (UTC)", "status"):
        table.add_column(header, no_wrap=True)
    table.add_column("total", justify="right")
    table.add_column("changed")
    before: Row | None = None
    for version in versions:
        table.add_row(
            str(version[names.VERSION]),
            moment(version[names.VALID_FROM]),
            "still valid" if version[names.IS_CURRENT] else moment(version[names.VALID_TO]),
            escape(version["status"]),
            f"{version['total']:,}",
            "first seen" if before is None else ", ".join(c for c in columns if version[c] != before[c]),
        )
        before = version
    return table


def rejects(rows: Iterable[Row]) -> Table:
    """The records that could not be decoded, with reasons and places in Kafka."""
    table = _table("silver.*_rejects: records that could not be decoded")
    table.add_column("reason", no_wrap=True)
    table.add_column(escape("topic[partition]@offset"), no_wrap=True)
    table.add_column("message", overflow="fold")
    for row in rows:
        place = f"{row['topic']}[{row['partition']}]@{row['offset']}"
        table.add_row(row["reason"], escape(place), escape(row["message"]))
    return table


def whereabouts(storage: str, python: str) -> Iterator[str]:
    """Where the tables are, and commands for a closer look."""
    reader = "from deltalake import DeltaTable as D, QueryBuilder as Q"
    query = f"Q().register('t', D('{storage}/tables/gold/orders')).execute('select * from t')"
    yield f"The Delta tables are in {storage}/tables/<schema>/<table>; any Delta reader can open them:"
    yield f'  {python} -c "{reader}; print({query}.read_all())"'
    yield "What happened to each dataset, from the event log:"
    yield f"  {python} -m dlt_local events --all --storage {storage}"
    yield "A notebook that follows one order from its records to its row:"
    yield f"  {python} -m demo.notebook --storage {storage}"


def moment(time: datetime | None) -> str:
    """A point in time, to the second; empty for None.

    >>> moment(datetime(2026, 3, 2, 8, 12, 3, 117000))
    '2026-03-02 08:12:03'
    """
    return "" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"


def _table(title: str) -> Table:
    return Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
