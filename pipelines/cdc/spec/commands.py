"""Commands of `python -m cdc` that print or copy what specs may contain."""

import shutil
from pathlib import Path

import click

from cdc.spec.reference import reference as reference_text
from cdc.spec.schema import FOLDER

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("conf", type=_FOLDER, default="conf")
def schemas(conf: Path) -> None:
    """Copy the JSON Schemas to a conf folder.

    Editors use them for completion.
    """
    target = conf / "schema"
    target.mkdir(parents=True, exist_ok=True)
    for source in sorted(FOLDER.glob("*.schema.json")):
        shutil.copyfile(source, target / source.name)
        click.echo(f"written {target / source.name}")


@click.command()
def reference() -> None:
    """Print the reference as Markdown.

    It lists all fields, types and faults.
    """
    click.echo(reference_text(), nl=False)
