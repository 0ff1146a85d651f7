"""The session of source files: Spark's own, whose readers know `cloudFiles`, `read_files` and mapped paths."""

from typing import Any, TypeVar

from pyspark.sql import DataFrame, DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import StructType

from dlt_local.auto_loader import table_functions
from dlt_local.auto_loader.loader import AutoLoader
from dlt_local.declarations.registry import caller
from dlt_local.errors import DeclarationError
from dlt_local.spark.pipeline_session import (
    OptionValue,
    PipelineReader,
    PipelineSession,
    PipelineStreamReader,
)

_CLOUD_FILES = "cloudfiles"
_Paths = TypeVar("_Paths")


class AutoLoaderSession(PipelineSession):
    """A session that reads with Auto Loader too; without ``auto_loader``, as Spark does."""

    auto_loader: AutoLoader | None = None

    @property
    def read(self) -> PipelineReader:
        """A reader that finds mapped folders."""
        return super().read if self.auto_loader is None else _BatchReader(self, self.auto_loader)

    @property
    def readStream(self) -> PipelineStreamReader:
        """A reader that knows `cloudFiles` and finds mapped folders."""
        return super().readStream if self.auto_loader is None else _StreamReader(self, self.auto_loader)

    def sql(self, sqlQuery: str, *args: Any, **kwargs: Any) -> DataFrame:
        """Run a query, which may call `read_files` and `cloud_files`."""
        if self.auto_loader is None or not table_functions.are_called(sqlQuery):
            return super().sql(sqlQuery, *args, **kwargs)
        run = super().sql
        return table_functions.run(sqlQuery, self, self.auto_loader, lambda text: run(text, *args, **kwargs))


class _StreamReader(PipelineStreamReader):
    def __init__(self, session: PipelineSession, auto_loader: AutoLoader) -> None:
        super().__init__(session)
        self._auto_loader = auto_loader
        self._format = ""
        self._given: dict[str, str] = {}
        self._columns: StructType | str | None = None

    def format(self, source: str) -> DataStreamReader:
        self._format = source.lower()
        return super().format(source)

    def schema(self, schema: StructType | str) -> DataStreamReader:
        self._columns = schema
        return super().schema(schema)

    def option(self, key: str, value: OptionValue) -> DataStreamReader:
        self._note(key, value)
        return super().option(key, value)

    def options(self, **options: OptionValue) -> DataStreamReader:
        for key, value in options.items():
            self._note(key, value)
        return super().options(**options)

    def load(
        self,
        path: str | None = None,
        format: str | None = None,  # the name is pyspark's
        schema: StructType | str | None = None,
        **options: OptionValue,
    ) -> DataFrame:
        for key, value in options.items():
            self._note(key, value)
        if (format or self._format).lower() != _CLOUD_FILES:
            return super().load(self._local(path), format, schema, **options)
        given = {key: value for key, value in self._given.items() if key.lower() != "path"}
        folder = path or next((v for k, v in self._given.items() if k.lower() == "path"), None)
        columns = schema if schema is not None else self._columns
        if folder is None:
            fix = "name the folder: .load('/Volumes/...')"
            raise DeclarationError("AUTO_LOADER_OPTIONS", "`cloudFiles` reads no folder", caller(), fix)
        if isinstance(columns, str):
            columns = StructType.fromDDL(columns)  # type: ignore[assignment]
        assert not isinstance(columns, str)
        return self._auto_loader.stream(given, folder, columns, caller())

    def json(self, path: str, *args: object, **kwargs: object) -> DataFrame:
        return super().json(self._found(path), *args, **kwargs)  # type: ignore[arg-type]

    def csv(self, path: str, *args: object, **kwargs: object) -> DataFrame:
        return super().csv(self._found(path), *args, **kwargs)  # type: ignore[arg-type]

    def parquet(self, path: str, *args: object, **kwargs: object) -> DataFrame:
        return super().parquet(self._found(path), *args, **kwargs)  # type: ignore[arg-type]

    def text(self, path: str, *args: object, **kwargs: object) -> DataFrame:
        return super().text(self._found(path), *args, **kwargs)  # type: ignore[arg-type]

    def _note(self, key: str, value: OptionValue) -> None:
        if value is not None:
            self._given[key] = str(value).lower() if isinstance(value, bool) else str(value)

    def _found(self, path: str) -> str:
        return self._auto_loader.paths.find(path) or path

    def _local(self, path: str | None) -> str | None:
        return None if path is None else self._found(path)


class _BatchReader(PipelineReader):
    def __init__(self, session: PipelineSession, auto_loader: AutoLoader) -> None:
        super().__init__(session)
        self._auto_loader = auto_loader
        self._format = ""

    def format(self, source: str) -> DataFrameReader:
        self._format = source.lower()
        return super().format(source)

    def load(
        self,
        path: str | list[str] | None = None,
        format: str | None = None,  # the name is pyspark's
        schema: StructType | str | None = None,
        **options: OptionValue,
    ) -> DataFrame:
        if (format or self._format).lower() == _CLOUD_FILES:
            message = "`cloudFiles` is a streaming source, here as on Databricks"
            fix = "read it with spark.readStream, or all files at once with SQL: SELECT * FROM read_files('FOLDER')"
            raise DeclarationError("AUTO_LOADER_OPTIONS", message, caller(), fix)
        return super().load(self._found(path), format, schema, **options)

    def json(self, path: object, *args: object, **kwargs: object) -> DataFrame:
        return super().json(self._found(path), *args, **kwargs)  # type: ignore[arg-type]

    def csv(self, path: object, *args: object, **kwargs: object) -> DataFrame:
        return super().csv(self._found(path), *args, **kwargs)  # type: ignore[arg-type]

    def parquet(self, *paths: str, **options: object) -> DataFrame:
        return super().parquet(*(self._found(path) for path in paths), **options)  # type: ignore[arg-type]

    def text(self, paths: object, *args: object, **kwargs: object) -> DataFrame:
        return super().text(self._found(paths), *args, **kwargs)  # type: ignore[arg-type]

    def _found(self, path: _Paths) -> _Paths:
        """The local paths of mapped ones; all else, such as an RDD, as it is."""
        find = self._auto_loader.paths.find
        if isinstance(path, str):
            return find(path) or path  # type: ignore[return-value]
        if isinstance(path, list):
            return [self._found(each) for each in path]  # type: ignore[return-value]
        return path
