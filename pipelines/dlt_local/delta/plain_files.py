"""A Delta table as its Parquet files, where these alone hold its rows: read and replaced without Delta's state of it.

To list a table's files, Delta replays its log in three Spark jobs, which for a few hundred rows takes longer than to
read and write them. The checksum of the latest commit lists the files of a small table. Reading those gives exactly the
rows that Delta would read, as long as nothing else decides which rows of a file count and what its columns are called.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local.delta import delta_log
from dlt_local.spark import jvm

SETTING = "dlt_local.plain_files"
"""Configuration of a pipeline: ``false`` has Delta read and replace all tables."""
_MOST_BYTES = 4 * 1024 * 1024
"""From this size on Delta's statistics, by which it skips files, are worth their cost."""
_MOST_FILES = 30
"""Spark lists more in a job of its own."""
_NOT_PLAIN = ("delta.typeChanges", "delta.columnMapping", "__CHAR_VARCHAR")
"""Marks of columns whose values or names in a file are not those of the table."""


@dataclass(frozen=True)
class PlainFiles:
    """The files of a table at one of its versions, which have all of its rows and columns and nothing else."""

    table: Path
    version: int
    schema: StructType
    added: tuple[Mapping[str, Any], ...]
    """Each file as the log's action `add` has it."""

    @classmethod
    def of(cls, session: SparkSession, table: Path) -> "PlainFiles | None":
        """The files of a small table; None if it is large, partitioned, or its rows are not as its files have them."""
        if session.conf.get(SETTING, "true") != "true":
            return None
        version, schema = delta_log.version(table), delta_log.schema(table)
        if version is None or schema is None or not has_plain_columns(table, schema):
            return None
        added = delta_log.listed_actions(table, version)
        if added is None or len(added) > _MOST_FILES or sum(int(file["size"]) for file in added) > _MOST_BYTES:
            return None
        return cls(table, version, schema, added)

    @property
    def paths(self) -> list[str]:
        """The files."""
        return [str(self.table / unquote(file["path"])) for file in self.added]


def has_plain_columns(table: Path, schema: StructType) -> bool:
    """True if the table's files have all of its columns, under their own names and types."""
    if delta_log.partition_columns(table) != ():
        return False
    as_json = schema.json()
    return not any(mark in as_json for mark in _NOT_PLAIN)


def read(session: SparkSession, table: Path) -> DataFrame:
    """The rows of a Delta table.

    Args:
        session: the session to read with.
        table: an existing table.
    """
    files = PlainFiles.of(session, table)
    if files is None:
        return session.read.format("delta").load(str(table))
    return jvm.read_files(session, files.schema, files.paths)


def over_files(frame: DataFrame) -> DataFrame:
    """The same batch query, reading the files of its small tables in place of the tables.

    The frame itself if it reads something that cannot be read so.
    """

    def files_of(path: str) -> tuple[StructType, list[str]] | None:
        files = PlainFiles.of(frame.sparkSession, Path(path))
        return None if files is None else (files.schema, files.paths)

    return jvm.with_tables_as_files(frame, files_of)


def replace(rows: DataFrame, table: Path) -> bool:
    """Replace all rows of a small table in one commit, and nothing else of it; False if that is left to Delta.

    Args:
        rows: the new rows, with columns of the table only.
        table: an existing table.
    """
    files = PlainFiles.of(rows.sparkSession, table)
    if files is None:
        return False
    return jvm.replace_in_delta(rows, table, files.version, [json.dumps({"add": file}) for file in files.added])
