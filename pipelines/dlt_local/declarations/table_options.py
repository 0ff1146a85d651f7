"""The optional arguments of a table's declaration as one value, and the `Table` they make."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql.types import StructType

from dlt_local.declarations.access_control import check_enforced, without_masks
from dlt_local.declarations.elements import Expectation, Table, TableKind
from dlt_local.declarations.registry import caller, current
from dlt_local.declarations.row_definition import check_definition
from dlt_local.errors import DeclarationError
from dlt_local.names import TableName

Schema = StructType | str | None
Properties = Mapping[str, str] | None
ColumnNames = Sequence[str] | None


@dataclass(frozen=True)
class TableOptions:
    """The arguments that `table`, `materialized_view` and `create_streaming_table` share, as the user gave them."""

    private: bool = False
    comment: str | None = None
    spark_conf: Properties = None
    table_properties: Properties = None
    partition_cols: ColumnNames = None
    cluster_by: ColumnNames = None
    schema: Schema = None
    format: str | None = None
    path: str | None = None
    cluster_by_auto: bool = False
    row_filter: str | None = None
    refresh_policy: str | None = None

    def table(self, name: TableName, kind: TableKind | None, expectations: tuple[Expectation, ...]) -> Table:
        """The table these options describe; a notice is recorded for each argument that has no effect here.

        Raises:
            DeclarationError: the format is not Delta, the row definition cannot be read, or nothing would enforce a row
                filter or a mask.
        """
        if self.format is not None and self.format.lower() != "delta":
            message = f"{name}: tables are Delta tables, but `format` is {self.format!r}"
            raise DeclarationError("FORMAT_NOT_SUPPORTED", message, caller(), "leave `format` out")
        properties = self.table_properties or {}
        check_definition(name, properties, caller())
        schema, masked = without_masks(self.schema) if isinstance(self.schema, str) else (self.schema, [])
        check_enforced(name, self.row_filter, masked, caller())
        for argument in (*self._without_effect(), *properties):
            current().notice_no_effect(argument)
        return Table(
            name=name,
            location=caller(),
            kind=kind,
            private=self.private,
            comment=self.comment,
            schema=schema,
            table_properties={key: str(value) for key, value in properties.items()},
            partition_cols=_names(self.partition_cols),
            cluster_by=_names(self.cluster_by),
            spark_conf=dict(self.spark_conf or {}),
            expectations=expectations,
        )

    def _without_effect(self) -> list[str]:
        given = {
            "path": self.path,
            "cluster_by_auto": self.cluster_by_auto,
            "refresh_policy": self.refresh_policy,
        }
        return [argument for argument, value in given.items() if value]


def _names(columns: ColumnNames) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns or ())
