"""What the rows of one read are made of, whatever the files' format."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from dlt_local.auto_loader import rescue
from dlt_local.auto_loader.inference import base_folder
from dlt_local.auto_loader.listing import FileGroup
from dlt_local.auto_loader.options import ReadOptions
from dlt_local.auto_loader.schema_log import FilesSchema

UNKNOWN_FIELDS = "UNKNOWN_FIELD_EXCEPTION"
"""Starts the message of the error that stops a flow at a record with an unknown member; the read's key follows."""
ARRIVED_MEANWHILE = "AUTO_LOADER_FILE_ARRIVED_MEANWHILE"
"""Starts the message of the error that stops a flow at a file which was not there when its query was evaluated."""


@dataclass(frozen=True)
class Read:
    """A folder, how it is read, and into which columns."""

    key: str
    """Names the read in the storage and in errors."""
    folder: str
    options: ReadOptions
    schema: FilesSchema
    is_inferred: bool
    """False if the source file gives the schema."""
    groups: tuple[FileGroup, ...] = field(default=(), repr=False)
    """The files by their columns, as far as the format needs them; empty while a query is only analysed."""
    is_running: bool = False
    is_stream: bool = True

    @property
    def rescued(self) -> str | None:
        """The name of the column of rescued data."""
        return self.options.rescued_column

    @property
    def stops_at_unknown(self) -> bool:
        """True if a column that is not in the schema stops the flow."""
        return self.is_stream and self.options.evolution in ("addNewColumns", "failOnNewColumns")

    @property
    def known_names(self) -> frozenset[str]:
        """The names of all columns in lower case; others are unknown."""
        return self.schema.names()

    @property
    def keeps_corrupt(self) -> bool:
        """True if the schema has the column for records that cannot be parsed."""
        return self.options.get("columnNameOfCorruptRecord", rescue.CORRUPT) in self.schema.data.names


def partitions(read: Read) -> list[Column]:
    """The columns in the names of folders."""
    below = F.substr(rescue.local_path(), F.lit(len(base_folder(read.folder)) + 1))
    return [_partition(below, each.name, each.dataType.simpleString()) for each in read.schema.partitions.fields]


def _partition(path: Column, name: str, type_: str) -> Column:
    text = F.regexp_extract(path, f"/{_literal(name)}=([^/]*)/", 1)
    # Hive writes characters that a folder's name cannot have as `%3A`.
    decoded = F.coalesce(F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B"))), text)
    value = F.when((text != "") & (text != "__HIVE_DEFAULT_PARTITION__"), decoded)
    return (value if type_ == StringType().simpleString() else value.cast(type_)).alias(name)


def _literal(text: str) -> str:
    """The text in a pattern of Java's."""
    return "\\Q" + text + "\\E"


def one_of(path: Column, files: Iterable[str]) -> Column:
    """True if a path is one of some files."""
    paths = sorted(files)
    return path.isin(paths) if paths else F.lit(False)
