"""What a Spark version makes of records: the rows of every frame that `cdc` gives, as JSON texts in a file.

A program of its own, run by each runtime's Python: `python program.py classic|connect <conf> <captures> <out.json>`.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from cdc import (
    ConnectorSpec,
    TableSpec,
    changes,
    changes_of_replays,
    current_rows,
    decode,
    drift,
    drift_records,
    event_kinds,
    findings,
    gaps,
    history,
    load_connectors,
    load_tables,
    names,
    open_rejects,
    read_records,
    rejects,
    sequence,
    with_least_counts,
)
from cdc.reconcile import by_range, sides
from cdc.records import records_of_lines

Frames = Iterator[tuple[str, DataFrame]]
"""Dataset -> its rows."""
STREAMED = "shop"
"""The connector whose tables are decoded as streams, step by step as the pipeline does it, and then in one plan."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    # Compiled, each of the many small queries would take several times as long.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def session(mode: str) -> SparkSession:
    """A session of this process; with `connect` a client's, of a server that the process starts for it."""
    builder = SparkSession.builder
    builder = builder.remote("local[2]") if mode == "connect" else builder.master("local[2]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    assert ("connect" in type(spark).__module__) == (mode == "connect")
    return spark


def of_table(
    spark: SparkSession, table: TableSpec, records: DataFrame, folder: Path
) -> Iterator[tuple[str, DataFrame]]:
    """The datasets of one table."""
    decoded = _streamed(spark, table, folder) if table.connector.name == STREAMED else decode(records, table)
    yield "decoded", decoded
    found, rejected = changes(decoded, table), rejects(decoded, table)
    yield "rejects", rejected
    if table.connector.name != STREAMED:
        return
    yield "changes", found
    yield "changes in one plan", changes(decode(records, table), table)
    yield "least counts", with_least_counts(found, found, table)
    replays = decode(rejected, table)
    yield "replayed", changes_of_replays(replays, table)
    yield "still rejected", open_rejects(rejected, replays)
    differing = drift_records(decoded)
    yield "drift records", differing
    yield "drift", drift({table: differing})
    yield "findings", findings({table: found})
    yield "gaps", gaps({table: records}, 1)
    versions = _versions(found, table)
    yield "history", history(versions, table) if table.history else versions
    yield "rows", current_rows(versions, table)
    rows = current_rows(versions, table)
    yield "ranges", by_range(sides(rows, rows, table))


def of_connector(connector: ConnectorSpec, lines: DataFrame) -> Frames:
    """The datasets of a connector's own topics."""
    for kind in event_kinds(connector):
        events = kind.read(records_of_lines(lines, kind.topic(connector)))
        yield kind.name, events
        for name, view in kind.views.items():
            yield name, view(events)


def rows(frame: DataFrame) -> list[str]:
    """The frame's columns and types, then its rows, sorted: two frames with equal lists are equal."""
    texts = frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("row"))
    return [frame.schema.simpleString(), *sorted(row.row for row in texts.collect())]


def _streamed(spark: SparkSession, table: TableSpec, folder: Path) -> DataFrame:
    """The outcomes of a table's records, written by a stream."""
    target = str(folder / table.name)
    stream = decode(read_records(spark, table), table).writeStream.format("parquet")
    query = stream.option("checkpointLocation", f"{target}.checkpoint").trigger(availableNow=True).start(target)
    query.awaitTermination()
    return spark.read.parquet(target)


def _versions(found: DataFrame, table: TableSpec) -> DataFrame:
    """Versions in the form of AUTO CDC's, so that what reads them can run: each change is valid until the next."""
    of_key = Window.partitionBy(*(F.col(f"`{name}`") for name in table.key)).orderBy(names.START_AT, names.OFFSET)
    begun = found.select("*", sequence(table).alias(names.START_AT))
    return begun.select("*", F.lead(names.START_AT).over(of_key).alias(names.END_AT))


def main(mode: str, conf: str, captures: str, out: str) -> None:
    """Write dataset -> rows of all tables and connectors of a conf folder."""
    spark = session(mode)
    for name, value in {"cdc.conf": conf, "cdc.connector": "", "cdc.source": f"capture:{captures}"}.items():
        spark.conf.set(name, value)
    lines = spark.read.text(captures).select("value", "_metadata.file_path")
    found = {}
    with TemporaryDirectory() as folder:
        for table in load_tables(spark):
            records = records_of_lines(lines, table.topic)
            for name, frame in of_table(spark, table, records, Path(folder)):
                found[f"{table.connector.name} {table.name} {name}"] = rows(frame)
        for connector in load_connectors(spark):
            for name, frame in of_connector(connector, lines):
                found[f"{connector.name} {name}"] = rows(frame)
        Path(out).write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
