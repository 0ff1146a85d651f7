"""Local run of a Databricks notebook: its Python cells, on the tables of a storage folder.

python -m demo.notebook [--storage DIR] [--set WIDGET=VALUE] [NOTEBOOK]
"""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import click
from pyspark.sql import SparkSession

from demo import shop
from dlt_local import create_session
from dlt_local.names import TableName
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.external_tables import ExternalTables
from dlt_local.spark.isolation import active, isolated_session

NOTEBOOK = shop.CHECKOUT / "notebooks" / "one_key.py"


@dataclass(frozen=True)
class Widgets:
    """`dbutils.widgets`: values that are given at the start; the others have their defaults."""

    given: Mapping[str, str]
    values: dict[str, str] = field(default_factory=dict)

    def text(self, name: str, default: str, label: str | None = None) -> None:
        """Make a widget for a text."""
        self.values[name] = self.given.get(name, default)

    def dropdown(self, name: str, default: str, choices: Sequence[str], label: str | None = None) -> None:
        """Make a widget for one of some texts."""
        value = self.given.get(name, default)
        if value not in choices:
            message = f"the widget {name} is one of {', '.join(choices)}, not `{value}`"
            raise click.BadParameter(message)
        self.values[name] = value

    def get(self, name: str) -> str:
        """The value of a widget."""
        return self.values[name]


def run(notebook: Path, storage: Path, spark: SparkSession, given: Mapping[str, str] | None = None) -> None:
    """Run a notebook in source format; its `spark` finds the storage's tables by name.

    `%md`, `%sql` and `%pip` cells are comments in source format, so they are skipped. The working directory is the
    notebook's folder meanwhile, as in a workspace.

    Args:
        notebook: the file.
        storage: the storage folder of a pipeline.
        spark: the session to run on.
        given: values of widgets.
    """
    text, widgets = notebook.read_text(encoding="utf-8"), Widgets(given or {})
    if unknown := widgets.given.keys() - set(known := re.findall(r"widgets\.\w+\(\"(\w+)\", \"", text)):
        message = f"{notebook.name} has no widget {', '.join(sorted(unknown))}; it has {', '.join(known) or 'none'}"
        raise click.BadParameter(message)
    with tables_of(storage, spark) as session, chdir(notebook.parent):
        names = {"spark": session, "dbutils": SimpleNamespace(widgets=widgets)}
        exec(compile(text, str(notebook), "exec"), names)


@contextmanager
def tables_of(storage: Path, spark: SparkSession) -> Iterator[SparkSession]:
    """A session, for the duration of a block, that finds the storage's tables by name."""
    with tempfile.TemporaryDirectory() as folder:
        session = isolated_session(spark, {}, Path(folder), SparkSession)
        with active(session):
            catalog = Catalog(session, "default", Path(folder), ExternalTables.of({}, Path(folder)))
            for table in sorted((storage / "tables").glob("*/*")):
                catalog.register_table(TableName(table.parent.name, table.name), table)
            yield session
            catalog.clear()


@click.command(name="notebook")
@click.argument("notebook", default=NOTEBOOK, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--storage",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=shop.STORAGE,
    show_default=".databricks/demo in the checkout",
    help="Storage folder with the tables to read.",
)
@click.option("--set", "widgets", multiple=True, metavar="WIDGET=VALUE", help="Value of a widget; repeatable.")
def main(notebook: Path, storage: Path, widgets: tuple[str, ...]) -> None:
    """Run NOTEBOOK on the tables of an earlier demo."""
    given = {name: value for name, _, value in (each.partition("=") for each in widgets)}
    run(notebook.absolute(), storage.absolute(), create_session(), given)


if __name__ == "__main__":
    main()
