"""Spark's file source under Auto Loader: the frame of a read, as a stream and as a batch."""

from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import StructType

from dlt_local.auto_loader import csv_rows, json_rows, listing, parquet_rows, rescue
from dlt_local.auto_loader.rows import Read, one_of, partitions
from dlt_local.delta.storage import read_json, write_json

# Otherwise Spark passes over files that are older than the newest one by a week.
_NO_FILE_IS_TOO_OLD = ("maxFileAge", "365000d")
_NOTHING = StructType()


def stream(session: SparkSession, read: Read, extra: StructType = _NOTHING) -> DataFrame:
    """The rows of a folder's files, each file once.

    Args:
        session: reads the files.
        read: what is read.
        extra: columns of Parquet or Avro files that are rescued.
    """
    options = read.options
    reader = DataStreamReader(session).option("recursiveFileLookup", "true").option(*_NO_FILE_IS_TOO_OLD)
    if options.glob is not None:
        reader = reader.option("pathGlobFilter", options.glob)
    if options.files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", str(options.files_per_batch))
    if options.bytes_per_batch is not None:
        reader = reader.option("maxBytesPerTrigger", str(options.bytes_per_batch))
    configured = _configured(reader, read, extra)
    return _rows(configured.load(read.folder), read, extra)


def batch(session: SparkSession, read: Read, paths: Sequence[str], extra: StructType = _NOTHING) -> DataFrame:
    """The rows of some files; arguments as for `stream`."""
    reader = _configured(DataFrameReader(session), read, extra)
    assert isinstance(reader, DataFrameReader)
    return _rows(listing.exact(reader, paths), read, extra)


def without(frame: DataFrame, read: Read, paths: Sequence[str]) -> DataFrame:
    """The rows of all files but some."""
    return frame.where(~one_of(rescue.local_path(), paths))


def first_listing(file: Path, paths: Sequence[str]) -> list[str]:
    """The paths as they were when this was first asked for; kept in a file."""
    stored = read_json(file, "files")
    if stored is None:
        stored = {"files": list(paths)}
        write_json(file, stored)
    return list(stored["files"])


def _configured(
    reader: DataFrameReader | DataStreamReader, read: Read, extra: StructType
) -> DataFrameReader | DataStreamReader:
    options = read.options
    match options.format:
        case "json":
            lines = {"wholetext": str(options.is_on("multiLine")).lower()}
            if separator := options.get("lineSep", ""):
                lines["lineSep"] = separator
            return reader.format("text").options(**lines)
        case "csv":
            return reader.format("csv").options(**csv_rows.source_options(read)).schema(csv_rows.source_schema(read))
        case "parquet" | "avro":
            columns = StructType([*read.schema.data.fields, *extra.fields])
            return reader.format(options.format).options(**options.reader).schema(columns)
        case "text":
            return reader.format("text").options(**options.reader)
        case _:
            return reader.format("binaryFile").schema(read.schema.data)


def _rows(source: DataFrame, read: Read, extra: StructType) -> DataFrame:
    match read.options.format:
        case "json":
            return json_rows.rows(source, read)
        case "csv":
            return csv_rows.rows(source, read)
        case "parquet" | "avro":
            return parquet_rows.rows(source, read, extra)
    columns: list[Column] = [source[name] for name in read.schema.data.names]
    return source.select(*columns, *partitions(read))
