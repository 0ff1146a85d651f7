"""The projects in docs/engine run as printed, with one of the two imports in turn."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/engine").glob("*.md"))
IMPORTS = {"pyspark": "from pyspark import pipelines as dp", "dlt": "import dlt as dp"}
_FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SHELL = re.compile(r"^```shell\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def files(page: Path) -> dict[str, str]:
    """Return file name -> content of the project on a page."""
    return dict(_FILE.findall(page.read_text()))


def write(page: Path, folder: Path, spelling: str = "pyspark") -> Path:
    for name, text in files(page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace(IMPORTS["pyspark"], IMPORTS[spelling]))
    return folder


def run(command: list[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines"), "COLUMNS": "200"}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{shlex.join(command)}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], str]]:
    """Yield (page, import) -> "PASSED" or the test output; all pages run in one process to share one Spark."""
    folder = tmp_path_factory.mktemp("docs")
    for page in PAGES:
        if page.stem in TESTED:
            # Files with the same name in two folders are separate modules only if the folder names differ.
            spelling = _spelling(page.stem)
            write(page, folder / f"{page.stem}-{spelling}", spelling)
            (folder / f"{page.stem}-{spelling}/conftest.py").unlink(missing_ok=True)
    options = ["-p", "dlt_local.testing", "-p", "no:cacheprovider", "--import-mode=importlib", "-rA", "-q"]
    command = [sys.executable, "-m", "pytest", *options, "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    lines = re.findall(r"^(PASSED|FAILED|ERROR) ([\w-]+)-(pyspark|dlt)/", result.stdout, re.MULTILINE)
    statuses: dict[tuple[str, str], set[str]] = {}
    for status, page, spelling in lines:
        statuses.setdefault((page, spelling), set()).add(status)
    yield {key: "PASSED" if each == {"PASSED"} else result.stdout for key, each in statuses.items()}


TESTED = [page.stem for page in PAGES if any(name.startswith("test_") for name in files(page))]


def _spelling(page: str) -> str:
    return list(IMPORTS)[TESTED.index(page) % len(IMPORTS)]


@pytest.mark.parametrize("page", TESTED)
def test_a_page_is_a_project_whose_tests_pass(page: str, outcome: dict[tuple[str, str], str]) -> None:
    assert outcome.get((page, _spelling(page)), "not run") == "PASSED"


def test_every_page_is_linked_from_the_index() -> None:
    index = (ROOT / "docs/engine/README.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index] == []


@pytest.mark.long
def test_the_commands_on_the_running_page_run(tmp_path: Path) -> None:
    page = ROOT / "docs/engine/running.md"
    write(page, tmp_path)
    commands = [shlex.split(line) for block in _SHELL.findall(page.read_text()) for line in block.splitlines()]
    assert len(commands) == 5
    outputs = [run([sys.executable, *words[1:]], tmp_path) for words in commands]
    assert outputs[0] == "2 datasets, no faults\n"
    assert "report: " in outputs[1] and "update COMPLETED" in outputs[1]
    assert "default.total" in outputs[2] and "is COMPLETED." in outputs[4]
    assert '"by":"kind","rows":{"even":1,"odd":1}' in (tmp_path / "data/system/report/index.html").read_text()


def test_the_prompt_offers_spark_the_pipeline_and_its_tables(tmp_path: Path) -> None:
    write(ROOT / "docs/engine/running.md", tmp_path)
    command = [sys.executable, "-m", "dlt_local", "shell", "--source", "figures.py", "--storage", "data"]
    lines = 'print(tables)\nrun().state\nprint(tables)\ntables.default.total.count()\nshow("total")\ntables.defualt\n'
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    result = subprocess.run(
        [*command, "--set", "landing.numbers=landing"],
        cwd=tmp_path,
        env=environment,
        input=lines,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "no table yet" in result.stdout and "'COMPLETED'" in result.stdout
    assert "default.numbers\ndefault.total\n" in result.stdout
    assert "|even|2    |" in result.stdout
    assert "did you mean `default`" in result.stderr
