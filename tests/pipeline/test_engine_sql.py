"""SQL source files: Databricks' statements run next to Python files, and faults name their line."""

import json
import textwrap
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed

RAW = """
import dlt

@dlt.table
def raw():
    return spark.readStream.schema("id INT, name STRING, op STRING, at INT").json(spark.conf.get("rows"))
"""
SQL = """
-- Databricks notebook source
SET shop.least = 1;

CREATE OR REFRESH STREAMING TABLE people (
  id INT NOT NULL COMMENT 'the key, (really)',
  name STRING,
  at INT,
  CONSTRAINT has_name EXPECT (name IS NOT NULL AND name <> ';'),
  CONSTRAINT least EXPECT (id >= ${shop.least}) ON VIOLATION DROP ROW,
  CONSTRAINT pk PRIMARY KEY (id)
)
COMMENT "It's people"
PARTITIONED BY (at)
TBLPROPERTIES ('quality' = 'silver', delta.appendOnly = true)
AS SELECT id, name, at FROM STREAM(LIVE.raw) -- ${a.comment}

-- COMMAND ----------

CREATE TEMPORARY STREAMING LIVE VIEW changes (id, name COMMENT 'called', op, at)
AS SELECT id, name, op, at FROM STREAM raw WHERE at IS NOT NULL

-- COMMAND ----------

CREATE OR REFRESH STREAMING TABLE current;
APPLY CHANGES INTO LIVE.current
FROM STREAM(LIVE.changes)
KEYS (id)
APPLY AS DELETE WHEN op = 'd'
SEQUENCE BY at
COLUMNS * EXCEPT (op, at)
STORED AS SCD TYPE 1;

CREATE STREAMING TABLE history CLUSTER BY (id);
CREATE FLOW history_flow AS AUTO CDC INTO history FROM STREAM(changes)
KEYS (id) IGNORE NULL UPDATES APPLY AS DELETE WHEN op = "d" SEQUENCE BY struct(at) COLUMNS (id, name)
STORED AS SCD TYPE 2 TRACK HISTORY ON * EXCEPT (id);

CREATE STREAMING TABLE both (CONSTRAINT positive EXPECT (id > 0) ON VIOLATION FAIL UPDATE);
CREATE FLOW from_raw AS INSERT INTO both BY NAME SELECT id FROM STREAM(raw);
CREATE FLOW backfill AS INSERT INTO ONCE both BY NAME SELECT 99 AS id;

CREATE OR REPLACE MATERIALIZED VIEW gold.counted (name COMMENT 'of people', n)
CLUSTER BY AUTO
AS WITH named AS (SELECT name FROM people) SELECT name, count(*) AS whatever FROM named GROUP BY name;

CREATE LIVE TABLE older AS SELECT max(id) AS most FROM live.people;
CREATE PRIVATE MATERIALIZED VIEW hidden AS SELECT 1 AS one;
CREATE PRIVATE STREAMING TABLE staged;
CREATE FLOW into_staged AS INSERT INTO staged BY NAME SELECT id FROM STREAM(raw)
"""


@pytest.fixture
def small(spark: SparkSession, tmp_path: Path) -> SmallPipeline:
    return SmallPipeline(tmp_path, spark, RAW)


def with_sql(small: SmallPipeline, text: str) -> Path:
    file = small.folder / "tables.sql"
    file.write_text(textwrap.dedent(text))
    small.pipeline.sources = (str(small.folder / "**"),)
    return file


def test_the_common_statements_run(small: SmallPipeline) -> None:
    with_sql(small, SQL)
    small.drop(
        {"id": 1, "name": "a", "op": "c", "at": 1},
        {"id": 0, "name": "low", "op": "c", "at": 1} | {"id": 2},
        {"id": 3, "name": None, "op": "c", "at": 1},
    )
    update = small.pipeline.run()
    small.drop({"id": 2, "name": None, "op": "d", "at": 2}, {"id": 1, "name": "b", "op": "u", "at": 2})
    small.pipeline.run()
    assert sorted(row["id"] for row in small.table("people")) == [1, 1, 2, 2, 3]
    assert update["default.people"].flows["default.people"].failed == {"has_name": 1, "least": 0}
    assert small.table("current") == [{"id": 1, "name": "b"}, {"id": 3, "name": None}]
    ends = {(row["id"], row["name"]): row["__END_AT"] for row in small.table("history")}
    assert ends == {(1, "a"): {"at": 2}, (1, "b"): None, (2, "low"): {"at": 2}, (3, None): None}
    assert sorted(row["id"] for row in small.table("both")) == [1, 1, 2, 2, 3, 99]
    assert {row["name"]: row["n"] for row in small.table("gold.counted")} == {"a": 1, "b": 1, "low": 1, None: 2}
    assert small.table("older") == [{"most": 3}]
    for private in ("hidden", "staged"):
        assert small.table(private)
        assert not (small.pipeline.storage.root / "tables/default" / private).exists()

    people = DeltaTable(str(small.pipeline.storage.root / "tables/default/people"))
    assert people.metadata().description == "It's people"
    assert people.metadata().partition_columns == ["at"]
    assert people.metadata().configuration["delta.appendOnly"] == "true"
    assert json.loads(people.schema().to_json())["fields"][0]["metadata"]["comment"] == "the key, (really)"
    notices = update.graph.notices
    assert [n for n in notices if "cluster_by_auto" in n] and [n for n in notices if "`pk` of default.people" in n]


