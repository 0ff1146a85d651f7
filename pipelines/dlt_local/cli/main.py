"""The commands of `dlt-local`, which is `python -m dlt_local`."""

import click

from dlt_local.cli import event_table
from dlt_local.cli.class_archive_command import write_class_archive
from dlt_local.cli.errors import plain_errors
from dlt_local.cli.init_command import init
from dlt_local.cli.json_output import failures_as_json
from dlt_local.cli.options import output_options, pipeline_options
from dlt_local.cli.output import Output
from dlt_local.cli.run_command import run
from dlt_local.cli.settings import Options, Settings, settings
from dlt_local.cli.shell import interact
from dlt_local.declarations import compatibility as features
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage
from dlt_local.errors import SetupError
from dlt_local.graph.graph import Graph
from dlt_local.observability import event_log, report
from dlt_local.observability.graph_drawing import FORMATS, listed
from dlt_local.observability.progress import Terminal
from dlt_local.observability.redaction import Redactor
from dlt_local.observability.shapes import shapes
from dlt_local.spark import jars
from dlt_local.spark.temporary import temporary_folder
from dlt_local.updates.doctor import findings
from dlt_local.version import version


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version(), prog_name="dlt-local", message="%(prog)s %(version)s")
def main() -> None:
    """Run Delta Live Tables pipelines on this machine.

    A pipeline is described by --source and --storage, or by a bundle (--bundle; by default the one in the working
    directory). Options override the bundle.
    """


main.add_command(run)
main.add_command(init)
main.add_command(write_class_archive)


@main.command("dry-run")
@pipeline_options
@output_options
def dry_run(options: Options, output: Output) -> None:
    """Load and check the declarations; run and write nothing."""
    with failures_as_json(output.is_json) as document:
        chosen = settings(options)
        resolved = _resolved(chosen)
        datasets = shapes(resolved, Redactor(chosen.configuration))
        document |= {"notices": list(resolved.notices), "datasets": listed(datasets)}
        if output.verbose:
            output.say(FORMATS["text"](datasets).rstrip("\n"))
        for notice in resolved.notices:
            output.say(notice)
        output.say(f"{len(datasets)} datasets, no faults")


@main.command()
@click.option("--format", "form", type=click.Choice([*FORMATS, "json"]), default="text", show_default=True)
@click.option("--last", is_flag=True, help="As the last update found it: needs no source files and starts no Spark.")
@pipeline_options
def graph(options: Options, form: str, last: bool) -> None:
    """Print the datasets in dependency order. Text shows name, kind, location of the declaration, and inputs."""
    is_json = form == "json"
    with failures_as_json(is_json) as document:
        chosen = settings(options, needs_sources=not last)
        if not last:
            found = shapes(_resolved(chosen), Redactor(chosen.configuration))
        elif not (found := report.last_shapes(_storage(chosen))):
            raise _no_update(chosen, "so there is no graph of it")
        document["datasets"] = listed(found)
    if not is_json:
        click.echo(FORMATS[form](found), nl=False)


def _resolved(chosen: Settings) -> Graph:
    with temporary_folder() as empty:
        return chosen.pipeline(chosen.storage or empty).dry_run()


def _no_update(chosen: Settings, consequence: str) -> SetupError:
    message = f"no update has run on this storage folder, {consequence}"
    return SetupError("NO_UPDATE", chosen.storage_folder(), message, "correct --storage, or run the pipeline first")


def _storage(chosen: Settings) -> Storage:
    return Storage(chosen.storage_folder().absolute())


@main.command()
@pipeline_options
def shell(options: Options) -> None:
    """Open a Python prompt with the pipeline and its tables."""
    chosen = settings(options)
    chosen.check_secrets()
    interact(chosen.pipeline(chosen.storage_folder(), Terminal()))


@main.command()
@click.option("--all", "all_updates", is_flag=True, help="Events of all updates, not only of the last one.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json: whole events as JSON Lines.")
@pipeline_options
def events(options: Options, all_updates: bool, form: str, as_json: bool) -> None:
    """Print the events of the last update; starts no Spark."""
    chosen = settings(options, needs_sources=False)
    storage = _storage(chosen)
    if not delta_log.exists(storage.event_log):
        raise _no_update(chosen, "so it has no event log")
    recorded = event_log.rows(storage)
    shown = recorded if all_updates else event_table.last_update(recorded)
    if as_json or form == "json":
        event_table.print_json(shown)
    else:
        event_table.print_table(shown)


@main.command()
@pipeline_options
def doctor(options: Options) -> None:
    """Check a storage folder without an update, and print what in it was lost or altered. The exit status is 1 then."""
    found = findings(_storage(settings(options, needs_sources=False)))
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
