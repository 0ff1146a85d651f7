"""Schema inference: the columns of a folder's files, as Auto Loader infers them.

From https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/schema.html: at most 1000 files are looked
at; columns of JSON and CSV are strings, nested ones too, unless `cloudFiles.inferColumnTypes` is set; CSV files have
headers unless `header` says otherwise, and the columns of all headers are merged; folders named `column=value` are
columns unless they contradict one another. Two names that differ in case are one column: the first.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from dlt_local.auto_loader import hints, listing
from dlt_local.auto_loader.options import ReadOptions
from dlt_local.auto_loader.schema_log import FilesSchema
from dlt_local.spark import jvm

SAMPLE = "spark.databricks.cloudFiles.schemaInference.sampleSize.numFiles"
"""The conf with the most files that a first schema is inferred from; by default a thousand."""
_TEXT = StructType([StructField("value", StringType())])
_BINARY = StructType(
    [
        StructField("path", StringType()),
        StructField("modificationTime", TimestampType()),
        StructField("length", LongType()),
        StructField("content", BinaryType()),
    ]
)
_FIXED = {"text": _TEXT, "binaryfile": _BINARY}
_TYPES: tuple[tuple[DataType, Callable[[str], object]], ...] = (
    (IntegerType(), re.compile(r"-?(0|[1-9]\d{0,8})").fullmatch),
    (LongType(), re.compile(r"-?(0|[1-9]\d{0,17})").fullmatch),
    (DateType(), re.compile(r"\d{4}-\d{2}-\d{2}").fullmatch),
)
_NUMBERS: tuple[DataType, ...] = (IntegerType(), LongType(), DoubleType())
"""Each takes the values of those before it."""


def has_header(options: ReadOptions, is_inferred: bool) -> bool:
    """True if the first line of each CSV file names its columns: without a schema, that is the default."""
    return options.format == "csv" and options.is_on("header", default=is_inferred)


def infer(session: SparkSession, folder: str, options: ReadOptions, paths: Sequence[str]) -> FilesSchema:
    """The columns of all of some files.

    Args:
        session: reads the files.
        folder: the folder that is read, for the columns in the names of folders below it.
        options: of the read.
        paths: the files.
    """
    partitions = partition_columns(folder, options, paths)
    taken = {name.lower() for name in partitions.names}
    data = _data(session, options, paths)
    return FilesSchema(StructType([f for f in data.fields if f.name.lower() not in taken]), partitions)


def of_given(given: StructType, folder: str, options: ReadOptions, paths: Iterable[str]) -> FilesSchema:
    """A schema that the source file gives, with the columns in folders' names set apart."""
    partitions = {name.lower() for name in partition_columns(folder, options, paths).names}
    taken = partitions | {(options.rescued_column or "").lower()}
    data = [field for field in given.fields if field.name.lower() not in taken]
    return FilesSchema(StructType(data), StructType([f for f in given.fields if f.name.lower() in partitions]))


def hinted(schema: FilesSchema, options: ReadOptions) -> FilesSchema:
    """The schema with the types that the hints state.

    Raises:
        NotAHint: the hints cannot be parsed.
    """
    stated = hints.parse(options.schema_hints)
    names = {name.lower() for name in schema.partitions.names}
    data = hints.apply(schema.data, [hint for hint in stated if hint[0][0].lower() not in names])
    partitions = hints.apply(schema.partitions, [hint for hint in stated if hint[0][0].lower() in names])
    return FilesSchema(data, partitions)


def merged(old: FilesSchema, new: FilesSchema) -> FilesSchema:
    """The old schema with the columns that only the new one has at its end; folders' names add none."""
    added = [field for field in new.data.fields if field.name.lower() not in old.names()]
    return FilesSchema(StructType([*old.data.fields, *added]), old.partitions)


def base_folder(folder: str) -> str:
    """The part of a path before its first pattern: what is below it may name columns.

    >>> base_folder("/data/raw/"), base_folder("/data/raw/2026-*/x.json")
    ('/data/raw', '/data/raw')
    """
    plain = re.split(r"[*?\[{]", folder, maxsplit=1)
    return (plain[0] if len(plain) == 1 else plain[0].rpartition("/")[0]).rstrip("/")


