"""Auto Loader without Spark: its options, its paths, the log of schemas, and the calls in SQL."""

import doctest
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql.types import ArrayType, LongType, MapType, StringType, StructField, StructType

from dlt_local.auto_loader import avro_header, hints, inference, listing, loader, option_names, table_functions
from dlt_local.auto_loader.options import BadOptions, ReadOptions, parse
from dlt_local.auto_loader.rows import ARRIVED_MEANWHILE
from dlt_local.auto_loader.schema_log import FilesSchema, SchemaLog
from dlt_local.declarations import paths
from dlt_local.declarations.paths import PathMap
from dlt_local.errors import DeclarationError, SetupError
from dlt_local.flows import new_files
from dlt_local.flows.context import FlowRun
from dlt_local.flows.file_log import files_committed
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.updates.selection import Selection

JSON = {"cloudFiles.format": "json"}


def options(has_schema: bool = False, **given: str) -> ReadOptions:
    return parse(JSON | {name.replace("_", "."): value for name, value in given.items()}, has_schema)


def faults(given: Mapping[str, str], has_schema: bool = False) -> list[str]:
    with pytest.raises(BadOptions) as bad:
        parse(given, has_schema)
    return bad.value.faults


def test_the_defaults_are_those_that_databricks_documents() -> None:
    assert options() == ReadOptions(
        "json", evolution="addNewColumns", rescued_column="_rescued_data", files_per_batch=1000
    )
    with_schema = options(has_schema=True)
    assert (with_schema.evolution, with_schema.rescued_column) == ("none", None)
    assert options(has_schema=True, rescuedDataColumn="_rest").rescued_column == "_rest"
    assert options(has_schema=True, cloudFiles_schemaEvolutionMode="rescue").rescued_column == "_rescued_data"
    assert parse({"cloudFiles.format": "binaryFile"}, False).rescued_column is None


def test_names_and_values_are_read_in_any_letter_case() -> None:
    read = parse({"CLOUDFILES.FORMAT": "CSV", "cloudfiles.SchemaEvolutionMode": "RESCUE", "Header": "False"}, False)
    assert (read.format, read.evolution, read.is_on("header", True)) == ("csv", "rescue", False)


@pytest.mark.parametrize(
    ("given", "files", "size"),
    [
        ({}, 1000, None),
        ({"cloudFiles.maxFilesPerTrigger": "7"}, 7, None),
        ({"cloudFiles.maxBytesPerTrigger": "10g"}, None, 10 * 2**30),
        ({"maxBytesPerTrigger": "3 mb", "maxFilesPerTrigger": "2"}, 2, None),
    ],
)
def test_a_batch_is_limited_by_files_or_bytes(given: dict[str, str], files: int | None, size: int | None) -> None:
    read = parse(JSON | given, False)
    assert (read.files_per_batch, read.bytes_per_batch) == (files, size)


def test_all_faults_are_reported_at_once_with_near_matches() -> None:
    given = {
        "cloudFiles.format": "jsn",
        "cloudFiles.inferColumTypes": "true",
        "cloudFiles.schemaEvolutionMode": "addNewColumn",
        "cloudFiles.maxFilesPerTrigger": "many",
        "cloudFiles.allowOverwrites": "true",
        "cloudFiles.includeExistingFiles": "no",
        "multiline_": "true",
    }
    assert faults(given) == [
        "cloudFiles.format=jsn cannot be read (did you mean `json`?): the formats are json, csv, parquet, avro, text,"
        " binaryFile",
        "cloudFiles.schemaEvolutionMode=addNewColumn is not known (did you mean `addNewColumns`?): the values are"
        " addNewColumns, rescue, failOnNewColumns, none",
        "cloudFiles.maxFilesPerTrigger=many must be a positive number",
        "cloudFiles.includeExistingFiles=no must be true or false",
        "cloudFiles.inferColumTypes is not an option (did you mean `cloudFiles.inferColumnTypes`?)",
        "cloudFiles.allowOverwrites=true cannot be honoured: Spark's file source reads a file once, by its path; give"
        " new content a new name",
        "multiline_ is not an option (did you mean `multiLine`?)",
    ]


def test_what_contradicts_a_schema_is_refused() -> None:
    given = JSON | {"cloudFiles.schemaEvolutionMode": "addNewColumns", "cloudFiles.schemaHints": "id INT"}
    assert len(faults(given, has_schema=True)) == 2


@pytest.mark.parametrize("format_", option_names.REFUSED_FORMATS)
def test_a_format_that_is_not_read_says_what_to_do(format_: str) -> None:
    (fault,) = faults({"cloudFiles.format": format_})
    assert fault == f"cloudFiles.format={format_} cannot be read: {option_names.REFUSED_FORMATS[format_]}"


