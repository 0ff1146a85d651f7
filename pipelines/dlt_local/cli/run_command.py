"""The command `dlt-local run`: one update, or updates until it is stopped."""

import click

from dlt_local.cli.json_output import NoticesKept, failures_as_json, update_result
from dlt_local.cli.options import mode_options, output_options, pipeline_options, selection_options
from dlt_local.cli.output import Output
from dlt_local.cli.settings import Mode, Options, settings
from dlt_local.cli.signals import stop_on_signal
from dlt_local.flows.outcomes import Update
from dlt_local.updates.pipeline import LocalPipeline
from dlt_local.updates.selection import Selection


@click.command()
@pipeline_options
@selection_options
@mode_options
@output_options
def run(options: Options, selection: Selection, mode: Mode, output: Output) -> None:
    """Run one update. The exit status is 0 only if it completes."""
    _check_fit(selection, mode)
    with failures_as_json(output.is_json) as document:
        chosen = settings(options)
        chosen.check_secrets()
        if chosen.continuous and not mode.continuous:
            output.say(
                "The bundle sets `continuous: true`, but this is a single update; pass --continuous to keep it running."
            )
        progress = NoticesKept(output.progress())
        document["notices"] = progress.notices
        pipeline = chosen.pipeline(chosen.storage_folder(), progress)
        try:
            document |= update_result(_run(pipeline, selection, mode))
        finally:
            if (page := pipeline.storage.system / "report" / "index.html").exists():
                document["report"] = str(page)
                output.say(f"report: {page}")
        document["tables"] = str(chosen.storage_folder() / "tables")
        output.say(f"tables: {document['tables']}")


def _check_fit(selection: Selection, mode: Mode) -> None:
    if mode.continuous and selection.rebuild:
        message = "--rebuild ends when everything is rebuilt: run it without --continuous first"
        raise click.UsageError(message)
    if mode.continuous and mode.fail_on_rejects is not None:
        message = "--fail-on-rejects is for a single update: leave it out, or leave out --continuous"
        raise click.UsageError(message)


def _run(pipeline: LocalPipeline, selection: Selection, mode: Mode) -> Update:
    if not mode.continuous:
        return pipeline.run(**vars(selection), fail_on_rejects=mode.fail_on_rejects)
    # Starting Spark replaces the Ctrl-C handler, so it has to happen before ours is installed.
    _ = pipeline.spark
    stop = stop_on_signal(lambda text: click.echo(text, err=True))
    return pipeline.run_continuously(
        stop, mode.trigger_interval, selection.refresh, selection.full_refresh, selection.full_refresh_all
    )
