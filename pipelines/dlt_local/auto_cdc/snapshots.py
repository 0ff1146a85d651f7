"""Snapshots as changes: how a snapshot differs from the target, at the snapshot's version."""

import base64
import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField

from dlt_local.auto_cdc.alignment import aligned
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.comparison import comparable
from dlt_local.auto_cdc.names import IS_GONE, VERSION
from dlt_local.declarations.elements import AutoCdcFlow, SnapshotCdcFlow
from dlt_local.delta.storage import read_json, write_json
from dlt_local.names import END_AT, quote


def as_auto_cdc(flow: SnapshotCdcFlow) -> AutoCdcFlow:
    """The flow that applies the changes found."""
    return AutoCdcFlow(
        name=flow.name,
        target=flow.target,
        location=flow.location,
        source=flow.source if isinstance(flow.source, str) else f"snapshots of {flow.name}",
        keys=flow.keys,
        sequence_by=quote(VERSION),
        scd_type=flow.scd_type,
        apply_as_deletes=quote(IS_GONE),
        except_column_list=(VERSION, IS_GONE),
        track_history_column_list=flow.track_history_column_list,
        track_history_except_column_list=flow.track_history_except_column_list,
    )


def with_version(snapshot: DataFrame, version: object) -> DataFrame:
    """The snapshot's columns, VERSION and IS_GONE (false)."""
    return snapshot.withColumn(VERSION, literal(version)).withColumn(IS_GONE, F.lit(False))


def literal(version: object) -> Column:
    """A version as a column: an integer is always bigint, whatever its size, so the type never changes."""
    if isinstance(version, int) and not isinstance(version, bool):
        return F.lit(version).cast("bigint")
    return F.lit(version)


def differences(snapshot: DataFrame, target: DataFrame, args: ChangeArgs, version: object) -> DataFrame:
    """How a snapshot differs from the target.

    Grain: one row per key that is new, different, or gone from the snapshot.
    Columns: those of the snapshot, VERSION, IS_GONE.

    Args:
        snapshot: the snapshot's columns.
        target: the target's rows; of SCD type 2 only the open versions count.
        args: the flow.
        version: the snapshot's version.
    """
    current = target.where(F.col(END_AT).isNull()) if args.scd_type == 2 else target
    stored_types = {field.name.lower(): field.dataType for field in target.schema.fields}

    def stored(field: StructField) -> Column:
        return aligned(F.col(f"o.{quote(field.name)}"), stored_types[field.name.lower()], field.dataType)

    def is_same(field: StructField) -> Column:
        new_value = comparable(F.col(f"n.{quote(field.name)}"), field.dataType)
        return new_value.eqNullSafe(comparable(stored(field), field.dataType))

    fields = args.source_columns.fields
    new, old = snapshot.alias("n"), current.alias("o")
    same_key = _all([F.col(f"n.{quote(k)}") == F.col(f"o.{quote(k)}") for k in args.keys])
    changed = with_version(new.join(old, same_key & _all([is_same(field) for field in fields]), "left_anti"), version)
    gone = old.join(new, same_key, "left_anti").select(*[stored(field).alias(field.name) for field in fields])
    return changed.unionByName(gone.withColumn(VERSION, literal(version)).withColumn(IS_GONE, F.lit(True)))


def _all(conditions: list[Column]) -> Column:
    every = F.lit(True)
    for condition in conditions:
        every = every & condition
    return every


class AppliedSnapshots:
    """Which snapshots were applied to a target, kept in a small file beside its state."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "snapshots.json"
        self._stored: dict[str, Any] = read_json(self._file, "count", "version") or {"count": 0, "version": None}

    @property
    def latest(self) -> object:
        """The version applied last, None before the first."""
        return _decode(self._stored["version"])

    @property
    def count(self) -> int:
        """How many snapshots were applied."""
        return int(self._stored["count"])

    def add(self, version: object) -> None:
        """Record a snapshot as applied."""
        self._stored = {"count": self.count + 1, "version": _encode(version)}
        write_json(self._file, self._stored)


def _encode(version: object) -> list[str] | int | float | None:
    match version:
        case None | int() | float():
            return version
        case datetime.datetime():
            return ["datetime", version.isoformat()]
        case datetime.date():
            return ["date", version.isoformat()]
        case Decimal():
            return ["decimal", str(version)]
        case bytes() | bytearray():
            return ["bytes", base64.b64encode(version).decode()]
        case _:
            return ["str", str(version)]


def _decode(stored: Any) -> object:
    if not isinstance(stored, list):
        return stored
    kind, text = stored
    decoders: dict[str, Callable[[str], object]] = {
        "datetime": datetime.datetime.fromisoformat,
        "date": datetime.date.fromisoformat,
        "decimal": Decimal,
        "bytes": base64.b64decode,
        "str": str,
    }
    return decoders[kind](text)
