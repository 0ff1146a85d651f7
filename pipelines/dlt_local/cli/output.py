"""What a command prints: --quiet, --verbose and --format."""

import sys
from dataclasses import dataclass

import click

from dlt_local.observability.progress import Progress, Silent, Terminal


@dataclass(frozen=True)
class Output:
    """The options that decide what is printed."""

    quiet: bool = False
    verbose: bool = False
    form: str = "text"
    """`text` or `json`."""

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            message = "--quiet and --verbose exclude each other"
            raise click.UsageError(message)

    @property
    def is_json(self) -> bool:
        """True if standard output is for a program."""
        return self.form == "json"

    def progress(self) -> Progress:
        """What follows an update; with JSON on standard output it prints to standard error."""
        return Silent() if self.quiet else Terminal(sys.stderr if self.is_json else None, steps=self.verbose)

    def say(self, text: str) -> None:
        """Print a line for a person."""
        if not self.quiet and not self.is_json:
            click.echo(text)


OPTIONS = (
    click.option("-q", "--quiet", is_flag=True, help="Print errors only."),
    click.option("-v", "--verbose", is_flag=True, help="Print every step."),
    click.option(
        "--format",
        "form",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="With json, standard output has one JSON object; all else goes to standard error.",
    ),
)
