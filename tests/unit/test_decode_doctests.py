"""The examples in the docstrings of the decoding modules hold, and every column function has one."""

import ast
import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from tests.support.tables import table

PIPELINES = Path(__file__).parents[2] / "pipelines"
CDC = PIPELINES / "cdc"
MODULES = [CDC / f"{name}.py" for name in ("findings", "gold", "records", "replay")]
FILES = [*MODULES, *sorted((CDC / "debezium").rglob("*.py"))]
WITH_EXAMPLES = [file.relative_to(PIPELINES) for file in FILES if ">>> " in file.read_text(encoding="utf-8")]
ORDERS = table({"id": "int not null", "note": "nvarchar(40)"})


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=str)
def test_the_examples_hold(spark: SparkSession, file: Path) -> None:
    def evaluate(column: Column) -> Any:
        """The value of a column of literals."""
        (row,) = spark.range(1).select(column).collect()
        return row[0]

    module = importlib.import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
    result = doctest.testmod(module, extraglobs={"spark": spark, "F": F, "evaluate": evaluate, "orders": ORDERS})
    assert result.attempted
    assert not result.failed


def public_functions(returned: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Public functions of all modules that take a value of a type first, and return one."""
    for file in FILES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.args.args:
                first = node.args.args[0].annotation
                if first and node.returns and ast.unparse(first) == ast.unparse(node.returns) == returned:
                    yield f"{file.relative_to(PIPELINES)}: {node.name}", node


def test_every_column_function_has_an_example() -> None:
    found = list(public_functions("Column"))
    assert len(found) > 20
    assert [name for name, node in found if ">>> " not in (ast.get_docstring(node) or "")] == []


def test_every_frame_function_states_its_grain_and_columns() -> None:
    found = list(public_functions("DataFrame"))
    assert len(found) > 10
    docs = {name: ast.get_docstring(node) or "" for name, node in found}
    assert [name for name, text in docs.items() if not ("Grain: " in text and "Columns: " in text)] == []
