"""What reconciling a batch gives, whichever reconciler did it: one frozen value for every writer."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import END, ROW, START
from dlt_local.names import END_AT, START_AT, quote


@dataclass(frozen=True)
class RowChanges:
    """How the rows of a target change.

    Grain of ``rows``: one row per row of the target that is put or removed.
    Columns: KEY, ACTION, IS_NEW, ROW (null where the row is removed); for SCD type 2 also START and END.
    """

    rows: DataFrame
    inserted: int
    """Puts of rows that the target cannot have."""
    replaced: int
    """Puts of rows that it may have."""
    removed: int
    compared: int = 0
    """Ties with stored rows, of which the greater is to stay; all of them are rows with the action COMPARE."""
    predicate: str | None = "TRUE"
    """SQL over the target, true for exactly those of the changed keys' rows that this replaces; None where no predicate
    says so, and each row must be found by key and START."""

    @property
    def count(self) -> int:
        """How many rows change."""
        return self.inserted + self.replaced + self.removed + self.compared


@dataclass(frozen=True)
class Reconciled:
    """A batch reconciled with what is known of its keys."""

    changes: RowChanges
    facts: DataFrame | None
    """What the auxiliary state must remember; None where that is nothing."""
    metrics: CdcMetrics
    """All but the numbers of rows, which the writer knows."""


def target_columns(args: ChangeArgs, source: str = "") -> dict[str, Column]:
    """The target's columns by name, from a row of `RowChanges.rows`.

    Args:
        args: the flow's.
        source: the alias that the rows have in a join.
    """
    prefix = f"{source}." if source else ""
    columns = {name: F.col(f"{prefix}{ROW}.{quote(name)}") for name in args.columns.names}
    if args.scd_type == 2:
        columns |= {START_AT: F.col(f"{prefix}{START}"), END_AT: F.col(f"{prefix}{END}")}
    return columns
