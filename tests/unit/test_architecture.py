"""The house rules that a machine can check: who may import whom, and what no file may hold."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools import file_list

from dlt_local.failpoints import POINTS

ROOT = Path(__file__).parents[2]
PIPELINES = ROOT / "pipelines"
LAYERS = ("bronze", "silver", "gold")
ENGINE = PIPELINES / "dlt_local"
# The engine's folders, top to bottom: each imports only from those below it, and from the modules at the root.
ENGINE_LAYERS = (
    "cli",
    "updates",
    "observability",
    "flows",
    "graph",
    "auto_loader",
    "auto_cdc",
    "delta",
    "declarations",
    "spark",
    "bundle",
)
ENGINE_ROOT = ("conditions", "errors", "failpoints", "names", "version")
# Entry points: what users import or start. They may import every layer; no layer imports them.
ENGINE_ENTRIES = ("__init__", "__main__", "testing")

# Dependencies run one way: bronze, silver, gold -> cdc -> pyspark; dlt_local -> pyspark; nobody else's.
MAY_IMPORT = {
    **{layer: {"cdc", "dlt", "pyspark"} for layer in LAYERS},
    "cdc": {"cdc", "pyspark", "yaml", "jsonschema", "referencing", "click"},
    "dlt_local": {
        "dlt_local",
        "pyspark",
        "py4j",
        "delta",
        "deltalake",
        "ruamel",
        "click",
        "rich",
        "jinja2",
        "markupsafe",
        "pyarrow",
        "pytest",
        "chispa",
    },
}
# A pipeline of cdc's is declared in bronze, silver and gold only; and the command line does not ship.
NOT_IN_CDC = {"pyspark.pipelines", "delta", "dlt"}
COMMAND_LINE = {
    "cdc/__main__.py",
    "cdc/connector_check/command.py",
    "cdc/interop/command.py",
    "cdc/plan/command.py",
    "cdc/spec/check_command.py",
    "cdc/spec/commands.py",
    "cdc/spec/scaffold_command.py",
    "cdc/spec/schemas_option.py",
    "cdc/spec/show_command.py",
}
# What `python -m cdc` needs on a developer's machine and a run on Databricks does not have.
DEVELOPMENT_ONLY = {
    "confluent_kafka": {"cdc/spec/check_command.py"},
    "sqlglot": {"cdc/spec/sql_check.py"},
}


def files_of_the_project() -> Iterator[Path]:
    """Every file that is, or could be, committed."""
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().split()} | {".git"}
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if path.is_file() and not ignored.intersection(parts) and path.suffix != ".pyc":
            yield path


def sources(package: str) -> list[Path]:
    return sorted((PIPELINES / package).rglob("*.py"))


def imported(file: Path) -> set[str]:
    """Full names of all that a file imports, inside functions too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_it_may(package: str) -> None:
    assert sources(package)
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in sources(package)
        for name in imported(file)
        if name.partition(".")[0] not in MAY_IMPORT[package] | sys.stdlib_module_names
        and str(file.relative_to(PIPELINES)) not in DEVELOPMENT_ONLY.get(name.partition(".")[0], ())
    ]
    assert wrong == []


def engine_imports(file: Path) -> set[str]:
    """The engine's folders and root modules that a file imports."""
    return {name.split(".")[1] for name in imported(file) if name.startswith("dlt_local.") and name.count(".") >= 1}


def test_every_engine_module_has_its_layer() -> None:
    entries = {path.stem for path in ENGINE.iterdir() if path.name != "__pycache__"}
    assert entries == {*ENGINE_LAYERS, *ENGINE_ROOT, *ENGINE_ENTRIES}


@pytest.mark.parametrize("layer", [*ENGINE_LAYERS, *ENGINE_ROOT])
def test_an_engine_layer_imports_only_from_those_below(layer: str) -> None:
    if layer in ENGINE_ROOT:
        files, below = [ENGINE / f"{layer}.py"], set(ENGINE_ROOT)
    else:
        files = sorted((ENGINE / layer).rglob("*.py"))
        below = {*ENGINE_LAYERS[ENGINE_LAYERS.index(layer) :], *ENGINE_ROOT}
    assert files
    wrong = [f"{file.relative_to(ENGINE)} imports {name}" for file in files for name in engine_imports(file) - below]
    assert wrong == []


def test_cdc_knows_nothing_of_pipelines() -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in sources("cdc")
        for name in imported(file)
        if any(name == banned or name.startswith(f"{banned}.") for banned in NOT_IN_CDC)
    ]
    assert wrong == []


def test_what_ships_needs_no_command_line() -> None:
    users = {str(file.relative_to(PIPELINES)) for file in sources("cdc") if "click" in imported(file)}
    assert users <= COMMAND_LINE
    readers = [file for file in sources("cdc") if "cdc.spec.commands" in imported(file)]
    assert {str(file.relative_to(PIPELINES)) for file in readers} <= COMMAND_LINE


def test_relative_imports_are_not_used() -> None:
    files = [file for package in MAY_IMPORT for file in sources(package)]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    assert not [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level]


def test_nothing_on_the_root_path_shadows_dlt() -> None:
    assert [path for path in PIPELINES.iterdir() if path.stem == "dlt"] == []


def test_pipeline_files_do_not_ask_where_they_run() -> None:
    files = [file for layer in LAYERS for file in sources(layer)]
    assert [file for file in files if re.search(r"\bif\b.*\blocal|dlt_local|\btry:", file.read_text())] == []


def test_pipeline_files_fit_on_a_screen() -> None:
    files = [file for layer in LAYERS for file in sources(layer)]
    assert {file.name: len(file.read_text().splitlines()) for file in files if file.read_text().count("\n") > 60} == {}


def test_every_file_says_what_it_is() -> None:
    assert [name for name, line in file_list.described_files() if not line] == []


def test_the_file_lists_of_the_architecture_are_current() -> None:
    page = file_list.PAGE.read_text(encoding="utf-8")
    assert page == file_list.page_with_files(page), "run: python -m tools.file_list"


def test_every_path_in_the_architecture_exists() -> None:
    paths = re.findall(r"`([\w.-]+/[\w./-]+)`", (ROOT / "ARCHITECTURE.md").read_text().partition(file_list.START)[0])
    roots = (ROOT, ENGINE, PIPELINES / "cdc", PIPELINES)
    assert paths
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


# Written in parts, so that this file does not hold them.
BANNED = {
    "a note of unfinished work": r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b",
    "a package registry": r"(?i)(https?://[^\s'\"]*(pypi|pythonhosted|maven|artifactory|nexus)|index[-_]url)",
    "a machine's own path": r"(?<![\w.])/(root|home/\w+|work)/",
}


@pytest.mark.parametrize("what", BANNED)
def test_no_file_holds(what: str) -> None:
    found = []
    for file in files_of_the_project():
        text = file.read_bytes().decode("utf-8", errors="replace")
        if file != Path(__file__) and (match := re.search(BANNED[what], text)):
            found.append(f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} {match[0]}")
    assert found == []


def test_every_point_at_which_a_test_may_kill_an_update_is_passed_somewhere() -> None:
    engine = "".join(file.read_text() for file in (ROOT / "pipelines" / "dlt_local").rglob("*.py"))
    assert [point for point in POINTS if f'failpoints.reach("{point}")' not in engine] == []
