"""The parts of the report's data: groups of datasets, texts of declarations, samples of rejects."""

import doctest
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from tests.unit.test_cli_drawing import GRAPH

from dlt_local.observability.report import groups, samples
from dlt_local.observability.report.source_text import SourceText, source_texts
from dlt_local.observability.shapes import Shape

PYTHON = '''"""A source."""

from pyspark import pipelines as dp

for name in ("a", "b"):

    @dp.table(
        name=name,
    )
    @dp.expect("x", "y")
    def rows():
        token = "password=geheim"
        return spark.range(3)


dp.create_streaming_table("c")
'''
SQL = """-- Two statements.
CREATE VIEW a AS
SELECT 1;

CREATE VIEW b AS SELECT 2;
"""


def hidden(text: str) -> str:
    return text.replace("geheim", "***")


def test_a_dataset_is_in_the_group_of_the_one_thing_that_it_reads() -> None:
    assert groups.groups(GRAPH) == {
        "bronze.a": "bronze.a",
        "bronze.b": "bronze.b",
        "silver.a": "bronze.a",
        "clean": "bronze.a",
        "both": "both",
        'gold.<"all">': "both",
    }
    # What is read is no dataset of the pipeline.
    assert groups.groups((Shape("a", "view", "f.py:1", inputs={"elsewhere": ("f",)}),)) == {"a": "a"}
    assert doctest.testmod(groups).failed == doctest.testmod(samples).failed == 0


def test_a_declaration_is_shown_from_its_decorators_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(PYTHON)
    (tmp_path / "s.sql").write_text(SQL)
    (tmp_path / "bad.py").write_text("def (:")
    places = [f"{tmp_path}/{each}" for each in ("s.py:7", "s.py:16", "s.sql:2", "s.sql:5", "bad.py:1", "absent.py:1")]
    found = source_texts(places, hidden)
    rows = found[places[0]]
    assert (rows.first, rows.lines[0].strip(), rows.lines[-1].strip()) == (7, "@dp.table(", "return spark.range(3)")
    assert rows.lines[5].strip() == 'token = "password=***"'
    assert found[places[1]] == SourceText(16, ('dp.create_streaming_table("c")',))
    assert found[places[2]] == SourceText(2, ("CREATE VIEW a AS", "SELECT 1;"))
    assert found[places[3]] == SourceText(5, ("CREATE VIEW b AS SELECT 2;",))
    assert found[places[4]] == SourceText(1, ("def (:",))
    assert places[5] not in found


def test_the_newest_rejects_are_shown_in_the_named_columns_only(tmp_path: Path) -> None:
    def file(number: int, *outcomes: str) -> Path:
        path = tmp_path / f"{number}.parquet"
        columns = {"outcome": outcomes, "message": [f"geheim {number}"] * len(outcomes), "value": ["x"] * len(outcomes)}
        pyarrow.parquet.write_table(pa.table(columns), path)
        return path

    files = [file(2, "reject", "change", "reject"), file(1, *["reject"] * 9)]
    found = samples.sample(files, ("outcome", "reject"), ["message"], hidden)
    assert found == ({"message": "*** 2"},) * 2 + ({"message": "*** 1"},) * 3
    assert samples.sample(files, ("outcome", "reject"), ["absent"], hidden) == ()
    assert samples.newest(found[:1], found) == (found[0], *found[:4])
