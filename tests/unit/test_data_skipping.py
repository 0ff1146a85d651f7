"""Data skipping by Parquet's statistics never passes over a file that has a row with the values."""

from pathlib import Path
from random import Random

import pyarrow
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from dlt_local.delta.data_skipping import may_have

TEXTS = ["", "a", "change", "ignored", "reject", "ü", "\uffff", "\U0001f600", None]


def written(file: Path, rows: list[tuple[str | None, str | None]], rows_of_a_group: int = 10, **options: bool) -> Path:
    first, second = zip(*rows, strict=True)
    table = pyarrow.table({"first": pyarrow.array(first, "string"), "second": pyarrow.array(second, "string")})
    pyarrow.parquet.write_table(table, file, row_group_size=rows_of_a_group, **options)
    return file


@pytest.mark.parametrize("seed", range(20))
def test_a_file_that_is_passed_over_has_no_such_row(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    passed_over = 0
    for number in range(30):
        rows = [(random.choice(TEXTS), random.choice(TEXTS)) for _ in range(random.randint(1, 4))]
        file = written(tmp_path / f"{number}.parquet", rows, random.randint(1, 4))
        wanted = [(column, random.choice(TEXTS) or "a") for column in ("first", "second")[: random.randint(1, 2)]]
        has = any(
            all(dict(zip(("first", "second"), row, strict=True))[name] == text for name, text in wanted) for row in rows
        )
        may = may_have(file, wanted)
        assert may or not has, (rows, wanted)
        passed_over += not may
    assert passed_over


def test_spark_s_files_have_the_statistics(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("SELECT 'change' AS outcome, 1 AS `a.b` UNION ALL SELECT 'ignored', 2").coalesce(1)
    frame.write.parquet(str(tmp_path / "rows"))
    (file,) = (tmp_path / "rows").glob("*.parquet")
    assert may_have(file, [])
    assert may_have(file, [("outcome", "change")])
    assert not may_have(file, [("outcome", "reject")])


def test_what_is_not_known_may_be_there(tmp_path: Path) -> None:
    rows: list[tuple[str | None, str | None]] = [("change", None)]
    assert may_have(written(tmp_path / "bare", rows, write_statistics=False), [("first", "reject")])
    file = written(tmp_path / "file", rows)
    assert may_have(file, [("third", "reject")])
    assert not may_have(file, [("second", "reject")])
    assert may_have(tmp_path / "gone", [("first", "reject")])
    (tmp_path / "damaged").write_bytes(file.read_bytes()[:-10])
    assert may_have(tmp_path / "damaged", [("first", "reject")])


def test_a_column_of_numbers_is_not_compared_with_a_text(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table({"first": [1, 2]}), tmp_path / "file")
    assert may_have(tmp_path / "file", [("first", "9")])
