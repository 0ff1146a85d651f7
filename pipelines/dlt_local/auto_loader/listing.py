"""The files of a folder as Spark's file source finds them, and the columns that their headers and footers name."""

import bz2
import gzip
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, cast
from urllib.parse import unquote, urlsplit

import pyarrow.parquet
from pyspark.sql import DataFrame, DataFrameReader, SparkSession

from dlt_local.auto_loader import avro_header
from dlt_local.auto_loader.options import ReadOptions

# Spark would take `[` or `*` in a file's name for a pattern.
_EXACT_PATHS = ("__globPaths__", "false")
_HEADER = ("header", "enforceSchema", "mode")


@dataclass(frozen=True)
class FileGroup:
    """Files that have the same columns in the same order."""

    columns: tuple[str, ...]
    files: tuple[str, ...]


def files(session: SparkSession, folder: str, options: ReadOptions) -> list[str]:
    """The paths of a folder's files, in the folders below it too.

    Raises:
        AnalysisException: the folder does not exist.
    """
    reader = DataFrameReader(session).format("text").option("recursiveFileLookup", "true")
    if options.glob is not None:
        reader = reader.option("pathGlobFilter", options.glob)
    return sorted(unquote(urlsplit(uri).path) for uri in reader.load(folder).inputFiles())


def exact(reader: DataFrameReader, paths: Iterable[str]) -> DataFrame:
    """The frame of exactly these files."""
    return reader.option(*_EXACT_PATHS).load(list(paths))


def groups(session: SparkSession, options: ReadOptions, paths: Sequence[str]) -> list[FileGroup]:
    """CSV files by their header, Parquet and Avro files by the names in their own schemas; largest group first."""
    found: dict[bytes | tuple[str, ...], list[str]] = {}
    for path in paths:
        key: bytes | tuple[str, ...] | None
        match options.format:
            case "csv":
                key = _first_line(path, options)
            case "avro":
                key = avro_header.column_names(path)
            case _:
                key = _parquet_names(path)
        if key is not None:
            found.setdefault(key, []).append(path)
    largest_first = sorted(found.items(), key=lambda item: -len(item[1]))
    merged: dict[tuple[str, ...], list[str]] = {}
    for key, members in largest_first:
        names = key if isinstance(key, tuple) else _header(session, options, members[0])
        merged.setdefault(names, []).extend(members)
    return [FileGroup(names, tuple(members)) for names, members in merged.items()]


def csv_reader(session: SparkSession, options: ReadOptions) -> DataFrameReader:
    """A reader of CSV with the options as given, except those that concern the header."""
    reader = DataFrameReader(session).format("csv")
    for name, value in csv_options(options).items():
        reader = reader.option(name, value)
    return reader


def csv_options(options: ReadOptions) -> dict[str, str]:
    """The options of CSV's own reader, except those that concern the header."""
    return {name: value for name, value in options.reader.items() if name.lower() not in map(str.lower, _HEADER)}


def _header(session: SparkSession, options: ReadOptions, path: str) -> tuple[str, ...]:
    return tuple(exact(csv_reader(session, options).option("header", "true"), [path]).columns)


def _first_line(path: str, options: ReadOptions) -> bytes | None:
    """The line that Spark takes for the header, without its end; None for a file without lines."""
    comment = options.get("comment", "").encode()
    with _opened(path) as file:
        return next((line for line in _lines(file) if line and not (comment and line.startswith(comment))), None)


def _opened(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path))
    return cast("IO[bytes]", bz2.open(path)) if path.endswith(".bz2") else open(path, "rb")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    for line in file:
        yield line.strip()


def _parquet_names(path: str) -> tuple[str, ...]:
    return tuple(pyarrow.parquet.read_schema(path).names)
