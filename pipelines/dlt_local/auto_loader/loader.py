"""Auto Loader: a folder as a stream, or as a batch, of the rows of its files.

While a graph is resolved nothing is written; the schema that was inferred then is recorded when the flow runs.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local.auto_loader import csv_rows, evolution, inference, listing, sources
from dlt_local.auto_loader.hints import NotAHint
from dlt_local.auto_loader.options import BadOptions, ReadOptions, parse
from dlt_local.auto_loader.place import Place, current_place
from dlt_local.auto_loader.rows import Read
from dlt_local.auto_loader.schema_log import FilesSchema, SchemaLog
from dlt_local.declarations.paths import PathMap, is_remote
from dlt_local.errors import DeclarationError, FlowError, SourceLocation

ANY = ReadOptions("text")
"""Options that leave no file out."""
_WITH_SCHEMA = ("parquet", "avro")
"""The formats whose files each have a schema of their own."""
_FORMATS = {
    **{".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv", ".parquet": "parquet"},
    **{".txt": "text", ".log": "text", ".avro": "avro", ".orc": "orc", ".xml": "xml"},
}


class AutoLoader:
    """The reads of one pipeline during one update."""

    def __init__(self, session: SparkSession, paths: PathMap, folder: Path, notice: Callable[[str], None]) -> None:
        """Keep what reads need.

        Args:
            session: reads the files.
            paths: the local folders that stand for Databricks' storage.
            folder: where the schemas are kept that no `cloudFiles.schemaLocation` asks for elsewhere.
            notice: called with each option that has no effect.
        """
        self.paths = paths
        self._notice = notice
        self._session = session
        self._folder = folder
        self._inferred: dict[str, FilesSchema] = {}
        self._reads: dict[str, Read] = {}
        self.lock = threading.RLock()
        """Held while schemas are read and written."""

    def stream(
        self, given: Mapping[str, str], path: str, schema: StructType | None, location: SourceLocation | None
    ) -> DataFrame:
        """The rows of a folder's files as a stream.

        Args:
            given: the options, as the source file gives them.
            path: the folder, as the source file names it.
            schema: the columns that it gives; None to infer them.
            location: where it does, for errors.

        Raises:
            DeclarationError: AUTO_LOADER_OPTIONS, PATH_NOT_MAPPED or CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE.
            FlowError: UNKNOWN_FIELD_EXCEPTION, when the files of a running flow have columns that are not in the
                schema.
        """
        options = self._options(given, schema is not None, location)
        read = self._read(options, self.paths.local(path, location), schema, location)
        place = current_place()
        if place is None:
            return sources.stream(self._session, read)
        with self.lock:
            self._reads[read.key] = read
        unread = self._unread(read, place.committed()) if _is_grouped(read) else []
        read = self._with_groups(read, unread, place.dataset)
        frame = sources.stream(self._session, read, self._extra(read, unread))
        if options.include_existing:
            return frame
        return sources.without(frame, read, self._existing(read, place))

    def batch(
        self, given: Mapping[str, str], path: str, schema: StructType | None, location: SourceLocation | None
    ) -> DataFrame:
        """The rows of all files that a folder has now; arguments and errors as for `stream`."""
        options = replace(self._options(given, schema is not None, location), evolution="rescue")
        folder = self.paths.local(path, location)
        paths = self._files(folder, options)
        found = self._given_or_inferred(schema, options, folder, paths, location)
        read = Read(_key(folder, options, schema), folder, options, found, schema is None, is_stream=False)
        read = replace(read, groups=self._groups(read, paths), is_running=True)
        return sources.batch(self._session, read, paths, self._extra(read, paths))

    def format_of(self, path: str, location: SourceLocation | None) -> str | None:
        """The format of a folder's files by their names; None if they have none in common."""
        found = {_ending(file) for file in listing.files(self._session, self.paths.local(path, location), ANY)}
        return found.pop() if len(found) == 1 else None

    def evolve(self, key: str, dataset: str, columns: str, committed: Collection[Path]) -> FlowError | None:
        """Record the new columns of the files that a flow could not write.

        Args:
            key: of the read.
            dataset: the flow's.
            columns: the first unknown ones, for the message.
            committed: the files whose rows the flow has written.

        Returns:
            What to raise; None if there is nothing new.
        """
        read = self._reads[key]
        if read.options.evolution == "failOnNewColumns":
            return evolution.refused(dataset, columns)
        return self._evolved(read, self._unread(read, committed), dataset)

    def _options(self, given: Mapping[str, str], has_schema: bool, location: SourceLocation | None) -> ReadOptions:
        try:
            options = parse(given, has_schema)
        except BadOptions as error:
            message = "Auto Loader cannot read with these options:" + "".join(f"\n    {f}" for f in error.faults)
            fix = "correct them; docs/engine/auto-loader.md lists all that are read here"
            raise DeclarationError("AUTO_LOADER_OPTIONS", message, location, fix) from None
        for notice in options.notices:
            self._notice(notice)
        return options

    def _read(
        self, options: ReadOptions, folder: str, schema: StructType | None, location: SourceLocation | None
    ) -> Read:
        key = _key(folder, options, schema)
        if schema is not None:
            found = self._given_or_inferred(schema, options, folder, self._files(folder, options), location)
            return Read(key, folder, options, found, False, is_running=current_place() is not None)
        log = self._log(key, options)
        with self.lock:
            logged = log.latest()
            # One update reads with one schema, even if another flow has added columns to it meanwhile.
            known = self._inferred.get(key) or logged
            if known is None:
                paths = self._files(folder, options)
                known = self._given_or_inferred(None, options, folder, paths, location)
            self._inferred[key] = known
            if logged is None and current_place() is not None:
                log.append(known)
        known = self._hinted(known, options, location)
        return Read(key, folder, options, known, True, is_running=current_place() is not None)

    def _given_or_inferred(
        self,
        schema: StructType | None,
        options: ReadOptions,
        folder: str,
        paths: Sequence[str],
        location: SourceLocation | None,
    ) -> FilesSchema:
        if schema is not None:
            return inference.of_given(schema, folder, options, paths)
        if not paths and options.format not in ("text", "binaryfile"):
            what = f"{folder} has no files" + (f" named {options.glob}" if options.glob else "")
            message = f"{what}, so that Auto Loader cannot infer their columns"
            fix = "put a first file there, or give the columns: .schema(...), in SQL schema => '...'"
            raise DeclarationError("CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE", message, location, fix)
        return self._hinted(inference.infer(self._session, folder, options, paths[: self._sample()]), options, location)

    def _sample(self) -> int:
        return int(self._session.conf.get(inference.SAMPLE, "1000") or "1000")

    def _hinted(self, schema: FilesSchema, options: ReadOptions, location: SourceLocation | None) -> FilesSchema:
        try:
            return inference.hinted(schema, options)
        except NotAHint as error:
            message = f"cloudFiles.schemaHints: {error}"
            fix = "write columns and types as in `id BIGINT, user.dob DATE`"
            raise DeclarationError("AUTO_LOADER_OPTIONS", message, location, fix) from error

    def _log(self, key: str, options: ReadOptions) -> SchemaLog:
        given = options.schema_location
        if given is None:
            return SchemaLog(self._folder / key)
        mapped = self.paths.find(given)
        if mapped is None and is_remote(given):
            self._notice(f"`cloudFiles.schemaLocation` {given} is not mapped: the schema is kept in the storage folder")
            return SchemaLog(self._folder / key)
        return SchemaLog(Path(mapped or given.removeprefix("file:")).absolute())

    def _files(self, folder: str, options: ReadOptions) -> list[str]:
        return listing.files(self._session, folder, options)

    def _unread(self, read: Read, committed: Collection[Path]) -> list[str]:
        """The files that a flow has still to write."""
        written = {str(path) for path in committed}
        return [path for path in self._files(read.folder, read.options) if path not in written]

    def _with_groups(self, read: Read, paths: Sequence[str], dataset: str) -> Read:
        read = replace(read, groups=self._groups(read, paths))
        unknown = csv_rows.unknown_columns(read)
        if not unknown or not read.stops_at_unknown:
            return read
        names = ", ".join(unknown)
        if read.options.evolution == "failOnNewColumns":
            raise evolution.refused(dataset, names)
        raise self._evolved(read, paths, dataset) or evolution.refused(dataset, names)

    def _groups(self, read: Read, paths: Sequence[str]) -> tuple[listing.FileGroup, ...]:
        return tuple(listing.groups(self._session, read.options, paths)) if _is_grouped(read) else ()

    def _extra(self, read: Read, paths: Sequence[str]) -> StructType:
        """The columns of Parquet and Avro files that are not in the schema, if they are to be rescued."""
        if read.options.format not in _WITH_SCHEMA or read.rescued is None or not csv_rows.unknown_columns(read):
            return StructType()
        found = inference.infer(self._session, read.folder, read.options, paths)
        return StructType([f for f in found.data.fields if f.name.lower() not in read.known_names])

    def _evolved(self, read: Read, paths: Sequence[str], dataset: str) -> FlowError | None:
        with self.lock:
            log = self._log(read.key, read.options)
            latest = log.latest() or read.schema
            found = inference.infer(self._session, read.folder, read.options, paths)
            merged = inference.hinted(inference.merged(latest, found), read.options)
            new = [name for name in merged.data.names if name.lower() not in read.known_names]
            if merged != latest:
                log.append(merged)
        return evolution.SchemaEvolved(dataset, ", ".join(new)) if new else None

    def _existing(self, read: Read, place: Place) -> list[str]:
        """The files that were there before the flow first ran."""
        file = (place.checkpoint or self._folder / read.key) / "existing.json"
        paths = self._files(read.folder, read.options)
        return sources.first_listing(file, paths)


def _is_grouped(read: Read) -> bool:
    """True if the columns of each file have to be known before it is read."""
    return read.options.format in _WITH_SCHEMA or inference.has_header(read.options, read.is_inferred)


def _ending(path: str) -> str | None:
    """The format in a file's name.

    >>> _ending("/data/1.json.gz"), _ending("/data/1.jsonl"), _ending("/data/1.xyz")
    ('json', 'json', None)
    """
    endings = [ending for ending in Path(path).suffixes if ending not in (".gz", ".bz2", ".snappy", ".zst")]
    return _FORMATS.get(endings[-1].lower()) if endings else None


def _key(folder: str, options: ReadOptions, schema: StructType | None) -> str:
    """Names a read by all that decides on its columns."""
    parts = [folder, options.format, options.infer_types, options.partition_columns, options.glob]
    parts += [
        options.schema_hints,
        options.schema_location,
        options.evolution,
        options.rescued_column,
        sorted(options.reader.items()),
        None if schema is None else schema.json(),
    ]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
    return f"{Path(folder).name or 'root'}-{digest}"