AS_WRITTEN = """
USE SCHEMA sales;
SET spark.sql.ansi.enabled;
CREATE OR REPLACE FUNCTION ai_twice(x INT) RETURNS INT RETURN x * 2;
CREATE SCHEMA IF NOT EXISTS main.shared;
CREATE FUNCTION IF NOT EXISTS main.shared.thrice(x INT) RETURNS INT RETURN x * 3;
CREATE FUNCTION IF NOT EXISTS main.shared.nine_times(x INT) RETURNS INT RETURN main.shared.thrice(shared.thrice(x));

CREATE OR REFRESH STREAMING TABLE IDENTIFIER('or' || 'ders') (
  id INT PRIMARY KEY, name STRING MASK hidden, CONSTRAINT of_raw FOREIGN KEY (id) REFERENCES raw (id)
) WITH ROW FILTER own ON (id)
AS SELECT id, name FROM STREAM (SELECT id, name FROM default.raw WHERE op <> 'd');

CREATE MATERIALIZED VIEW counted AS
WITH named AS (SELECT * FROM orders) SELECT ai_twice(CAST(count(*) AS INT)) AS n FROM named;

CREATE STREAMING TABLE latest;
APPLY CHANGES INTO latest FROM STREAM (SELECT id, name, at FROM default.raw)
KEYS (id) SEQUENCE BY at COLUMNS * EXCEPT (at) STORED AS SCD TYPE 1;

CREATE STREAMING TABLE copied AS SELECT * FROM STREAM delta.`{path}`;

CREATE MATERIALIZED VIEW joined (
  id INT COMMENT 'FOREIGN KEY REFERENCES nothing' CONSTRAINT of_orders FOREIGN KEY REFERENCES main.sales.orders,
  n INT,
  CONSTRAINT has_name EXPECT (o.id IS NOT NULL AND `l`.id > 0) ON VIOLATION DROP ROW,
  CONSTRAINT of_latest FOREIGN KEY (id) REFERENCES latest
) AS SELECT l.id, main.shared.nine_times(l.id) AS n FROM orders AS o JOIN latest l ON o.id = l.id AND o.name = l.name;

CREATE MATERIALIZED VIEW mapped AS SELECT * FROM delta.`/Volumes/main/raw/outside`;
"""


def test_sql_as_other_projects_write_it(small: SmallPipeline, spark: SparkSession) -> None:
    outside = small.folder / "outside"
    spark.range(2).write.format("delta").save(str(outside))
    with_sql(small, AS_WRITTEN.format(path=outside))
    small.pipeline.configuration |= {"dlt_local.accept_unenforced": "sales.orders"}
    small.pipeline.path_map["/Volumes/main/raw"] = small.folder
    small.drop({"id": 1, "name": "a", "op": "c", "at": 1}, {"id": 2, "name": "b", "op": "d", "at": 1})
    update = small.pipeline.run()
    small.drop({"id": 1, "name": "c", "op": "u", "at": 2})
    spark.range(2, 3).write.format("delta").mode("append").save(str(outside))
    small.pipeline.run()
    assert [(row["id"], row["name"]) for row in small.table("sales.orders")] == [(1, "a"), (1, "c")]
    assert small.table("sales.counted") == [{"n": 4}]
    assert small.table("sales.latest") == [{"id": 1, "name": "c"}, {"id": 2, "name": "b"}]
    assert sorted(row["id"] for row in small.table("sales.copied")) == [0, 1, 2]
    assert sorted(row["id"] for row in small.table("sales.mapped")) == [0, 1, 2]
    assert small.table("sales.joined") == [{"id": 1, "n": 9}]
    notice = "sales.orders has a row filter and a mask of column `name`, which nothing enforces locally"
    assert [each for each in update.graph.notices if each.startswith(notice)]


