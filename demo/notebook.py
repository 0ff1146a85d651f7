"""Local run of a Databricks notebook: its Python cells, on the tables of a storage folder.

python -m demo.notebook [--storage DIR] [NOTEBOOK]
"""

import tempfile
from pathlib import Path

import click
from pyspark.sql import SparkSession

from demo import shop
from dlt_local import create_session
from dlt_local.names import TableName
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.isolation import active, isolated_session

NOTEBOOK = shop.CHECKOUT / "notebooks" / "one_order.py"


def run(notebook: Path, storage: Path, spark: SparkSession) -> None:
    """Run a notebook in source format; its `spark` finds the storage's tables by name.

    `%md` and `%sql` cells are comments in source format, so they are skipped.
    """
    with tempfile.TemporaryDirectory() as folder:
        session = isolated_session(spark, {}, Path(folder))
        with active(session):
            catalog = Catalog(session, "default", Path(folder))
            for table in sorted((storage / "tables").glob("*/*")):
                catalog.register_table(TableName(table.parent.name, table.name), table)
            exec(compile(notebook.read_text(encoding="utf-8"), str(notebook), "exec"), {"spark": session})
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
def main(notebook: Path, storage: Path) -> None:
    """Run NOTEBOOK on the tables of an earlier demo."""
    run(notebook, storage.absolute(), create_session())


if __name__ == "__main__":
    main()
