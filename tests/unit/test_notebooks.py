"""Notebooks as source files: what each cell becomes, and at which line."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from dlt_local.declarations.notebooks import Cell, cells, program
from dlt_local.declarations.registry import Registry
from dlt_local.declarations.source_files import load
from dlt_local.errors import DeclarationError

SOURCE = """# Databricks notebook source
# MAGIC %md
# MAGIC # Orders, per %day

# COMMAND ----------

# MAGIC %pip install requests

# COMMAND ----------

import dlt

x = 7 % 4

# COMMAND ----------

# MAGIC %run ./helpers

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REFRESH MATERIALIZED VIEW few
# MAGIC AS SELECT 1 AS id

# COMMAND ----------

# DBTITLE 1,Orders
@dlt.table(name=NAME)
def orders():
    return spark.range(x)
"""
HELPERS = (
    "# Databricks notebook source\nNAME = 'orders'\n\n# COMMAND ----------\n\ndbutils.notebook.exit(1)\nNAME = 2\n"
)


def jupyter(*sources: str) -> str:
    """A notebook as an editor saves it."""
    found: list[dict[str, Any]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": source.splitlines(keepends=True)}
        for source in sources
    ]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Title"]}, *found], "nbformat": 4}, indent=1)


def loaded(folder: Path, name: str, text: str, conf: dict[str, str] | None = None) -> tuple[Registry, list[Exception]]:
    """The declarations of one file, without Spark."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    session = SimpleNamespace(conf=Conf(conf or {}))
    registry = Registry("default", cast(SparkSession, session))
    return registry, load([file], registry, None)


class Conf(dict[str, str]):
    """A session's conf."""

    @property
    def getAll(self) -> dict[str, str]:
        return dict(self)


def test_a_notebook_in_source_format_declares_what_its_cells_declare(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    registry, faults = loaded(tmp_path, "orders.py", SOURCE)
    assert faults == []
    declared = {str(name): table.location.line for name, table in registry.tables.items()}
    assert declared == {"default.few": SOURCE[: SOURCE.index("CREATE OR")].count("\n") + 1, "default.orders": 28}
    assert registry.notices == [
        "`%pip` of a notebook has no effect locally (orders.py:7): "
        "install what the pipeline needs into the environment that runs it"
    ]


def test_a_jupyter_notebook_is_read_cell_by_cell_on_the_lines_of_its_file(tmp_path: Path) -> None:
    text = jupyter(
        "%pip install x\nimport dlt\n", "%sql\nCREATE VIEW v AS\nSELECT 1", "@dlt.table\ndef é():\n  return 1/0"
    )
    registry, faults = loaded(tmp_path, "orders.ipynb", text)
    assert faults == []
    (table,) = registry.tables.values()
    lines = text.splitlines()
    assert "@dlt.table" in lines[table.location.line - 1] or "def " in lines[table.location.line - 1]
    assert "CREATE VIEW" in lines[registry.views["v"].location.line - 1]
    # On one line, as some programs save it: then the lines of the cells are counted.
    registry, faults = loaded(tmp_path, "flat.ipynb", json.dumps(json.loads(text)))
    assert (faults, len(registry.tables)) == ([], 1)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    {
        "scala": (
            "a.py",
            "# Databricks notebook source\n# MAGIC %scala\n# MAGIC val x = 1\n",
            "NOT_SUPPORTED_LOCALLY  {file}:2\n  `%scala` does not run in a pipeline on this machine\n"
            "  fix: write the cell in Python or SQL, or take it out of the notebook",
        ),
        "no such notebook": (
            "a.py",
            "# Databricks notebook source\n# MAGIC %run ../lib/helpers\n",
            "NOTEBOOK_NOT_FOUND  {file}:2\n  `%run ../lib/helpers`: there is no notebook {folder}/../lib/helpers\n"
            "  fix: write the path relative to this notebook, as in `%run ./helpers`",
        ),
        "an error in a cell": (
            "a.py",
            "# Databricks notebook source\n\n# COMMAND ----------\n\nx = 1 / 0\n",
            "SOURCE_FILE_FAILED  {file}:5\n  ZeroDivisionError: division by zero",
        ),
        "an unknown utility": (
            "a.py",
            "dbutils.jobs.taskValues.get('x')\n",
            "NOT_SUPPORTED_LOCALLY  {file}:1\n  `dbutils.jobs` does not run on this machine\n"
            "  fix: leave it out of the pipeline; what runs of it is fs, library, notebook, secrets, widgets",
        ),
        "a secret": (
            "a.py",
            "dbutils.secrets.get('shop', 'api-key')\n",
            "SECRET_NOT_READABLE  {file}:1\n  the secret shop/api-key of a Databricks workspace is not readable here\n"
            "  fix: set the environment variable DLT_LOCAL_SECRET_SHOP_API_KEY,\n"
            "       or name a JSON file of secrets with --set dlt_local.secrets=FILE: "
            '{{"shop": {{"api-key": "..."}}}}',
        ),
    }.values(),
)
def test_what_does_not_run_is_refused_at_its_line(tmp_path: Path, name: str, text: str, fault: str) -> None:
    _, (error,) = loaded(tmp_path, name, text)
    assert str(error) == fault.format(file=tmp_path / name, folder=tmp_path)


