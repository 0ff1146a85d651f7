"""The demo's command line and all of its side effects."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console
from tools.captures import read
from tools.kafka_broker import BrokerFailed
from tools.produce_captures import NotProduced

from cdc import TableSpec, names
from demo import report, shop
from demo.counts import Counts, counts, size
from demo.feeds import Feed, Landing, kafka
from demo.report import Moved
from demo.tables import Row, folder, query
from dlt_local import LocalPipeline, LocalPipelineError, Update
from dlt_local.auto_cdc.handler import CdcMetrics
from dlt_local.delta.storage import Storage
from dlt_local.observability.progress import Terminal
from dlt_local.spark.session import without_optimizing_compiler

_WIDTH = 100
"""Width of the output in columns if it is not a terminal."""
_PARTS = {"landing", "system", "tables"}
"""Everything that a demo leaves in its storage folder."""
_ORDER = 1007


@dataclass(frozen=True)
class Stage:
    """What a run of the demo works with."""

    console: Console
    shop: shop.Shop
    storage: Path
    feed: Feed
    pipeline: LocalPipeline
    tables: Sequence[TableSpec]


@click.command(name="demo")
@click.option(
    "--connector",
    "kind",
    type=click.Choice(list(shop.SHOPS)),
    default=shop.SQLSERVER,
    show_default=True,
    help="The kind of connector that wrote the records.",
)
@click.option("--kafka", "by_kafka", is_flag=True, help="Start an Apache Kafka broker and send all records through it.")
@click.option(
    "--storage",
    type=click.Path(file_okay=False, path_type=Path),
    show_default=".databricks/demo in the checkout, .databricks/demo-<kind> of other kinds than sqlserver",
    help="Folder for the tables and everything else; emptied at the start.",
)
@click.option("--keep", is_flag=True, help="Do not empty the folder; continue with what an earlier demo left.")
def main(kind: str, by_kafka: bool, storage: Path | None, keep: bool) -> None:
    """Turn a shop's records into tables, in three updates.

    The exit status is 0 only if all updates complete and every record is accounted for.
    """
    if by_kafka and keep:
        message = "--keep and --kafka do not go together: the broker starts empty each time, so the tables must too"
        raise click.UsageError(message)
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH
    with _errors_without_traceback(console):
        chosen = shop.SHOPS[kind]
        if not _play(console, chosen, (storage or chosen.storage).absolute(), by_kafka, keep):
            sys.exit(1)


@contextmanager
def _errors_without_traceback(console: Console) -> Iterator[None]:
    try:
        yield
    except (LocalPipelineError, BrokerFailed, NotProduced) as error:
        console.file.flush()
        Console(stderr=True, highlight=False, soft_wrap=True).print(str(error), style="red", markup=False)
        sys.exit(1)


def _play(console: Console, chosen: shop.Shop, storage: Path, by_kafka: bool, keep: bool) -> bool:
    """Run the whole demo; False if a record is not accounted for."""
    _prepare(storage, keep)
    tables = shop.tables(chosen.conf)
    console.print("Starting Spark" + (" and Apache Kafka" if by_kafka else "") + " ...")
    opened: AbstractContextManager[Feed] = kafka() if by_kafka else nullcontext(Landing(storage / "landing"))
    without_optimizing_compiler()
    with opened as feed:
        pipeline = shop.pipeline(storage, feed.source, progress=Terminal(), conf=chosen.conf)
        stage = Stage(console, chosen, storage, feed, pipeline, tables)
        balanced = [_play_round(stage, number, each) for number, each in enumerate(chosen.rounds, start=1)]
    _show_tables(stage)
    if not all(balanced):
        console.print("\n[bold red]Records are missing: see DOES NOT HOLD above.[/]")
    return all(balanced)


def _prepare(storage: Path, keep: bool) -> None:
    """Empty the storage folder, unless it is to be kept.

    Raises:
        LocalPipelineError: an update is running on it, or it contains something that is not from a demo.
    """
    if keep or not storage.exists():
        return
    if foreign := sorted(entry.name for entry in storage.iterdir() if entry.name not in _PARTS):
        message = f"{storage} is not emptied: it contains {foreign[0]}, which is not from a demo"
        raise LocalPipelineError(f"{message}\n  fix: choose an empty or new folder for --storage")
    with Storage(storage).locked():
        for part in _PARTS:
            shutil.rmtree(storage / part, ignore_errors=True)


def _play_round(stage: Stage, number: int, each: shop.Round) -> bool:
    console = stage.console
    console.print()
    console.rule(f"update {number} of {len(stage.shop.rounds)}", align="left", style="cyan")
    console.print(f"{each.story}.")
    for capture in each.captures:
        console.print(_arrival(capture, stage.tables))
    stage.feed.deliver(each.captures)
    before = counts(stage.storage, stage.tables)
    update = stage.pipeline.run()
    moved = _moved(stage, before, update)
    console.print(report.accounted(f"update {number}: outcome of its records", moved))
    console.print(report.applied(f"update {number}: its changes and their effect", moved))
    return all(each.counts.adds_up for each in moved.values())


def _arrival(capture: Path, tables: Sequence[TableSpec]) -> str:
    topics = [record.topic for record in read(capture)]
    table_topics = {table.topic for table in tables}
    others = sum(topic not in table_topics for topic in topics)
    arrived = f"  {capture.name}: {len(topics)} records"
    return f"{arrived}, {others} of them schema changes and signals in other topics" if others else arrived


def _moved(stage: Stage, before: dict[str, Counts], update: Update) -> dict[str, Moved]:
    after = counts(stage.storage, stage.tables)
    return {
        table.name: Moved(
            counts=after[table.name].since(before[table.name]),
            upserted=sum(cdc.num_upserted_rows for cdc in _applied(update, table)),
            deleted=sum(cdc.num_deleted_rows for cdc in _applied(update, table)),
            versions=size(stage.storage, names.history_dataset(table)),
            rows=size(stage.storage, names.rows_dataset(table)),
        )
        for table in stage.tables
    }


def _applied(update: Update, table: TableSpec) -> list[CdcMetrics]:
    flows = update[names.versions_dataset(table)].flows.values()
    return [flow.cdc for flow in flows if flow.cdc is not None]


def _show_tables(stage: Stage) -> None:
    console = stage.console
    console.print()
    console.rule("contents of the tables", align="left", style="cyan")
    console.print(report.orders(query("SELECT * FROM o ORDER BY order_id", o=folder(stage.storage, "gold.orders"))))
    title = f"gold.orders_history: order {_ORDER} from first to last version"
    console.print(report.history(title, _versions(stage.storage), _columns(stage.tables)))
    console.print(report.rejects(_rejects(stage)))
    console.print()
    # Paths and commands are there to be copied: never wrap their lines.
    for line in report.whereabouts(_from_here(stage.storage), _from_here(Path(sys.executable))):
        console.print(line, soft_wrap=True, markup=False)


def _from_here(path: Path) -> str:
    """A path relative to the working directory, if it is inside."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _versions(storage: Path) -> list[Row]:
    sql = f"SELECT * FROM h WHERE order_id = {_ORDER} ORDER BY {names.VERSION}"
    return query(sql, h=folder(storage, "gold.orders_history"))


def _columns(tables: Sequence[TableSpec]) -> tuple[str, ...]:
    return next(names.target_columns(table) for table in tables if table.name == "orders")


def _rejects(stage: Stage) -> list[Row]:
    sql = 'SELECT * FROM r ORDER BY topic, "partition", "offset"'
    found = (query(sql, r=folder(stage.storage, names.rejects_dataset(table))) for table in stage.tables)
    return [row for rows in found for row in rows]


if __name__ == "__main__":
    main()
