"""The wheel in an environment of its own, outside of this checkout: a new project, its tests, a run."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/engine/install.md"
SHIPPED = ("pyproject.toml", "README.md", "LICENSE", "pipelines/cdc", "pipelines/dlt_local", "pipelines/bronze")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, because a build leaves folders behind. pip fetches the build backend."""
    copy = tmp_path_factory.mktemp("source")
    for name in SHIPPED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist", "."], copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel, and with the dependencies that this one has."""
    environment = tmp_path_factory.mktemp("environment")
    run([sys.executable, "-m", "venv", "--without-pip", str(environment)], environment)
    python = environment / "bin" / "python"
    install = ["--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    run([sys.executable, "-m", "pip", *install], environment)
    # A folder that a .pth file names is searched, but its own .pth files, of which one names this checkout, are not.
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return environment / "bin"


def run(command: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTEST_CURRENT_TEST")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def test_the_wheel_has_the_two_packages_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
        metadata = archive.read("debezium_dlt-0.1.0.dist-info/METADATA").decode()
    assert {name.partition("/")[0] for name in files} == {"cdc", "dlt_local", "debezium_dlt-0.1.0.dist-info"}
    for package in ("cdc", "dlt_local"):
        folder = ROOT / "pipelines" / package
        kept = {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        assert {str(path.relative_to(ROOT / "pipelines")) for path in kept} <= files
    assert "License-Expression: Apache-2.0" in metadata and "Requires-Dist: pyspark==4.2.0" in metadata
    requirements = (ROOT / "requirements.txt").read_text()
    pins = re.findall(r"^Requires-Dist: ((?:pyspark|delta-spark)==\S+)$", metadata, re.MULTILINE)
    assert len(pins) == 2 and set(pins) <= set(requirements.splitlines())


def test_a_new_project_passes_its_tests_and_runs(programs: Path, tmp_path: Path) -> None:
    documented = re.findall(r"^\$ (dlt-local init.*|cd .*|pytest|dlt-local run)$", PAGE.read_text(), re.MULTILINE)
    assert documented == ["dlt-local init shop", "cd shop", "pytest", "dlt-local run"]
    command = str(programs / "dlt-local")
    assert run([command, "--version"], tmp_path).stdout == "dlt-local 0.1.0\n"
    assert run([str(programs / "cdc"), "--version"], tmp_path).stdout == "cdc 0.1.0\n"
    run([command, "init", "shop"], tmp_path)
    project = tmp_path / "shop"
    tested = run([str(programs / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"], project)
    assert tested.stdout.splitlines()[-1].startswith("2 passed")

    ran = run([command, "run", "--quiet", "--format", "json"], project)
    document = json.loads(ran.stdout)
    # Nothing of Java's and nothing of Spark's either.
    assert ran.stderr == ""
    assert document["state"] == "COMPLETED"
    assert {each["name"]: each["rows"] for each in document["datasets"]} == {
        "shop.orders_raw": 3,
        "shop.orders": 2,
        "shop.orders_by_country": 2,
    }
    assert Path(document["tables"], "shop", "orders", "_delta_log").is_dir() and Path(document["report"]).is_file()
    graph = json.loads(run([command, "graph", "--last", "--format", "json"], project).stdout)
    assert [each["inputs"] for each in graph["datasets"]] == [[], ["shop.orders_raw"], ["shop.orders"]]
    assert "is COMPLETED." in run([command, "events"], project).stdout


def test_completion_is_that_of_click(programs: Path, tmp_path: Path) -> None:
    asked = ["env", "_DLT_LOCAL_COMPLETE=bash_complete", "COMP_WORDS=dlt-local ev", "COMP_CWORD=1"]
    assert run([*asked, str(programs / "dlt-local")], tmp_path).stdout == "plain,events\n"
