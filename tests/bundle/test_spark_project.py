"""A project of open-source Spark's pipelines is read from its spark-pipeline.yml."""

from pathlib import Path

import pytest

from dlt_local.bundle import BundleError, read_spark_project
from dlt_local.cli.settings import Options, settings

WHOLE = """
name: shop
storage: file:///tmp/my%20shop
catalog: main
database: sales
configuration:
  landing: ./landing
  spark.sql.shuffle.partitions: "4"
libraries:
  - glob:
      include: transformations/**
  - glob:
      include: orders.sql
"""


def spec(folder: Path, text: str = WHOLE, name: str = "spark-pipeline.yml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


@pytest.mark.parametrize("name", ["spark-pipeline.yml", "spark-pipeline.yaml"])
def test_all_fields(tmp_path: Path, name: str) -> None:
    file = spec(tmp_path, name=name)
    found = read_spark_project(tmp_path)
    assert (found.name, found.catalog, found.schema) == ("shop", "main", "sales")
    assert found.storage == Path("/tmp/my shop")
    assert found.sources == (f"{tmp_path}/transformations/**", f"{tmp_path}/orders.sql")
    assert found.configuration == {"landing": "./landing", "spark.sql.shuffle.partitions": "4"}
    assert found.root_path == tmp_path
    assert read_spark_project(file) == found


@pytest.mark.parametrize(
    ("storage", "expected"),
    [
        ("storage: s3://lake/shop", "pipeline-storage"),
        ("storage: state", "state"),
        ("", "pipeline-storage"),
    ],
)
def test_storage_is_a_local_folder(tmp_path: Path, storage: str, expected: str) -> None:
    spec(tmp_path, f"name: shop\n{storage}\nlibraries: [{{glob: {{include: a.py}}}}]\n")
    assert read_spark_project(tmp_path).storage == tmp_path / expected


def test_options_override_the_file(tmp_path: Path) -> None:
    spec(tmp_path)
    found = settings(Options(spec=tmp_path, storage=Path("/elsewhere"), configuration={"landing": "/data"}))
    assert found.storage == Path("/elsewhere")
    assert found.configuration == {"landing": "/data", "spark.sql.shuffle.partitions": "4"}


def test_it_is_found_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert settings(Options()).name == "shop"


def test_all_faults_at_once(tmp_path: Path) -> None:
    text = "name: shop\nstorge: file:///tmp\nlibraries: [{file: a.py}]\nconfiguration: {tables: [a, b]}\n"
    spec(tmp_path, text)
    with pytest.raises(BundleError) as raised:
        read_spark_project(tmp_path)
    found = [(fault.condition, fault.location.line if fault.location else 0) for fault in raised.value.faults]
    assert found == [("UNKNOWN_FIELD", 2), ("WRONG_SHAPE", 3), ("WRONG_SHAPE", 4)]
    assert "(did you mean `storage`?)" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "condition"), [("name: shop\n", "NO_LIBRARIES"), ("- a\n", "WRONG_SHAPE"), ("a: [\n", "BROKEN_YAML")]
)
def test_a_file_that_describes_no_pipeline(tmp_path: Path, text: str, condition: str) -> None:
    spec(tmp_path, text)
    with pytest.raises(BundleError, match=condition):
        read_spark_project(tmp_path)


def test_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"NO_BUNDLE(.|\n)*there is no spark-pipeline.yml at .*(.|\n)*--spec"):
        read_spark_project(tmp_path)
