"""The demo in a clone: what it prints, what it writes, and what it leaves unchanged."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from demo import shop
from demo.__main__ import main
from tests.support.shop_model import golden
from tests.support.shop_pipeline import StagedShop, difference, published

_PARTS = ("conf", "demo", "pipelines", "tools")


@dataclass(frozen=True)
class Played:
    """A demo run in a copy of the checkout, with a pipe as its standard output."""

    checkout: Path
    before: frozenset[Path]
    """The copy's files and folders before the run."""
    temporary: Path
    status: int
    output: str
    errors: str


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The demo, run in a copy of the checkout and a temporary folder of its own."""
    folder = tmp_path_factory.mktemp("demo")
    checkout, temporary = folder / "checkout", folder / "tmp"
    for part in _PARTS:
        shutil.copytree(shop.CHECKOUT / part, checkout / part, ignore=shutil.ignore_patterns("__pycache__"))
    temporary.mkdir()
    before = _entries(checkout)
    environment = {"PYTHONPATH": str(checkout / "pipelines"), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary)}
    run = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=checkout,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return Played(checkout, before, temporary, run.returncode, run.stdout, run.stderr)


def test_it_succeeds(played: Played) -> None:
    assert played.status == 0, played.errors
    assert played.output.count("update COMPLETED in") == 3


def test_it_shows_where_every_record_went(played: Played) -> None:
    assert played.output.count(" holds") == 3 * 5
    assert "DOES NOT HOLD" not in played.output
    assert "tombstone: 11" in played.output


def test_it_shows_orders_one_history_and_the_rejects(played: Played) -> None:
    lines = [line.split() for line in played.output.splitlines()]
    for order in golden("4-damaged", "orders"):
        wanted = [str(order["order_id"]), str(order["customer_id"]), *order["status"].split()]
        assert any(line[: len(wanted)] == wanted for line in lines), order
    assert "2026-03-02 08:12:03" in played.output
    assert "still valid" in played.output
    # In a table a space follows; what the updates say of source drift names records in parentheses.
    assert len(re.findall(r"shopserver\.shop\.dbo\.orders\[0\]@11\d* ", played.output)) == 9
    assert len(re.findall(r"shopserver\.shop\.dbo\.customers\[0\]@2\d* ", played.output)) == 4


def test_its_tables_fit_a_terminal_of_100_columns(played: Played) -> None:
    # Only paths, commands to copy, and what became of the records are longer.
    long = [line for line in played.output.splitlines() if len(line.rstrip()) > 100]
    assert all(str(played.checkout) in line or ".databricks" in line or " new row" in line for line in long), long


def test_three_updates_give_the_same_as_one_for_each_capture(played: Played, staged_shop: StagedShop) -> None:
    assert not difference(staged_shop.tables, published(played.checkout / ".databricks" / "demo"))


def test_it_writes_into_its_storage_only(played: Played) -> None:
    new = {path.relative_to(played.checkout) for path in _entries(played.checkout) - played.before}
    storage = Path(".databricks") / "demo"
    assert {path for path in new if not path.is_relative_to(storage)} == {storage.parent}


def test_a_folder_with_other_things_in_it_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    result = CliRunner().invoke(main, ["--storage", str(tmp_path)])
    assert result.exit_code == 1
    assert "thesis.txt" in result.output
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_broker_starts_empty_and_so_must_the_tables() -> None:
    result = CliRunner().invoke(main, ["--kafka", "--keep"])
    assert result.exit_code == 2
    assert "do not go together" in result.output


def _entries(folder: Path) -> frozenset[Path]:
    return frozenset(folder.rglob("*"))
