"""docs/guides/operate.md: its commands and files on a copy of the shop's storage, its queries on the shop's tables."""

import shutil
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from demo import notebook
from tests.support.guides import ROOT, blocks, commands, files
from tests.support.shop_model import STAGES
from tests.support.shop_pipeline import StagedShop

from cdc import load_connectors, load_tables
from cdc.__main__ import cdc
from dlt_local.cli.main import main as engine

GUIDE = "operate.md"
NOW = "TIMESTAMP'2026-03-10 12:00:00Z'"
"""The moment at which the shop's last records are some hours old."""


@dataclass(frozen=True)
class Operator:
    """Someone who types what the guide says, for a shop that has no table of products yet."""

    folder: Path
    whole: Path
    """The storage with all of its tables."""

    @property
    def places(self) -> dict[str, str]:
        """Place in the guide -> place in the test."""
        return {f"/{name}": str(self.folder / name) for name in ("storage", "backup", "captures")}

    def type(self, text: str) -> str:
        """Run a command and return what it printed."""
        words = [self.places.get(word, word) for word in text.split()]
        if words[0] == "cp":
            shutil.copytree(self.whole, words[3])
            return ""
        with chdir(self.folder):
            command = {"cdc": cdc, "dlt_local": engine}[words[2]]
            ran = CliRunner().invoke(command, words[3:], catch_exceptions=False)
        assert ran.exit_code == 0, f"{text}\n{ran.output}"
        return ran.output


@pytest.fixture
def operator(staged_shop: StagedShop, tmp_path: Path) -> Operator:
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    (tmp_path / "conf/tables/shop/products.yml").unlink()
    (tmp_path / "captures").mkdir()
    shutil.copy(ROOT / "demo/captures/1-snapshot.jsonl", tmp_path / "captures")
    shutil.copytree(staged_shop.shop.storage, tmp_path / "storage")
    for folder in (tmp_path / "storage").rglob("products*"):
        shutil.rmtree(folder, ignore_errors=True)
    return Operator(tmp_path, staged_shop.shop.storage)


def test_its_commands_do_what_it_says(operator: Operator) -> None:
    runnable = [command.text for command in commands(GUIDE) if not command.needs]
    scaffold, check, plan, check_again, plan_again, copy, doctor = runnable
    assert "products.yml" in operator.type(scaffold)
    assert "no faults" in operator.type(check)
    assert "products: new" in operator.type(plan)
    path, text = next(iter(files(GUIDE).items()))
    (operator.folder / path).write_text(text, encoding="utf-8")
    assert len(load_connectors(operator.folder / "conf")[0].restored_at) == 1
    assert "no faults" in operator.type(check_again)
    assert operator.type(plan_again) == operator.type(plan)
    operator.type(copy)
    assert operator.type(doctor)


def test_the_other_files_that_it_shows_are_valid(operator: Operator) -> None:
    for path, text in files(GUIDE).items():
        (operator.folder / path).write_text(text, encoding="utf-8")
    assert {table.tombstone_retention_seconds for table in load_tables(operator.folder / "conf")} == {7 * 86_400}
    assert "need a rebuild" not in operator.type("python -m cdc plan conf --storage /storage")


def test_its_queries_find_what_they_are_for(staged_shop: StagedShop) -> None:
    queries = [query.replace("current_timestamp()", NOW) for query in blocks(GUIDE, "sql")]
    storage = staged_shop.shop.storage
    with notebook.tables_of(storage, staged_shop.shop.spark) as spark:
        spark.read.format("delta").load(str(storage / "system/event_log")).createOrReplaceTempView("event_log")
        lag, parts, rejects, expectations, failures = (spark.sql(query).collect() for query in queries)
    assert 0 < lag[0].minutes < 24 * 60
    assert parts[0].connector_seconds is not None and parts[0].pipeline_seconds > 0
    assert sum(row.rejects for row in rejects) == staged_shop.counts[STAGES[-1]]["orders"].rejects
    assert "no field unknown to the spec" not in {row.name for row in expectations}
    assert failures == []