def test_options_of_a_cloud_and_of_other_formats_have_no_effect_and_say_so() -> None:
    given = {
        "cloudFiles.useNotifications": "true",
        "cloudFiles.resourceTag.team": "data",
        "cloudFiles.clientSecret": "hidden",
        "header": "true",
        "cloudFiles.allowOverwrites": "false",
    }
    notices = parse(JSON | given, False).notices
    assert [notice.split("`")[1] for notice in notices] == list(given)
    assert notices[3] == "`header` has no effect: it is no option of json files"
    assert "hidden" not in str(notices)


def test_every_documented_name_is_in_one_list_only() -> None:
    lists = [option_names.READ, option_names.NO_EFFECT, option_names.REFUSED]
    names = [name for each in lists for name in each]
    assert len(names) == len(set(names)) and names == [name.lower() for name in names]
    assert option_names.HARMLESS.keys() <= option_names.REFUSED.keys()


def test_a_path_of_databricks_is_found_in_the_longest_mapped_folder(tmp_path: Path) -> None:
    mapped = PathMap({"/Volumes/main/raw": tmp_path / "raw", "dbfs:/Volumes/main/raw/old": tmp_path / "old"})
    assert mapped.local("dbfs:/Volumes/main/raw/orders/") == f"{tmp_path}/raw/orders"
    assert mapped.local("/Volumes/main/raw/old/1.json") == f"{tmp_path}/old/1.json"
    assert mapped.local("/Volumes/main/raw") == f"{tmp_path}/raw"
    assert mapped.find("/Volumes/main/rawest") is None
    assert mapped.local(f"file:{tmp_path}/x") == mapped.local(f"file://{tmp_path}/x") == f"{tmp_path}/x"
    assert mapped.local("data") == str(Path("data").absolute())


def test_a_path_that_is_not_mapped_is_refused_with_the_option_to_type() -> None:
    with pytest.raises(DeclarationError) as refused:
        PathMap({"s3://other": Path("/data")}).local("s3://lake/raw/orders")
    assert str(refused.value) == (
        "PATH_NOT_MAPPED\n"
        "  s3://lake/raw/orders is not on this machine, and no local folder stands for it; mapped are:\n"
        "    s3://other is /data\n"
        "  fix: say which folder does: --map s3://lake=FOLDER (in Python:"
        " LocalPipeline(path_map={'s3://lake': FOLDER}))"
    )


def columns(*names: str) -> StructType:
    return StructType([StructField(name, StringType()) for name in names])


def test_a_schema_is_kept_in_versions_as_databricks_lays_them_out(tmp_path: Path) -> None:
    log = SchemaLog(tmp_path)
    assert log.latest() is None
    log.append(FilesSchema(columns("id"), columns("day")))
    log.append(FilesSchema(columns("id", "total"), columns("day")))
    assert log.latest() == FilesSchema(columns("id", "total"), columns("day"))
    assert sorted(file.name for file in (tmp_path / "_schemas").iterdir()) == ["0", "1"]
    assert (tmp_path / "_schemas" / "0").read_text().startswith('v1\n{"dataSchemaJson": "{')


def test_a_damaged_version_is_refused(tmp_path: Path) -> None:
    SchemaLog(tmp_path).append(FilesSchema(columns("id")))
    (tmp_path / "_schemas" / "0").write_text("v1\n{")
    with pytest.raises(SetupError, match="SCHEMA_LOG_DAMAGED"):
        SchemaLog(tmp_path).latest()


def test_new_columns_come_last_and_names_that_differ_in_case_are_one_column() -> None:
    old = FilesSchema(columns("id", "Name"), columns("day"))
    new = FilesSchema(columns("NAME", "extra", "id", "Day"), columns("hour"))
    assert inference.merged(old, new) == FilesSchema(columns("id", "Name", "extra"), columns("day"))


def test_folders_name_columns_unless_they_contradict_one_another() -> None:
    files = ["/data/event=click/day=2026-04-01/1.json", "/data/event=view/day=2026-04-02/2.json"]
    assert inference.partition_columns("/data", options(), files) == columns("event", "day")
    typed = parse(JSON | {"cloudFiles.inferColumnTypes": "true"}, False)
    assert [f.dataType.simpleString() for f in inference.partition_columns("/data", typed, files)] == ["string", "date"]
    assert inference.partition_columns("/data", options(), [*files, "/data/hour=1/3.json"]) == StructType()
    stated = parse(JSON | {"cloudFiles.partitionColumns": "day, hour"}, False)
    assert inference.partition_columns("/data", stated, files) == columns("day", "hour")
    assert inference.partition_columns("/data/event=click", options(), files[:1]) == columns("day")


def test_the_widest_type_of_a_column_counts() -> None:
    assert inference.has_header(parse({"cloudFiles.format": "csv"}, False), True)
    assert not inference.has_header(parse({"cloudFiles.format": "csv"}, True), False)
    assert inference._wider(LongType(), StringType()) == StringType()


