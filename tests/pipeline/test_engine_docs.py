"""The projects of docs/engine are run as they stand there, once with each import."""

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
    """File -> content, of the project that a page shows."""
    return dict(_FILE.findall(page.read_text()))


def write(page: Path, folder: Path, spelling: str = "pyspark") -> Path:
    for name, text in files(page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace(IMPORTS["pyspark"], IMPORTS[spelling]))
    return folder


def run(command: list[str], folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines"), "COLUMNS": "200"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], str]]:
    """(page, import) -> what became of its tests; all are run in one process, for the sake of one Spark."""
    folder = tmp_path_factory.mktemp("docs")
    for page in PAGES:
        for spelling in IMPORTS if any(name.startswith("test_") for name in files(page)) else ():
            # Files of one name in two folders are two modules only in packages of different names.
            write(page, folder / f"{page.stem}-{spelling}", spelling)
            (folder / f"{page.stem}-{spelling}/conftest.py").unlink(missing_ok=True)
    options = ["-p", "dlt_local.testing", "-p", "no:cacheprovider", "--import-mode=importlib", "-rA", "-q"]
    command = [sys.executable, "-m", "pytest", *options, "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    told = re.findall(r"^(PASSED|FAILED|ERROR) ([\w-]+)-(pyspark|dlt)/", done.stdout, re.MULTILINE)
    found: dict[tuple[str, str], str] = {}
    for result, page, spelling in told:
        found[page, spelling] = result if found.get((page, spelling), "PASSED") == "PASSED" else "FAILED"
    yield {key: value if value == "PASSED" else done.stdout for key, value in found.items()}


TESTED = [page.stem for page in PAGES if any(name.startswith("test_") for name in files(page))]


@pytest.mark.parametrize("spelling", IMPORTS)
@pytest.mark.parametrize("page", TESTED)
def test_a_page_is_a_project_whose_tests_pass(page: str, spelling: str, outcome: dict[tuple[str, str], str]) -> None:
    assert outcome.get((page, spelling), "it was not run") == "PASSED"


def test_every_page_is_named_on_the_first() -> None:
    first = (ROOT / "docs/engine/README.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in first] == []


@pytest.mark.long
def test_the_commands_on_the_page_about_running_run(tmp_path: Path) -> None:
    page = ROOT / "docs/engine/running.md"
    write(page, tmp_path)
    commands = [shlex.split(line) for block in _SHELL.findall(page.read_text()) for line in block.splitlines()]
    assert len(commands) == 5
    said = [run([sys.executable, *words[1:]], tmp_path) for words in commands]
    assert said[0] == "2 datasets, no faults\n"
    assert "report: " in said[1] and "update COMPLETED" in said[1]
    assert "default.total" in said[2] and "is COMPLETED." in said[4]
    assert "default.numbers by kind" in (tmp_path / "data/system/report/index.html").read_text()


def test_the_prompt_has_everything_at_hand(tmp_path: Path) -> None:
    write(ROOT / "docs/engine/running.md", tmp_path)
    command = [sys.executable, "-m", "dlt_local", "shell", "--source", "figures.py", "--storage", "data"]
    typed = 'print(tables)\nrun().state\nprint(tables)\ntables.default.total.count()\nshow("total")\ntables.defualt\n'
    environment = os.environ | {"PYTHONPATH": str(ROOT / "pipelines")}
    done = subprocess.run(
        [*command, "--set", "landing.numbers=landing"],
        cwd=tmp_path,
        env=environment,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "no table yet" in done.stdout and "'COMPLETED'" in done.stdout
    assert "default.numbers\ndefault.total\n" in done.stdout
    assert "|even|2    |" in done.stdout
    assert "did you mean `default`" in done.stderr
