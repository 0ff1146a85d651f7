"""The commands: `python -m dlt_local run | dry-run | graph | shell | events | doctor | compatibility | jars`."""

import click

from dlt_local.cli import event_table
from dlt_local.cli.errors import plain_errors
from dlt_local.cli.options import pipeline_options, seconds, selection_options
from dlt_local.cli.settings import Options, Settings, settings
from dlt_local.cli.shell import interact
from dlt_local.cli.signals import stop_on_signal
from dlt_local.declarations import compatibility as features
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage
from dlt_local.errors import SetupError
from dlt_local.graph.graph import Graph
from dlt_local.observability.graph_drawing import FORMATS
from dlt_local.observability.progress import Terminal
from dlt_local.spark import jars
from dlt_local.spark.temporary import temporary_folder
from dlt_local.updates.doctor import findings
from dlt_local.updates.selection import Selection


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run Delta Live Tables pipelines on this machine.

    A pipeline is described by --source and --storage, or by a bundle (--bundle; by default the one in the working
    directory). Options override the bundle.
    """


@main.command()
@pipeline_options
@selection_options
@click.option("--continuous", is_flag=True, help="Keep running until Ctrl-C or SIGTERM; stops at a batch boundary.")
@click.option(
    "--trigger-interval",
    default="5 seconds",
    callback=seconds,
    show_default=True,
    help="With --continuous: time between checks for new rows.",
)
@click.option(
    "--fail-on-rejects",
    type=click.IntRange(min=0),
    is_flag=False,
    flag_value=0,
    metavar="[N]",
    help="Fail if the update adds rejects, or more than N of them; the tables are complete nevertheless.",
)
def run(
    options: Options, selection: Selection, continuous: bool, trigger_interval: float, fail_on_rejects: int | None
) -> None:
    """Run one update. The exit status is 0 only if it completes."""
    chosen = settings(options)
    chosen.check_secrets()
    if continuous and selection.rebuild:
        message = "--rebuild ends when everything is rebuilt: run it without --continuous first"
        raise click.UsageError(message)
    if chosen.continuous and not continuous:
        click.echo(
            "The bundle sets `continuous: true`, but this is a single update; pass --continuous to keep it running."
        )
    if continuous and fail_on_rejects is not None:
        message = "--fail-on-rejects is for a single update: leave it out, or leave out --continuous"
        raise click.UsageError(message)
    pipeline = chosen.pipeline(chosen.storage_folder(), Terminal())
    try:
        if continuous:
            # Starting Spark replaces the Ctrl-C handler, so it has to happen before ours is installed.
            _ = pipeline.spark
            stop = stop_on_signal(lambda text: click.echo(text, err=True))
            pipeline.run_continuously(
                stop, trigger_interval, selection.refresh, selection.full_refresh, selection.full_refresh_all
            )
        else:
            pipeline.run(**vars(selection), fail_on_rejects=fail_on_rejects)
    finally:
        if (page := pipeline.storage.system / "report" / "index.html").exists():
            click.echo(f"report: {page}")
    click.echo(f"tables: {chosen.storage_folder() / 'tables'}")


@main.command("dry-run")
@pipeline_options
def dry_run(options: Options) -> None:
    """Load and check the declarations; run and write nothing."""
    resolved = _resolved(settings(options))
    for notice in resolved.notices:
        click.echo(notice)
    click.echo(f"{len(resolved.nodes)} datasets, no faults")


@main.command()
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True)
@pipeline_options
def graph(options: Options, form: str) -> None:
    """Print the datasets in dependency order. Text shows name, kind, location of the declaration, and inputs."""
    click.echo(FORMATS[form](_resolved(settings(options))), nl=False)


def _resolved(chosen: Settings) -> Graph:
    with temporary_folder() as empty:
        return chosen.pipeline(chosen.storage or empty).dry_run()


@main.command()
@pipeline_options
def shell(options: Options) -> None:
    """Open a Python prompt with the pipeline and its tables."""
    chosen = settings(options)
    chosen.check_secrets()
    interact(chosen.pipeline(chosen.storage_folder(), Terminal()))


@main.command()
@click.option("--all", "all_updates", is_flag=True, help="Events of all updates, not only of the last one.")
@click.option("--json", "as_json", is_flag=True, help="Whole events as JSON Lines.")
@pipeline_options
def events(options: Options, all_updates: bool, as_json: bool) -> None:
    """Print the events of the last update."""
    chosen = settings(options, needs_sources=False)
    pipeline = chosen.pipeline(chosen.storage_folder())
    if not delta_log.exists(pipeline.storage.event_log):
        message = "no update has run on this storage folder, so it has no event log"
        fix = "correct --storage, or run the pipeline first"
        raise SetupError("NO_UPDATE", chosen.storage_folder(), message, fix)
    recorded = pipeline.event_log().collect()
    shown = recorded if all_updates else event_table.last_update(recorded)
    if as_json:
        event_table.print_json(shown)
    else:
        event_table.print_table(shown)


@main.command()
@pipeline_options
def doctor(options: Options) -> None:
    """Check a storage folder without an update, and print what in it was lost or altered. The exit status is 1 then."""
    found = findings(Storage(settings(options, needs_sources=False).storage_folder().absolute()))
    for error in found:
        click.echo(f"{error}\n")
    if found:
        click.echo(f"{len(found)} finding{'s' if len(found) > 1 else ''}; nothing was written", err=True)
        raise SystemExit(1)
    click.echo("nothing is lost or altered")


@main.command()
def compatibility() -> None:
    """Print the supported features as Markdown."""
    click.echo(features.page(), nl=False)


@main.command("jars")
@click.argument("configuration", default="spark")
def fetch_jars(configuration: str) -> None:
    """Download the JVM libraries and print their folder."""
    with plain_errors():
        click.echo(jars.jars(configuration)[0].parent)
