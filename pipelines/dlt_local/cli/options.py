"""Command-line options shared by several commands, and how their values are parsed."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from dlt_local.cli import output
from dlt_local.cli.errors import plain_errors
from dlt_local.cli.settings import Mode, Options
from dlt_local.updates import trigger_intervals
from dlt_local.updates.selection import Selection

Command = Callable[..., None]
_Option = Callable[[Command], Command]

_FOLDER = click.Path(file_okay=False, path_type=Path)


def _pairs(context: click.Context, option: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    malformed = next((key for key, equals, _ in pairs if not (key and equals)), None)
    if malformed is not None:
        message = f"`{malformed}` is not of the form key=value"
        raise click.BadParameter(message, context, option)
    return {key: value for key, _, value in pairs}


def _names(context: click.Context, option: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def seconds(context: click.Context, option: click.Parameter, value: str) -> float:
    """Parse a duration such as `10 seconds`; a bare number is seconds."""
    found = trigger_intervals.seconds(value)
    if found is None:
        message = f"`{value}` is not a duration; write it like `10 seconds` or `2 minutes`"
        raise click.BadParameter(message, context, option)
    return found


_PIPELINE = (
    click.option("--source", "sources", multiple=True, metavar="GLOB", help="Source file or `folder/**`; repeatable."),
    click.option("--storage", type=_FOLDER, help="Folder for tables, checkpoints and event log."),
    click.option("--schema", help="Schema of unqualified dataset names."),
    click.option("--catalog", help="The pipeline's own catalog: a name with another one is outside of it."),
    click.option("--root-path", type=_FOLDER, help="Folder to import from, for source files and their queries."),
    click.option("--name", help="Name of the pipeline."),
    click.option(
        "--set",
        "configuration",
        multiple=True,
        callback=_pairs,
        metavar="KEY=VALUE",
        help="Value of a configuration key of the pipeline; repeatable.",
    ),
    click.option(
        "--map",
        "path_map",
        multiple=True,
        callback=_pairs,
        metavar="PATH=FOLDER",
        help="Local folder for a path of Databricks, such as /Volumes/main/raw=./data; repeatable.",
    ),
    click.option("--bundle", type=_FOLDER, help="Folder with a databricks.yml that provides these settings."),
    click.option(
        "-t",
        "--target",
        help="Target of the bundle; by default the one named `local`, if any, else its default target.",
    ),
    click.option(
        "--spec",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="A spark-pipeline.yml of open-source Spark, or its folder, that provides these settings.",
    ),
    click.option("--pipeline", help="Key of the bundle's pipeline; needed only if it has several."),
    click.option(
        "--var",
        "variables",
        multiple=True,
        callback=_pairs,
        metavar="NAME=VALUE",
        help="Value of a bundle variable; repeatable.",
    ),
)
_SELECTION = (
    click.option("--refresh", multiple=True, callback=_names, metavar="A,B", help="Run only these datasets."),
    click.option(
        "--full-refresh",
        multiple=True,
        callback=_names,
        metavar="A,B",
        help="Delete the rows and state of these datasets and rebuild them.",
    ),
    click.option("--full-refresh-all", is_flag=True, help="Rebuild all datasets."),
    click.option(
        "--rebuild",
        multiple=True,
        callback=_names,
        metavar="A,B",
        help="Build these, what they are made from and what is made from that, beside their stored rows.",
    ),
)
_MODE = (
    click.option("--continuous", is_flag=True, help="Keep running until Ctrl-C or SIGTERM; stops at a batch boundary."),
    click.option(
        "--trigger-interval",
        default="5 seconds",
        callback=seconds,
        show_default=True,
        help="With --continuous: time between checks for new rows.",
    ),
    click.option(
        "--fail-on-rejects",
        type=click.IntRange(min=0),
        is_flag=False,
        flag_value=0,
        metavar="[N]",
        help="Fail if the update adds rejects, or more than N of them; the tables are complete nevertheless.",
    ),
)


def pipeline_options(function: Command) -> Command:
    """Give a command the options that describe a pipeline, as one argument ``options``, and plain error messages."""

    @click.option("--traceback", is_flag=True, help="Show the Python traceback of an error.")
    @functools.wraps(function)
    def command(traceback: bool, **values: Any) -> None:
        if values["spec"] is not None and (values["bundle"] or values["target"] or values["pipeline"]):
            message = "--spec and --bundle describe a pipeline each: give one of them"
            raise click.UsageError(message)
        with plain_errors(traceback):
            function(**_collected(values, Options, "options"))

    return _with_options(command, _PIPELINE)


def mode_options(function: Command) -> Command:
    """Give a command the options of how an update runs, as one argument ``mode``."""
    return _as_one(function, _MODE, Mode, "mode")


def output_options(function: Command) -> Command:
    """Give a command the options of what it prints, as one argument ``output``."""
    return _as_one(function, output.OPTIONS, output.Output, "output")


def selection_options(function: Command) -> Command:
    """Give a command the options that select datasets, as one argument ``selection``."""
    return _as_one(function, _SELECTION, Selection, "selection")


def _as_one(function: Command, options: Sequence[_Option], kind: type[Any], argument: str) -> Command:
    @functools.wraps(function)
    def command(**values: Any) -> None:
        function(**_collected(values, kind, argument))

    return _with_options(command, options)


def _collected(values: dict[str, Any], kind: type[Any], argument: str) -> dict[str, Any]:
    fields = {field.name: values.pop(field.name) for field in dataclasses.fields(kind)}
    return {**values, argument: kind(**fields)}


def _with_options(command: Command, options: Sequence[_Option]) -> Command:
    # click lists the option that is applied last first.
    for option in reversed(options):
        command = option(command)
    return command