def test_an_error_in_a_module_of_the_project_shows_its_lines(tmp_path: Path) -> None:
    (tmp_path / "shares.py").write_text("def share(total, count):\n    return total / count\n")
    _, (error,) = loaded(tmp_path, "a.py", "import shares\n\nshares.share(1, 0)\n")
    assert str(error) == (
        f"SOURCE_FILE_FAILED  {tmp_path}/a.py:3\n  ZeroDivisionError: division by zero\n"
        f"    {tmp_path}/shares.py:2 in share: return total / count"
    )


UTILITIES = """
dbutils.widgets.text("day", "monday")
dbutils.widgets.dropdown("shop", "none", ["a", "b"], "Shop")
dbutils.fs.put(f"{spark.conf.get('folder')}/in/a.txt", "hello")
dbutils.fs.cp("file:" + spark.conf.get("folder") + "/in", spark.conf.get("folder") + "/out", True)
found = [(each.name, each.size, each.isFile()) for each in dbutils.fs.ls(spark.conf.get("folder") + "/out")]
from pyspark.dbutils import DBUtils
key, other = dbutils.secrets.get("shop", "api-key"), DBUtils(spark).secrets.get("shop", "pin")
display(found)
displayHTML("<b>bold</b>")
values = (dbutils.widgets.get("day"), dbutils.widgets.getAll(), key, other, found)
dbutils.fs.put(f"{spark.conf.get('folder')}/values", repr(values), True)
raise ValueError(key)
"""


def test_utilities_work_on_this_machine_and_secrets_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLT_LOCAL_SECRET_SHOP_API_KEY", "k3y!")
    secrets = tmp_path / "secrets.json"
    secrets.write_text('{"shop": {"pin": "1234", "api-key": "not this one"}}')
    conf = {"folder": str(tmp_path), "shop": "b", "dlt_local.secrets": str(secrets)}
    told: list[str] = []
    file = tmp_path / "source.py"
    file.write_text(UTILITIES)
    registry = Registry("default", cast(SparkSession, SimpleNamespace(conf=Conf(conf))), on_secret=told.append)
    assert len(load([file], registry, None)) == 1
    assert (tmp_path / "values").read_text() == repr(
        ("monday", {"day": "monday", "shop": "b"}, "k3y!", "1234", [("a.txt", 5, True)])
    )
    assert told == ["k3y!", "1234"]
    assert registry.notices == [
        "`display` has no effect locally: a pipeline has no page to show it on",
        "`displayHTML` has no effect locally: a pipeline has no page to show it on",
    ]


def test_a_command_inside_of_a_python_cell_keeps_the_lines_around_it() -> None:
    found = cells(Path("a.ipynb"), jupyter("a = 1\n%pip install x\n!ls\nb = a %2"))
    assert [(cell.language, cell.text) for cell in found] == [
        ("pip", "%pip install x"),
        ("sh", "!ls"),
        ("python", "a = 1\n\n\nb = a %2"),
    ]
    lines = program(found).splitlines()
    assert lines[found[2].line - 1] == "a = 1" and lines[found[2].line + 2] == "b = a %2"