def test_calls_in_sql_are_found_with_the_stream_around_them() -> None:
    text = (
        "SELECT a FROM STREAM(read_files('/x', format => 'csv', `b.c` => map('k', 'v'))) JOIN cloud_files('/y', 'json')"
    )
    first, second = table_functions._calls(text)
    assert text[first.start : first.end].startswith("STREAM(") and text[first.start : first.end].endswith("')))")
    assert first.arguments == (("", "'/x'"), ("format", "'csv'"), ("b.c", "map('k', 'v')"))
    assert (first.streams, second.streams) == (True, True)
    assert text[second.start : second.end] == "cloud_files('/y', 'json')"
    (batch,) = table_functions._calls("SELECT * FROM read_files ( '/x' ) -- read_files('/no')")
    assert not batch.streams


def test_committed_files_are_those_up_to_the_last_committed_batch(tmp_path: Path) -> None:
    for part in ("commits", "offsets", "sources/0"):
        (tmp_path / part).mkdir(parents=True)
    assert files_committed(tmp_path) == ()
    for batch in range(3):
        (tmp_path / "offsets" / str(batch)).write_text(f'v1\n{{}}\n{{"logOffset":{batch}}}')
        (tmp_path / "sources/0" / str(batch)).write_text(f'v1\n{{"path":"file:///in/{batch}","timestamp":1}}')
    for batch in range(2):
        (tmp_path / "commits" / str(batch)).touch()
    assert set(files_committed(tmp_path)) == {Path("/in/0"), Path("/in/1")}


def test_hints_reach_into_nested_types_and_add_columns() -> None:
    inferred = StructType(
        [
            StructField("User", StructType([StructField("dob", StringType())])),
            StructField("ids", ArrayType(StructType([StructField("id", StringType())]))),
            StructField("prices", MapType(StringType(), StringType())),
            StructField("text", StringType()),
        ]
    )
    paths_of_hints = ("user.dob", "user.age", "ids.element.id", "prices.value", "text.inner", "more")
    hinted = hints.apply(inferred, [(tuple(path.split(".")), LongType()) for path in paths_of_hints])
    assert hinted.simpleString() == (
        "struct<User:struct<dob:bigint,age:bigint>,ids:array<struct<id:bigint>>,prices:map<string,bigint>,"
        "text:struct<inner:bigint>,more:bigint>"
    )


def test_after_new_columns_an_update_goes_on_without_resetting_again() -> None:
    assert Selection(("a",), ("b",)).continued() == Selection(("a", "b"))
    assert Selection(full_refresh_all=True).continued() == Selection()
    assert Selection(rebuild=("a",)).continued() == Selection(rebuild=("a",))


def test_a_flow_starts_again_when_a_file_arrives_before_its_stream_has_started() -> None:
    errors = [ValueError(f"[USER_RAISED_EXCEPTION] {ARRIVED_MEANWHILE} orders-1 file:///data/2.csv")]

    def write(_: object) -> FlowMetrics:
        if errors:
            raise errors.pop()
        return FlowMetrics(batches=1)

    assert new_files.retried(cast("FlowRun", None), write) == FlowMetrics(batches=1)


def test_every_option_is_on_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs/engine/auto-loader.md").read_text()
    names = {*option_names.READ, *option_names.NO_EFFECT, *option_names.REFUSED}
    names |= {name.lower() for own in option_names.OF_FORMAT.values() for name in own}
    assert sorted(name for name in names if f"`{name}`" not in page.lower()) == []
    reasons = {*option_names.NO_EFFECT.values(), *option_names.REFUSED.values(), *option_names.REFUSED_FORMATS.values()}
    assert sorted(reason for reason in reasons if f"| {reason} |" not in page) == []


def test_the_columns_of_an_avro_file_are_in_its_header(tmp_path: Path) -> None:
    schema = json.dumps({"type": "record", "name": "r", "fields": [{"name": f"c{n}", "type": "int"} for n in range(9)]})

    def number(value: int) -> bytes:
        value = value << 1 if value >= 0 else (-value << 1) - 1
        return (bytes([value & 0x7F | 0x80]) if value > 0x7F else b"") + bytes([value >> 7 if value > 0x7F else value])

    def text(value: str) -> bytes:
        return number(len(value)) + value.encode()

    entries = text("avro.codec") + text("null") + text("avro.schema") + text(schema)
    for name, block in {"a": number(2) + entries, "b": number(-2) + number(len(entries)) + entries}.items():
        (tmp_path / name).write_bytes(b"Obj\x01" + block + number(0) + b"sync")
        assert avro_header.column_names(str(tmp_path / name)) == tuple(f"c{n}" for n in range(9))
    (tmp_path / "c").write_text("{}")
    assert avro_header.column_names(str(tmp_path / "c")) is None


@pytest.mark.parametrize("module", [paths, listing, loader, inference, table_functions])
def test_the_examples_hold(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