FAULTS = {
    "syntax in the query": ("CREATE LIVE TABLE {t} AS\nSELECT id\nFORM raw x", 3, "QUERY_FAILED", "x"),
    "unknown column": ("\n\nCREATE LIVE TABLE {t} AS\nSELECT id,\n nmae FROM raw", 5, "QUERY_FAILED", "nmae"),
    "unknown dataset": ("CREATE LIVE TABLE {t} AS SELECT *\nFROM rwa", 1, "DATASET_NOT_FOUND", "did you mean `raw`"),
    "unknown statement": ("-- first\nDROP TABLE raw", 2, "SQL_NOT_UNDERSTOOD", "`DROP`"),
    "unknown clause": ("CREATE LIVE TABLE {t}\nCOMENT 'x'\nAS SELECT 1", 2, "SQL_NOT_UNDERSTOOD", "`COMENT`"),
    "no keys": (
        "CREATE STREAMING TABLE {t};\nAUTO CDC INTO {t} FROM STREAM(raw)\nSEQUENCE BY at",
        3,
        "SQL_NOT_UNDERSTOOD",
        "KEYS",
    ),
    "what Databricks refuses": (
        "CREATE STREAMING TABLE {t};\n\nAUTO CDC INTO {t} FROM STREAM(raw) KEYS (id) SEQUENCE BY at\n"
        "COLUMNS (id) APPLY AS TRUNCATE WHEN true STORED AS SCD TYPE 2",
        3,
        "AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2",
        "target {t}",
    ),
    "a function of Databricks": (
        "CREATE STREAMING TABLE {t} AS\nSELECT * FROM STREAM read_kafka(bootstrapServers => 'x')",
        2,
        "NOT_SUPPORTED_LOCALLY",
        "read_kafka",
    ),
    "Databricks' own function": (
        "CREATE LIVE TABLE {t} AS\nSELECT id,\n  ai_classify(name, array('a')) AS kind FROM raw",
        3,
        "NOT_SUPPORTED_LOCALLY",
        "CREATE FUNCTION ai_classify(...)",
    ),
    "no folder": (
        "CREATE LIVE TABLE {t} AS\nSELECT * FROM parquet.`s3://lake/{t}`",
        2,
        "PATH_NOT_MAPPED",
        "--map s3://lake=FOLDER",
    ),
    "texts as numbers": (
        "CREATE LIVE TABLE {t} AS SELECT name / op AS x FROM raw",
        1,
        "QUERY_FAILED",
        "fix: cast the texts",
    ),
    "an expectation of another table": (
        "CREATE LIVE TABLE {t} (CONSTRAINT c EXPECT (b.id > 0)) AS SELECT id FROM raw a",
        1,
        "EXPECTATION_NOT_VALID",
        "`b`.`id`",
    ),
    "clone": ("CREATE TABLE {t}\nSHALLOW CLONE raw", 2, "SQL_NOT_UNDERSTOOD", "clone"),
    "mask": (
        "CREATE LIVE TABLE {t} (id INT, name STRING MASK m)\nWITH ROW FILTER own ON (id) AS SELECT id, name FROM raw",
        1,
        "ACCESS_NOT_ENFORCED",
        "a row filter and a mask of column `name`",
    ),
    "function in Python": (
        "CREATE FUNCTION {t}(x INT) RETURNS INT\nLANGUAGE PYTHON AS 'return x'",
        2,
        "SQL_NOT_UNDERSTOOD",
        "spark.udf.register",
    ),
    "no value": ("CREATE LIVE TABLE {t} AS\nSELECT ${{rovs}}", 2, "NO_SUCH_VALUE", "did you mean `rows`"),
    "open parenthesis": ("CREATE STREAMING TABLE {t} (\nid INT", 2, "SQL_NOT_UNDERSTOOD", "not closed"),
    "batch query of a streaming table": (
        "CREATE STREAMING TABLE {t} AS SELECT * FROM raw",
        1,
        "BATCH_QUERY_FOR_STREAMING_TABLE",
        "STREAM(name)",
    ),
}


def test_a_fault_names_its_file_and_line(small: SmallPipeline) -> None:
    for number, (text, *_) in enumerate(FAULTS.values()):
        (small.folder / f"t{number}.sql").write_text(text.format(t=f"t{number}"))
    small.pipeline.sources = (str(small.folder / "**"),)
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.dry_run()
    errors = {str(error).splitlines()[0]: str(error) for error in failed.value.errors}
    assert len(errors) == len(FAULTS)
    for number, (_, line, condition, detail) in enumerate(FAULTS.values()):
        error = next((e for first, e in errors.items() if f"t{number}.sql" in first), "no error")
        assert error.startswith(f"{condition}  {small.folder}/t{number}.sql:{line}\n"), error
        assert detail.format(t=f"t{number}") in error
