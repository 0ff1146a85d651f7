"""The command `dlt-local init`: a small project of one's own, with a bundle, two sources and a test that passes."""

import re
import shutil
from pathlib import Path

import click

_PROJECT = Path(__file__).with_name("new_project")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SUFFIX = ".template"
"""The files are no sources of this package: linters, type checkers and test runners leave this suffix alone."""


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def init(folder: Path) -> None:
    """Make a small project in FOLDER, whose last part is its name: a bundle, two sources, a test."""
    name = folder.absolute().name
    if not _NAME.fullmatch(name):
        message = f"`{name}` cannot name a pipeline and a schema: use letters, digits and _, and begin with a letter"
        raise click.UsageError(message)
    if folder.exists() and any(folder.iterdir()):
        message = f"{folder} is not empty: choose another name, or an empty folder"
        raise click.UsageError(message)
    for file in write_project(folder, name):
        click.echo(f"  {file}")
    click.echo(f"\n{name} is ready:\n\n  cd {folder}\n  pytest\n  dlt-local run\n")


def write_project(folder: Path, name: str) -> list[Path]:
    """Write the files of a new project; returns their paths, relative to its folder."""
    written = []
    for template in sorted(each for each in _PROJECT.rglob(f"*{_SUFFIX}")):
        path = template.relative_to(_PROJECT)
        # pip leaves out files whose names begin with a dot.
        file = path.with_name(path.name.removesuffix(_SUFFIX).replace("dot-", "."))
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(template, folder / file)
        text = (folder / file).read_text(encoding="utf-8")
        (folder / file).write_text(text.replace("{name}", name), encoding="utf-8")
        written.append(file)
    return sorted(written)
