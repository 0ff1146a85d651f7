"""Bronze of many tables, each from a folder in place of its topic; silver and gold are the shipped files."""

from pathlib import Path

from pyspark import pipelines as dp
from tests.benchmarks.records import COLUMNS

from cdc import TableSpec, load_tables
from cdc.names import records_dataset

folder = Path(spark.conf.get("bench.input"))


def declare(table: TableSpec) -> None:
    """Declare bronze.<table>."""

    @dp.table(name=records_dataset(table))
    def delivered():
        return spark.readStream.schema(COLUMNS).parquet(str(folder / table.name))


for table in load_tables(spark):
    declare(table)
