"""sdp-meta is in the guide only: its block adds to the target `dev`, and nothing here needs or contains the package."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from dlt_local.bundle import Bundle, read_bundle
from dlt_local.bundle.deployment import deployment

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/sdp-meta.md").read_text(encoding="utf-8")
((PATH, BLOCK),) = re.findall(r"```yaml\n# (\S+)\n(.*?)```", GUIDE, re.DOTALL)
VARIABLES = {"catalog": "main", "service_principal": "x", "operators": "x", "alert_email": "x"}


def read(folder: Path, target: str) -> Bundle:
    shutil.copy(ROOT / "databricks.yml", folder)
    for name in ("bundles", "notebooks"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    (folder / "pipelines").mkdir(exist_ok=True)
    (folder / PATH).write_text(BLOCK, encoding="utf-8")
    return read_bundle(folder, target, {**VARIABLES, "kafka_bootstrap_servers": "kafka:9092"}, "ada@example.com")


@pytest.mark.parametrize("target", ["local", "dev", "staging", "prod"])
def test_the_block_of_the_guide_is_in_one_target(tmp_path: Path, target: str) -> None:
    bundle = read(tmp_path, target)
    assert ("sdp_meta" in bundle.pipelines) == (target == "dev")
    assert ("sdp-meta" in str(bundle.root)) == (target == "dev")


def test_the_pipelines_versions_are_those_of_the_bundle() -> None:
    dev = deployment(read_bundle(ROOT, "dev", {"catalog": "main"}))
    ours = dev["resources"]["pipelines"]["shop"]["environment"]
    block = yaml.safe_load(BLOCK)["targets"]["dev"]["resources"]["pipelines"]["sdp_meta"]["environment"]
    assert block["environment_version"] == ours["environment_version"]
    assert block["dependencies"][1:] == ours["dependencies"]


def test_the_package_is_required_installed_and_imported_nowhere() -> None:
    required = [*ROOT.glob("requirements*.txt"), ROOT / "pyproject.toml", ROOT / "Makefile", ROOT / "databricks.yml"]
    files = [*required, *ROOT.glob("bundles/**/*.yml"), *ROOT.glob(".ci/*"), *ROOT.glob("tools/*.sh")]
    assert [file for file in files if re.search(r"(sdp|dlt)[-_]meta", file.read_text(encoding="utf-8"))] == []
    imports = re.compile(r"^\s*(from|import) (databricks|src|dlt_meta|sdp_meta)\b", re.MULTILINE)
    code = [path for folder in ("pipelines", "tests", "tools", "demo") for path in (ROOT / folder).rglob("*.py")]
    assert [file for file in code if imports.search(file.read_text(encoding="utf-8"))] == []