def partition_columns(folder: str, options: ReadOptions, paths: Iterable[str]) -> StructType:
    """The columns in the names of the folders between a folder and its files."""
    values = [dict(_pairs(folder, path)) for path in paths]
    if options.partition_columns is not None:
        names = options.partition_columns
    else:
        names = tuple(values[0]) if values and all(tuple(each) == tuple(values[0]) for each in values) else ()
    return StructType([StructField(name, _type([each.get(name) for each in values], options)) for name in names])


def _pairs(folder: str, path: str) -> list[tuple[str, str]]:
    """The columns in a file's path.

    >>> _pairs("/data", "/data/event=click/x/day=2021-04-01/f0.json")
    [('event', 'click'), ('day', '2021-04-01')]
    """
    between = path.removeprefix(base_folder(folder)).split("/")[:-1]
    return [(name, value) for name, equals, value in (part.partition("=") for part in between) if equals and name]


def _type(values: Iterable[str | None], options: ReadOptions) -> DataType:
    given = [value for value in values if value is not None and value != "__HIVE_DEFAULT_PARTITION__"]
    if options.infer_types and given:
        return next((type_ for type_, fits in _TYPES if all(map(fits, given))), StringType())
    return StringType()


def _data(session: SparkSession, options: ReadOptions, paths: Sequence[str]) -> StructType:
    if options.format in _FIXED:
        return _FIXED[options.format]
    if options.format == "json":
        return _json(session, options, paths)
    if options.format == "csv":
        return _csv(session, options, paths)
    if options.format == "avro":
        return _avro(session, options, paths)
    reader = DataFrameReader(session).format("parquet").option("mergeSchema", "true")
    return _nullable(listing.exact(reader, paths))


def _json(session: SparkSession, options: ReadOptions, paths: Sequence[str]) -> StructType:
    # Otherwise Spark refuses files in which names differ in case only.
    own = jvm.cloned(session)
    own.conf.set("spark.sql.caseSensitive", "true")
    reader = DataFrameReader(own).format("json")
    for name, value in options.reader.items():
        if name.lower() != "mode":
            reader = reader.option(name, value)
    schema = _nullable(listing.exact(reader, paths))
    corrupt = options.get("columnNameOfCorruptRecord", "_corrupt_record")
    fields = [field for field in schema.fields if field.name != corrupt]
    return StructType(fields) if options.infer_types else _strings(field.name for field in fields)


def _csv(session: SparkSession, options: ReadOptions, paths: Sequence[str]) -> StructType:
    header = has_header(options, True)
    groups = listing.groups(session, options, paths) if header else [listing.FileGroup((), tuple(paths))]
    found: dict[str, StructField] = {}
    for group in groups:
        reader = listing.csv_reader(session, options).option("header", str(header).lower())
        reader = reader.option("inferSchema", str(options.infer_types).lower())
        for field in _nullable(listing.exact(reader, group.files)).fields:
            known = found.setdefault(field.name.lower(), field)
            found[field.name.lower()] = StructField(known.name, _wider(known.dataType, field.dataType))
    return StructType(list(found.values()))


def _avro(session: SparkSession, options: ReadOptions, paths: Sequence[str]) -> StructType:
    found: dict[str, StructField] = {}
    for group in listing.groups(session, options, paths):
        for field in _nullable(listing.exact(DataFrameReader(session).format("avro"), group.files[:1])).fields:
            found.setdefault(field.name.lower(), field)
    return StructType(list(found.values()))


def _wider(one: DataType, other: DataType) -> DataType:
    """The type for a column that has these two in different files."""
    if one == other:
        return one
    if one in _NUMBERS and other in _NUMBERS:
        return max(one, other, key=_NUMBERS.index)
    return StringType()


def _strings(names: Iterable[str]) -> StructType:
    return StructType([StructField(name, StringType()) for name in names])


def _nullable(frame: DataFrame) -> StructType:
    """The schema of a frame with nullable columns, each name once."""
    schema = _each_once(frame.schema)
    assert isinstance(schema, StructType)
    return schema


def _each_once(type_: DataType) -> DataType:
    """The type with the first of the fields whose names differ in case only."""
    if isinstance(type_, ArrayType):
        return ArrayType(_each_once(type_.elementType))
    if isinstance(type_, MapType):
        return MapType(type_.keyType, _each_once(type_.valueType))
    if not isinstance(type_, StructType):
        return type_
    fields: dict[str, StructField] = {}
    for field in type_.fields:
        fields.setdefault(field.name.lower(), StructField(field.name, _each_once(field.dataType)))
    return StructType(list(fields.values()))
