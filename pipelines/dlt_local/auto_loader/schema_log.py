"""The schema of a folder's files over time, in the files that Auto Loader keeps below `cloudFiles.schemaLocation`.

`<schemaLocation>/_schemas/<version>`, from version 0: a line `v1`, then a JSON object with the columns of the files
and those of the folders' names. See
https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/schema.html
"""

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql.types import StructType

from dlt_local.errors import SetupError


@dataclass(frozen=True)
class FilesSchema:
    """The columns of a folder's files."""

    data: StructType
    """Those in the files."""
    partitions: StructType = StructType()  # noqa: RUF009  # pyspark's fields are not changed in place here
    """Those in the names of folders, `day=1`."""

    def names(self) -> frozenset[str]:
        """The names of all columns, in lower case."""
        return frozenset(name.lower() for name in (*self.data.names, *self.partitions.names))


@dataclass(frozen=True)
class SchemaLog:
    """The versions of one schema."""

    location: Path

    def latest(self) -> FilesSchema | None:
        """The newest version; None before the first.

        Raises:
            SetupError: SCHEMA_LOG_DAMAGED.
        """
        version = self._last()
        if version < 0:
            return None
        file = self._folder / str(version)
        try:
            _, _, body = file.read_text(encoding="utf-8").partition("\n")
            content = json.loads(body)
            data, partitions = (json.loads(content[key]) for key in ("dataSchemaJson", "partitionSchemaJson"))
            return FilesSchema(StructType.fromJson(data), StructType.fromJson(partitions))
        except (ValueError, KeyError, TypeError) as error:
            message = "it holds the columns of the files that Auto Loader reads, and is cut or overwritten"
            fix = f"restore it from a copy, or delete it: rm {file}"
            raise SetupError("SCHEMA_LOG_DAMAGED", file, message, fix) from error

    def append(self, schema: FilesSchema) -> None:
        """Add a version; all of it is there, or nothing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {
            "dataSchemaJson": schema.data.json(),
            "partitionSchemaJson": schema.partitions.json(),
        }
        scratch = self._folder / f".{uuid.uuid4()}.tmp"
        scratch.write_text(f"v1\n{json.dumps(content)}", encoding="utf-8")
        os.replace(scratch, self._folder / str(self._last() + 1))

    @property
    def _folder(self) -> Path:
        return self.location / "_schemas"

    def _last(self) -> int:
        return max((int(file.name) for file in self._folder.glob("*") if file.name.isdigit()), default=-1)