def test_a_cell_of_text_is_no_code() -> None:
    with pytest.raises(DeclarationError, match="NOT_A_NOTEBOOK"):
        cells(Path("a.ipynb"), "[]")
    assert cells(Path("a.py"), "# Databricks notebook source\n# MAGIC %md hello\n") == [Cell("md", "hello\n", 2)]


def found(text: str, name: str = "a.py") -> list[tuple[str, str, int]]:
    return [(cell.language, cell.text.strip(), cell.line) for cell in cells(Path(name), text)]


def test_a_title_or_a_comment_may_stand_above_a_command() -> None:
    head = "# Databricks notebook source\n"
    assert found(head + "# DBTITLE 1,Gold\n# MAGIC %sql\n# MAGIC SELECT 1\n") == [("sql", "SELECT 1", 3)]
    assert found(head + "# of the helpers\n\n# MAGIC %run ./helpers\n") == [("run", "./helpers", 4)]
    assert found(head + "x = 1\n# MAGIC %sql\n") == [("python", "x = 1\n# MAGIC %sql", 2)]
    assert found("-- Databricks notebook source\n-- DBTITLE 1,Names\n-- MAGIC %python\n-- MAGIC x = 1\n", "a.sql") == [
        ("python", "x = 1", 3)
    ]
    assert found(head + "# only a comment\n") == []


def test_a_jupyter_notebook_may_be_in_sql() -> None:
    notebook = json.loads(jupyter("SELECT 1", "%python\nx = 1"))
    notebook["metadata"] = {"application/vnd.databricks.v1+notebook": {"language": "sql"}}
    assert [each[:2] for each in found(json.dumps(notebook), "a.ipynb")] == [("sql", "SELECT 1"), ("python", "x = 1")]


def test_metadata_cells_have_no_effect() -> None:
    head = "# Databricks notebook source\n"
    assert [each[0] for each in found(head + '# MAGIC %environment\n# MAGIC "client": "1"\n')] == ["environment"]
    assert [each[0] for each in found(head + "%restart_python\n")] == ["restart_python"]


def test_settings_of_a_cell_are_those_of_the_notebook(tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text(
        "\ufeff-- Databricks notebook source\nSET own.zone = Asia/Tokyo;\n\n-- COMMAND ----------\n\n-- MAGIC %python\n"
        "-- MAGIC x = 1\n\n-- COMMAND ----------\n\n"
        "CREATE MATERIALIZED VIEW m AS SELECT '${own.zone}' AS zone, '--', 1;\n"
    )
    registry = Registry("default", cast(SparkSession, SimpleNamespace(conf=SimpleNamespace(getAll={}))))
    assert load([file], registry, None) == []
    (flow,) = registry.flows
    assert dict(flow.spark_conf) == {"own.zone": "Asia/Tokyo"}  # type: ignore[union-attr]


def test_a_run_gives_widgets_their_values(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(
        "\ufeff# Databricks notebook source\nenv = dbutils.widgets.get('env')\n"
        "assert dbutils.widgets.getArgument('env', 'dev') == env\n"
        "assert dbutils.widgets.getArgument('no', 'dev') == 'dev'\n"
    )
    file = tmp_path / "a.py"
    file.write_text(
        '# Databricks notebook source\n# MAGIC %run ./helpers $env="prod"\n\n# COMMAND ----------\n\n'
        "import dlt\ndlt.view(name=env)(lambda: None)\ntry:\n    dbutils.widgets.get('env')\nexcept Exception:\n"
        "    dlt.view(name='ended')(lambda: None)\n"
    )
    conf = SimpleNamespace(get=lambda name, default=None: default, getAll={})
    registry = Registry("default", cast(SparkSession, SimpleNamespace(conf=conf)))
    assert load([file], registry, None) == []
    assert list(registry.views) == ["prod", "ended"]
