"""The same without Spark: polars reads the records, deltalake merges; what one machine can do without a cluster."""

from pathlib import Path

import polars as pl
from deltalake import DeltaTable, write_deltalake
from tests.benchmarks.recipe import ORDER

_RAW = {
    "bigint": pl.Int64,
    "int": pl.Int32,
    "smallint": pl.Int16,
    "boolean": pl.Boolean,
    "string": pl.String,
}


def upsert_current(records: Path, raw_row: dict[str, str], target: Path) -> None:
    """Merge the current rows of the records into the Delta table at `target`, creating it if necessary.

    Args:
        records: a folder of Parquet files with Kafka's columns.
        raw_row: name and type of each field of a row in JSON; values stay in that form.
        target: the table's folder.
    """
    row = pl.Struct({name: _RAW[type_] for name, type_ in raw_row.items()})
    position = pl.Struct({name[1:]: pl.Int64 if name == ORDER[-1] else pl.String for name in ORDER})
    envelope = pl.Struct({"before": pl.Struct({"id": pl.Int64}), "after": row, "source": position, "op": pl.String})
    text = pl.col("value").cast(pl.String).str.json_decode(envelope)
    parsed = pl.scan_parquet(records / "*.parquet").select(text.alias("e")).unnest("e")
    keyed = parsed.with_columns(
        pl.coalesce(pl.col("after").struct.field("id"), pl.col("before").struct.field("id")).alias("key")
    )
    in_order = keyed.unnest("source").sort([name[1:] for name in ORDER])
    last = in_order.group_by("key", maintain_order=True).last().collect()
    rows = last.select("key", "op", pl.col("after").struct.unnest()).with_columns(pl.col("key").alias("id"))
    if not (target / "_delta_log").exists():
        write_deltalake(str(target), rows.filter(pl.col("op") != "d").drop("key", "op").to_arrow())
        return
    columns = {name: f"s.{name}" for name in raw_row}
    (
        DeltaTable(str(target))
        .merge(rows.to_arrow(), "t.id = s.id", source_alias="s", target_alias="t")
        .when_matched_delete("s.op = 'd'")
        .when_matched_update(columns)
        .when_not_matched_insert(columns, predicate="s.op <> 'd'")
        .execute()
    )
