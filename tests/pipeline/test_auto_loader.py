"""Auto Loader on local folders: what is read, what is rescued, and what happens when files get new columns."""

import gzip
import json
import shutil
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.crash import die_at

from dlt_local import LocalPipeline, UpdateFailed

HEAD = "import dlt\nfrom pyspark.sql import functions as F\n"
READ = (
    'spark.readStream.format("cloudFiles").option("cloudFiles.format", "{format}"){options}'
    '.load("/Volumes/main/raw/{folder}")'
)


def read(format_: str, folder: str, **options: object) -> str:
    """A read as an expression of a source file; `__` in a name stands for a dot."""
    given = "".join(f'.option("{name.replace("__", ".")}", "{value}")' for name, value in options.items())
    return READ.format(format=format_, folder=folder, options=given)


def table(name: str, query: str) -> str:
    return f"\n@dlt.table\ndef {name}():\n    return {query}\n"


class Landing:
    """A pipeline over the volume `/Volumes/main/raw`, which is a local folder."""

    def __init__(
        self, folder: Path, spark: SparkSession, source: str, name: str = "source.py", **settings: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.raw = folder / "raw"
        self.raw.mkdir()
        self.file = folder / name
        self.file.write_text(source if name.endswith(".sql") else HEAD + source)
        paths = {"/Volumes/main/raw": self.raw}
        self.pipeline = LocalPipeline(
            "landing", [self.file], folder / "storage", spark=spark, path_map=paths, **settings
        )

    def put(self, name: str, *lines: object) -> Path:
        """A file of lines, those that are no text as JSON; renamed once it is complete."""
        file = self.raw / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        scratch = file.with_name(f".{file.name}")
        scratch.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return scratch.rename(file)

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """The rows of a table, sorted by their text."""
        frame = self.pipeline.table(name)
        return sorted(map(tuple, (frame.select(*columns) if columns else frame).collect()), key=str)

    def states(self) -> dict[str, str]:
        return {each.name: each.state for each in self.pipeline.run().datasets}

    def versions(self) -> list[int]:
        """The number of schema versions that each read has in the engine's own folder."""
        folders = sorted((self.folder / "storage/system/auto_loader").glob("*"))
        return [len(list((folder / "_schemas").iterdir())) for folder in folders]


def rescued(text: str | None) -> Any:
    """The rescued data without the file's path, of which only the name is kept."""
    if text is None:
        return None
    found = json.loads(text, parse_float=Decimal)
    return {**found, "_file_path": found["_file_path"].rpartition("/")[2]}


def test_json_is_text_until_it_is_asked_for_types_and_new_columns_restart_the_update(
    spark: SparkSession, tmp_path: Path
) -> None:
    query = read("json", "orders") + '.select("*", F.col("_metadata.file_name").alias("file"))'
    total = '\n@dlt.table\ndef total():\n    return spark.read.table("orders").groupBy().count()\n'
    landing = Landing(tmp_path, spark, table("orders", query) + total)
    landing.put(
        "orders/day=2026-01-01/a b.json",
        '{"id": 1, "total": 1234567890.12345678901, "who": {"n": 0.1234567890123456789}}',
        "",
        '[{"id": 2, "total": 3.12345678901234567891}, {"id": "3", "total": "1.1"}]',
    )
    landing.put("orders/day=2026-01-02/b.json.gz", '{"id": "x", "total": 12345678901234567890123456789012345678901}')

    assert len(landing.pipeline.dry_run().nodes) == 2
    assert not (tmp_path / "storage").exists()
    assert landing.states() == {"default.orders": "COMPLETED", "default.total": "COMPLETED"}
    first = [
        ("1", "1234567890.12345678901", '{"n":0.1234567890123456789}', "2026-01-01", None, "a%20b.json"),
        ("2", "3.12345678901234567891", None, "2026-01-01", None, "a%20b.json"),
        ("3", "1.1", None, "2026-01-01", None, "a%20b.json"),
        ("x", "12345678901234567890123456789012345678901", None, "2026-01-02", None, "b.json.gz"),
    ]
    assert landing.rows("orders") == first
    assert landing.states() == {"default.orders": "IDLE", "default.total": "IDLE"}

    landing.put("orders/day=2026-01-03/c.json", {"id": 4, "extra": True}, {"ID": 5, "total": 7})
    assert landing.states() == {"default.orders": "COMPLETED", "default.total": "COMPLETED"}
    columns = ("id", "total", "extra", "day", "_rescued_data")
    now = [(*row[:4], rescued(row[4])) for row in landing.rows("orders", *columns)]
    assert [row for row in now if row[3] == "2026-01-03"] == [
        ("4", None, "true", "2026-01-03", None),
        (None, "7", None, "2026-01-03", {"ID": 5, "_file_path": "c.json"}),
    ]
    assert len(now) == 6 and landing.rows("total") == [(6,)]
    assert landing.versions() == [2]
    updates = landing.pipeline.event_log().where("event_type = 'create_update'").count()
    assert updates == 4  # Three of the user's, and one that the new column has started.

    landing.pipeline.run(full_refresh_all=True)
    assert [(*row[:4], rescued(row[4])) for row in landing.rows("orders", *columns)] == now
    assert landing.versions() == [2]


def test_typed_json_rescues_whatever_its_columns_do_not_hold(spark: SparkSession, tmp_path: Path) -> None:
    hints = "total DECIMAL(10,2), at DATE, who.age INT, tags ARRAY<INT>, far BIGINT"
    given = {"cloudFiles__schemaEvolutionMode": "rescue", "cloudFiles__schemaHints": hints}
    typed = read("json", "people", cloudFiles__inferColumnTypes="true", multiLine="true", **given)
    plain = read("json", "people", cloudFiles__schemaEvolutionMode="none", multiLine="true", pathGlobFilter="1.json")
    landing = Landing(tmp_path, spark, table("people", typed) + table("plain", plain))
    landing.put(
        "people/1.json", '[{"id": 1, "total": "1.50", "at": "2026-01-02",', '"who": {"name": "Ann", "age": 7}}]'
    )
    landing.states()
    landing.put("people/2.json", {"id": "one", "total": "x", "at": "2026-13-01", "who": {"name": "Bo", "pets": 2}})
    landing.put("people/3.json", '[{"id": 2, "new": 1.10, "text": "1.10", "far": 9223372036854775808},')
    landing.put("people/4.json", '{"id": 2, "new": 1.10, "text": "1.10", "nil": null, "far": 9223372036854775808,')
    landing.put("people/4.json", '{"id": 2, "new": 1.10, "text": "1.10", "nil": null, "far": 9223372036854775808}')
    landing.put("people/5.json", '{"id": 5, "tags": [1, "two", 3], "who": {"age": 1.5}}')
    assert landing.states() == {"default.people": "COMPLETED", "default.plain": "IDLE"}
    people = landing.pipeline.table("people")
    assert dict(people.dtypes) == {
        "id": "bigint",
        "total": "decimal(10,2)",
        "at": "date",
        "who": "struct<age:int,name:string>",
        "tags": "array<int>",
        "far": "bigint",
        "_rescued_data": "string",
    }
    rows = {
        (rescued(row._rescued_data) or {"_file_path": "1.json"})["_file_path"]: (row, rescued(row._rescued_data))
        for row in people.collect()
    }
    row, rest = rows["1.json"]
    assert (row.id, row.total, row.at, row.who.age, rest) == (1, Decimal("1.50"), date(2026, 1, 2), 7, None)
    row, rest = rows["2.json"]
    assert (row.id, row.total, row.at, row.who.name) == (None, None, None, "Bo")
    assert rest == {
        "id": "one",
        "total": "x",
        "at": "2026-13-01",
        "who": {"name": "Bo", "pets": 2},
        "_file_path": "2.json",
    }
    row, rest = rows["3.json"]
    assert set(row[:-1]) == {None} and rest["_corrupt_record"].startswith('[{"id": 2')
    row, rest = rows["4.json"]
    assert (row.id, row.far) == (2, None)
    assert rest == {
        **{"new": Decimal("1.10"), "text": "1.10", "nil": None, "far": 9223372036854775808, "_file_path": "4.json"}
    }
    assert '"new":1.1,"text":"1.10",' in row._rescued_data
    row, rest = rows["5.json"]
    assert (row.id, row.tags, row.who.age) == (5, None, None)
    assert rest == {"tags": [1, "two", 3], "who": {"age": Decimal("1.5")}, "_file_path": "5.json"}
    assert landing.pipeline.table("plain").columns == ["at", "id", "total", "who"]


def test_csv_columns_are_found_by_the_header_of_each_file(spark: SparkSession, tmp_path: Path) -> None:
    given = {"cloudFiles__schemaHints": "id INT, at DATE", "dateFormat": "dd.MM.yyyy", "multiLine": "true"}
    typed = table("typed", read("csv", "typed", cloudFiles__maxFilesPerTrigger=1, **given))
    bare = table("bare", read("csv", "bare", header="false", sep=";"))
    landing = Landing(tmp_path, spark, typed + bare)
    landing.put("typed/1.csv", "id,name,at", '1,"Ann,\nof X",01.02.2026', "two,,31.12.2025", "3,c,1.1.26,more", "4")
    landing.put("typed/2.csv", "at,Name,id", "02.02.2026,b,5")
    landing.put("bare/1.csv", "1;a", "2;b;c")
    landing.states()
    assert landing.pipeline.table("typed").dtypes[:3] == [("id", "int"), ("name", "string"), ("at", "date")]
    assert [(*row[:3], rescued(row[3])) for row in landing.rows("typed")] == [
        (1, "Ann,\nof X", date(2026, 2, 1), None),
        (3, "c", None, {"at": "1.1.26", "_corrupt_record": "3,c,1.1.26,more", "_file_path": "1.csv"}),
        (4, None, None, None),
        (5, None, date(2026, 2, 2), {"Name": "b", "_file_path": "2.csv"}),
        (None, None, date(2025, 12, 31), {"id": "two", "_file_path": "1.csv"}),
    ]
    assert [(*row[:2], rescued(row[2])) for row in landing.rows("bare")] == [
        ("1", "a", None),
        ("2", "b", {"_corrupt_record": "2;b;c", "_file_path": "1.csv"}),
    ]
    landing.put("typed/3.csv", "extra,id", "x,6")
    assert landing.states() == {"default.typed": "COMPLETED", "default.bare": "IDLE"}
    assert landing.rows("typed", "id", "extra")[-2:] == [(6, "x"), (None, None)] and len(landing.rows("typed")) == 6


def test_other_formats_and_the_choice_of_files(spark: SparkSession, tmp_path: Path) -> None:
    own_schema = ("parquet", "avro")
    rescue = {"cloudFiles__schemaEvolutionMode": "rescue"}
    source = (
        "".join(
            table(f"{each}_stored", read(each, each, **rescue)) + table(f"{each}_grown", read(each, each))
            for each in own_schema
        )
        + table(
            "lines",
            read("text", "lines", cloudFiles__includeExistingFiles="false", cloudFiles__useNotifications="true"),
        )
        + table("bytes", read("binaryFile", "lines", pathGlobFilter="*.log") + '.select("length", "day")')
    )
    landing = Landing(tmp_path, spark, source)

    def store(number: int, columns: str) -> None:
        for each in own_schema:
            scratch = tmp_path / "scratch"
            rows = spark.range(1).selectExpr(*columns.split(";")).coalesce(1)
            rows.write.format(each).mode("overwrite").save(str(scratch))
            (part,) = scratch.glob(f"part-*.{each}")
            (landing.raw / each).mkdir(exist_ok=True)
            shutil.move(part, landing.raw / each / f"{number}.{each}")

    store(1, "1 AS id;'a' AS name")
    landing.put("lines/day=1/old.txt", "old")
    landing.put("lines/day=1/old.log", "four")
    landing.states()
    assert landing.rows("lines") == [] and landing.rows("bytes") == [(5, "1")]
    store(2, "'b' AS name;2 AS id;named_struct('x', 1.50D) AS deep")
    landing.put("lines/day=2/new.txt", "new")
    assert set(landing.states().values()) == {"COMPLETED", "IDLE"}
    for each in own_schema:
        assert [(*row[:2], rescued(row[2])) for row in landing.rows(f"{each}_stored")] == [
            (1, "a", None),
            (2, "b", {"deep": {"x": Decimal("1.5")}, "_file_path": f"2.{each}"}),
        ]
        assert landing.rows(f"{each}_grown", "id", "deep.x") == [(1, None), (2, 1.5)]
    assert landing.rows("lines") == [("new", "2")]
    landing.pipeline.run(full_refresh=["lines"])
    assert landing.rows("lines") == []


def test_a_first_schema_is_inferred_from_no_more_files_than_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    query = read("json", "orders", cloudFiles__schemaEvolutionMode="rescue")
    files = {"spark.databricks.cloudFiles.schemaInference.sampleSize.numFiles": "1"}
    landing = Landing(tmp_path, spark, table("orders", query), configuration=files)
    landing.put("orders/1.json", {"id": 1})
    landing.put("orders/2.json", {"id": 2, "extra": "x"})
    assert landing.states() == {"default.orders": "COMPLETED"}
    rows = [(id_, rescued(rest)) for id_, rest in landing.rows("orders")]
    assert rows == [("1", None), ("2", {"extra": "x", "_file_path": "2.json"})]


SQL = """
CREATE OR REFRESH STREAMING TABLE orders AS
SELECT *, _metadata.file_name AS file FROM STREAM read_files('/Volumes/main/raw/orders', schemaHints => 'total DOUBLE');

CREATE OR REFRESH STREAMING TABLE texts AS
SELECT id FROM STREAM(cloud_files("/Volumes/main/raw/orders", "json", map("cloudFiles.schemaEvolutionMode", "none")));

CREATE OR REFRESH MATERIALIZED VIEW everything AS
SELECT count(*) AS n, sum(id) AS ids FROM read_files('/Volumes/main/raw/' || 'orders', format => 'json')
JOIN (SELECT max(id) AS newest FROM orders) ON true;
"""


def test_table_functions_of_sql(spark: SparkSession, tmp_path: Path) -> None:
    landing = Landing(tmp_path, spark, SQL, "source.sql")
    landing.put("orders/1.json", {"id": 1, "total": 2})
    landing.states()
    assert landing.rows("orders") == [(1, 2.0, None, "1.json")]
    assert landing.pipeline.table("texts").dtypes == [("id", "string")]
    landing.put("orders/2.json", {"id": 2, "total": 3.5})
    landing.states()
    assert landing.rows("orders", "id", "total", "file") == [(1, 2.0, "1.json"), (2, 3.5, "2.json")]
    assert landing.rows("texts") == [("1",), ("2",)]
    assert landing.rows("everything") == [(2, 3)]


def run_to_the_end(landing: Landing, files: Iterable[int]) -> list[tuple[Any, ...]]:
    landing.states()
    rows = landing.rows("orders", "id", "extra")
    assert [row[0] for row in rows] == [str(number) for number in files]
    return rows


def test_a_kill_between_two_batches_loses_nothing_and_doubles_nothing(spark: SparkSession, tmp_path: Path) -> None:
    landing = Landing(tmp_path, spark, table("orders", read("json", "orders", cloudFiles__maxFilesPerTrigger=1)))
    landing.put("orders/1.json", {"id": 1})
    landing.put("orders/2.json", {"id": 2, "extra": "x"})
    arguments = ("--map", f"/Volumes/main/raw={landing.raw}")
    die_at(landing.file, tmp_path / "storage", "append.after", arguments)
    landing.put("orders/3.json", {"id": 3, "more": 1})
    rows = run_to_the_end(landing, (1, 2, 3))
    assert rows == [("1", None), ("2", "x"), ("3", None)] and landing.versions() == [2]


def test_new_columns_that_are_not_wanted_fail_the_flow_alone(spark: SparkSession, tmp_path: Path) -> None:
    refused = read("json", "orders", cloudFiles__schemaEvolutionMode="failOnNewColumns")
    stated = READ.format(format="json", folder="orders", options='.schema("id INT, day DATE")')
    view = f"\n@dlt.view\ndef landed():\n    return {read('json', 'orders')}\n"
    target = (
        'dlt.create_streaming_table("latest")\ndlt.apply_changes("latest", "landed", keys=["id"], sequence_by="id")\n'
    )
    landing = Landing(tmp_path, spark, table("strict", refused) + table("stated", stated) + view + target)
    landing.put("orders/day=2026-01-01/1.json", {"id": 1})
    assert set(landing.states().values()) == {"COMPLETED"}
    landing.put("orders/day=2026-01-02/2.json", {"id": 2, "new": 1, "b": [1]})
    with pytest.raises(UpdateFailed) as failed:
        landing.pipeline.run()
    (error,) = failed.value.errors
    assert str(error).replace(str(tmp_path), "/data") == (
        "UNKNOWN_FIELD_EXCEPTION  default.strict\n"
        "  the files have columns that are not in the schema: new, b in"
        " file:/data/raw/orders/day=2026-01-02/2.json; nothing of the batch was written\n"
        "  fix: add them to the schema (cloudFiles.schemaHints, or schema(...)), take the file out of the folder, or"
        " choose another cloudFiles.schemaEvolutionMode: addNewColumns or rescue"
    )
    assert landing.rows("strict", "id") == [("1",)]
    assert landing.rows("stated") == [(1, date(2026, 1, 1)), (2, date(2026, 1, 2))]
    assert landing.rows("latest", "id", "new", "b") == [("1", None, None), ("2", "1", "[1]")]
