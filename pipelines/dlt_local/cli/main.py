"""Command line: `python -m dlt_local run | dry-run | graph | events`."""

import functools
import json
import re
import sys
import tempfile
import traceback as python_traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from pyspark.sql import Row
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from dlt_local.cli.settings import Options, Settings, settings
from dlt_local.cli.shell import interact
from dlt_local.cli.signals import stop_on_signal
from dlt_local.declarations import compatibility as features
from dlt_local.delta import delta_log
from dlt_local.errors import LocalPipelineError
from dlt_local.graph.graph import Graph
from dlt_local.observability.graph_drawing import FORMATS
from dlt_local.observability.progress import Terminal
from dlt_local.spark import jars

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run Delta Live Tables pipelines on this machine.

    What to run is said by --source and --storage, or by a bundle (--bundle; by default the one in the working
    directory). Options go before the bundle.
    """


def _pairs(context: click.Context, option: click.Parameter, said: Sequence[str]) -> dict[str, str]:
    pairs = [each.partition("=") for each in said]
    wrong = next((key for key, equals, _ in pairs if not (key and equals)), None)
    if wrong is not None:
        message = f"`{wrong}` is not of the form key=value"
        raise click.BadParameter(message, context, option)
    return {key: value for key, _, value in pairs}


def _listed(context: click.Context, option: click.Parameter, said: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for each in said for name in each.split(",") if name.strip())


def _seconds(context: click.Context, option: click.Parameter, said: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?)?", said.strip().lower())
    if match is None:
        message = f"`{said}` is no duration; write it as `10 seconds` or `2 minutes`"
        raise click.BadParameter(message, context, option)
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[(match[2] or "s")[0]]


_OPTIONS = (
    click.option(
        "--source", "sources", multiple=True, metavar="GLOB", help="A source file, or `folder/**`; repeatable."
    ),
    click.option("--storage", type=_FOLDER, help="Folder for tables, checkpoints and event log."),
    click.option("--schema", help="Where unqualified dataset names land."),
    click.option("--catalog", help="The catalog's name, which may stand before names."),
    click.option("--root-path", type=_FOLDER, help="Put on sys.path while source files load."),
    click.option("--name", help="The pipeline's name."),
    click.option(
        "--set",
        "configuration",
        multiple=True,
        callback=_pairs,
        metavar="KEY=VALUE",
        help="A value of the pipeline's configuration; repeatable.",
    ),
    click.option("--bundle", type=_FOLDER, help="Take all of this from the databricks.yml in a folder."),
    click.option("--target", help="The bundle's target; its default target by default."),
    click.option("--pipeline", help="The key of the bundle's pipeline, if it has several."),
    click.option(
        "--var",
        "variables",
        multiple=True,
        callback=_pairs,
        metavar="NAME=VALUE",
        help="A value for a variable of the bundle; repeatable.",
    ),
)


def _with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the pipeline's options, as one value, and tell its errors plainly."""

    @click.option("--traceback", is_flag=True, help="With an error, show where in the program it arose.")
    @functools.wraps(function)
    def command(traceback: bool, **said: Any) -> None:
        own = {name: said.pop(name) for name in list(said) if name not in Options.__dataclass_fields__}
        with _told_plainly(traceback):
            function(Options(**said), **own)

    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def _told_plainly(traceback: bool) -> Iterator[None]:
    try:
        yield
    except click.ClickException:
        raise
    except Exception as error:
        if traceback:
            python_traceback.print_exception(error)
        elif isinstance(error, LocalPipelineError):
            click.echo(str(error), err=True)
        else:
            click.echo(f"{type(error).__name__}: {error}\n  --traceback shows where this arose", err=True)
        sys.exit(1)


