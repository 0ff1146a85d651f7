"""Shows errors as plain messages, with exit status 1."""

import sys
import traceback as python_traceback
from collections.abc import Iterator
from contextlib import contextmanager

import click

from dlt_local.errors import LocalPipelineError


@contextmanager
def plain_errors(traceback: bool = False) -> Iterator[None]:
    """Print the error of a block to stderr and exit; with ``traceback`` also show where it was raised."""
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
            click.echo(f"{type(error).__name__}: {error}\n  --traceback shows where it was raised", err=True)
        sys.exit(1)
