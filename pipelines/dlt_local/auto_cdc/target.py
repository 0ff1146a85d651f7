"""The target's Delta table as AUTO CDC sees it: its rows, and what decides how they are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType

from dlt_local.auto_cdc import key_list
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.strategies import TargetStatistics
from dlt_local.delta import delta_log, plain_files
from dlt_local.delta.tables import CHANGE_FEED


@dataclass(frozen=True)
class Target:
    """The target of one flow."""

    path: Path
    args: ChangeArgs

    def read(self, session: SparkSession) -> DataFrame:
        """Its rows."""
        return plain_files.read(session, self.path)

    @property
    def key_types(self) -> Mapping[str, DataType]:
        """The key columns' types, in the key's order."""
        types = {field.name.lower(): field.dataType for field in self.args.columns.fields}
        return {key: types[key.lower()] for key in self.args.keys}

    def statistics(self) -> TargetStatistics:
        """What its log says, without a Spark job."""
        schema = delta_log.schema(self.path)
        return TargetStatistics(
            rows=delta_log.row_count(self.path),
            size_in_bytes=delta_log.size_in_bytes(self.path),
            has_same_columns=schema is not None and set(schema.names) == set(self.args.target_schema.names),
            has_change_feed=delta_log.is_marked(self.path, CHANGE_FEED),
            has_listable_keys=key_list.key_sql(self.key_types) is not None,
        )
