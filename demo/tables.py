"""Delta tables read without Spark or the engine, as any Delta reader can."""

from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from deltalake import DeltaTable, QueryBuilder

from dlt_local.delta.storage import Storage
from dlt_local.names import TableName

Row = dict[str, Any]


def folder(storage: Path, dataset: str, private: bool = False) -> Path:
    """The folder of a dataset such as ``gold.orders`` in a storage folder."""
    return Storage(storage).table(TableName(*dataset.split(".")), private)


def query(sql: str, **tables: Path) -> list[Row]:
    """The rows of a query on Delta tables, which are named by the keyword arguments."""
    builder = QueryBuilder()
    for name, folder in tables.items():
        builder = builder.register(name, DeltaTable(str(folder)))
    rows: list[Row] = pa.table(builder.execute(sql).read_all()).to_pylist()
    return rows


def rows(table: Path) -> list[Row]:
    """All rows of a Delta table, in arbitrary order."""
    return query("SELECT * FROM t", t=table)