@main.command()
@_with_options
@click.option("--refresh", multiple=True, callback=_listed, metavar="A,B", help="Only these datasets.")
@click.option("--full-refresh", multiple=True, callback=_listed, metavar="A,B", help="Build these anew.")
@click.option("--full-refresh-all", is_flag=True, help="Build all anew.")
@click.option("--continuous", is_flag=True, help="Go on until Ctrl-C or SIGTERM, which end it at a batch boundary.")
@click.option(
    "--trigger-interval",
    default="5 seconds",
    callback=_seconds,
    show_default=True,
    help="With --continuous: from one look for new rows to the next.",
)
def run(
    options: Options,
    refresh: tuple[str, ...],
    full_refresh: tuple[str, ...],
    full_refresh_all: bool,
    continuous: bool,
    trigger_interval: float,
) -> None:
    """Bring the datasets up to date: one update. The exit status is 0 only if it completes."""
    told = settings(options)
    told.check_secrets()
    if told.continuous and not continuous:
        click.echo("The bundle says `continuous: true`; without --continuous this is one update.")
    pipeline = told.pipeline(told.stored(), Terminal())
    try:
        if continuous:
            # Spark, when it starts, takes Ctrl-C for itself.
            _ = pipeline.spark
            stop = stop_on_signal(lambda text: click.echo(text, err=True))
            pipeline.run_continuously(stop, trigger_interval, refresh, full_refresh, full_refresh_all)
        else:
            pipeline.run(refresh, full_refresh, full_refresh_all)
    finally:
        if (page := pipeline.storage.system / "report" / "index.html").exists():
            click.echo(f"report: {page}")
    click.echo(f"tables: {told.stored() / 'tables'}")


@main.command("dry-run")
@_with_options
def dry_run(options: Options) -> None:
    """Load and check the declarations; run and write nothing."""
    resolved = _resolved(settings(options))
    for notice in resolved.notices:
        click.echo(notice)
    click.echo(f"{len(resolved.nodes)} datasets, no faults")


@main.command()
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@_with_options
def graph(options: Options, form: str) -> None:
    """Print the datasets in order, each with its kind, its inputs and where it is declared."""
    click.echo(FORMATS[form](_resolved(settings(options))), nl=False)


def _resolved(told: Settings) -> Graph:
    with tempfile.TemporaryDirectory(prefix="dlt_local-") as nowhere:
        return told.pipeline(told.storage or Path(nowhere)).dry_run()


@main.command()
@_with_options
def shell(options: Options) -> None:
    """A Python prompt with spark, the pipeline and its tables at hand."""
    told = settings(options)
    told.check_secrets()
    interact(told.pipeline(told.stored(), Terminal()))


@main.command()
@click.option("--all", "every", is_flag=True, help="The events of all updates, not of the last one only.")
@click.option("--json", "as_json", is_flag=True, help="Whole events, as JSON Lines.")
@_with_options
def events(options: Options, every: bool, as_json: bool) -> None:
    """Print the event log of the last update."""
    told = settings(options, needs_sources=False)
    pipeline = told.pipeline(told.stored())
    if not delta_log.exists(pipeline.storage.event_log):
        message = f"no update has run on {told.stored()}"
        raise LocalPipelineError(message)
    found = pipeline.event_log().collect()
    last = next((each.origin.update_id for each in reversed(found)), None)
    shown = [each for each in found if every or each.origin.update_id == last]
    if as_json:
        for event in shown:
            told_event = {**event.asDict(recursive=True), "timestamp": _utc(event).isoformat(timespec="milliseconds")}
            click.echo(json.dumps(told_event))
    else:
        _print_events(shown)


def _print_events(shown: Sequence[Row]) -> None:
    table = Table(box=None, pad_edge=False)
    for header in ("time (UTC)", "level", "event", "dataset", "message"):
        table.add_column(header, overflow="fold")
    for event in shown:
        time = f"{_utc(event):%Y-%m-%d %H:%M:%S}"
        cells = (time, event.level, event.event_type, event.origin.dataset_name or "", event.message)
        table.add_row(*map(escape, cells))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 200
    console.print(table)


def _utc(event: Row) -> datetime:
    # Spark hands timestamps out in this machine's zone, without naming it.
    time: datetime = event.timestamp
    return time.astimezone(UTC)


@main.command()
def compatibility() -> None:
    """Print what of Delta Live Tables runs here, as Markdown."""
    click.echo(features.page(), nl=False)


@main.command("jars")
@click.argument("configuration", default="spark")
def fetch_jars(configuration: str) -> None:
    """Fetch the JVM parts ahead of need; print their folder."""
    with _told_plainly(traceback=False):
        click.echo(jars.jars(configuration)[0].parent)
