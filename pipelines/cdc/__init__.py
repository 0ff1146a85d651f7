"""Change data capture: Debezium's records become changes, versions and rows, as the table specs say.

Everything here is Column -> Column or DataFrame -> DataFrame: it runs on Databricks, on open-source Spark and
under Spark Connect, and knows nothing of pipelines.
"""

from cdc.debezium.decode import changes, decode, rejects
from cdc.debezium.positions import sequence
from cdc.errors import SpecError
from cdc.gold import current_rows, history
from cdc.records import read_records
from cdc.spec.load import load_tables
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec

__all__ = [
    "ColumnSpec",
    "ConnectorSpec",
    "SpecError",
    "TableSpec",
    "changes",
    "current_rows",
    "decode",
    "history",
    "load_tables",
    "read_records",
    "rejects",
    "sequence",
]
