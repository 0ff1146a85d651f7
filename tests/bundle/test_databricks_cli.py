"""The real Databricks CLI validates and deploys this project, to a workspace of the test's own: `make test-bundle`.

The CLI is the `databricks` on PATH, or the one that DATABRICKS_CLI names. It speaks to this machine only.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.bundle.test_deploy_guide import FILES, NAMES
from tests.bundle.test_project_bundle import CLASSIC, SERVERLESS
from tests.support.fake_workspace import FakeWorkspace, serving

from dlt_local.bundle import BundleError, bundle_pipeline, read_bundle
from dlt_local.bundle.deployment import deployment, shipped_files

pytestmark = pytest.mark.cli

ROOT = Path(__file__).parents[2]
USER = "Ada.L@example.com"
PRODUCTION = {
    "catalog": "main",
    "kafka_bootstrap_servers": "broker:9092",
    "service_principal": "5f0e0a52-6c1c-4f43-8f0a-6f2c1d0f3a11",
    "operators": "shop-operators",
    "alert_email": "shop@example.com",
}
VARIABLES = {"dev": {"catalog": "main"}, "staging": PRODUCTION, "prod": PRODUCTION}


@dataclass
class Cli:
    """The command line in one folder, logged in to one workspace."""

    program: str
    folder: Path
    workspace: FakeWorkspace

    def bundle(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `databricks bundle ...`."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder.parent),
            "DATABRICKS_HOST": self.workspace.url,
            "DATABRICKS_TOKEN": "a-token",
            "DATABRICKS_BUNDLE_ENGINE": "direct",
        }
        given = [part for name, value in variables.items() for part in ("--var", f"{name}={value}")]
        command = [self.program, "bundle", *arguments, *given]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False
        )


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    program = os.environ.get("DATABRICKS_CLI") or shutil.which("databricks")
    if program is None:
        how = "install it (https://docs.databricks.com/dev-tools/cli/install.html) or set DATABRICKS_CLI to its path"
        pytest.fail(f"no Databricks CLI: there is no `databricks` on PATH; {how}")
    folder = tmp_path / "checkout"
    folder.mkdir()
    with serving(FakeWorkspace(USER)) as workspace:
        yield Cli(program, folder, workspace)


@pytest.fixture
def checkout(cli: Cli) -> Cli:
    """A copy of the project, with files that no deployment may take along."""
    for name in ("databricks.yml", ".gitignore", "README.md"):
        shutil.copy(ROOT / name, cli.folder / name)
    for name in ("bundles", "conf", "demo", "notebooks", "pipelines", "tools"):
        shutil.copytree(ROOT / name, cli.folder / name)
    for left in (".env", ".databricks/local/x.json", "pipelines/cdc/__pycache__/x.pyc", "pipelines/notes.txt"):
        file = cli.folder / left
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("local")
    return cli


def is_part(part: Any, whole: Any) -> bool:
    """True if the whole has every value of the part; the command line adds defaults of its own."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and is_part(part[key], whole[key]) for key in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(is_part, part, whole))
    return bool(part == whole)


def plain(json_text: str, schemas: dict[str, Any]) -> Any:
    """What validate prints; names of schemas, which it leaves as references until they exist, are put in."""
    for key, schema in schemas.items():
        json_text = json_text.replace(f"${{resources.schemas.{key}.name}}", schema["name"])
    return json.loads(json_text)


@pytest.mark.parametrize("target", VARIABLES)
def test_validate_shows_what_our_own_reader_renders(checkout: Cli, target: str) -> None:
    ours = deployment(read_bundle(checkout.folder, target, VARIABLES[target], USER))
    shown = checkout.bundle("validate", "--output", "json", "--target", target, **VARIABLES[target])
    assert shown.returncode == 0, shown.stderr
    assert "unknown field" not in shown.stderr
    theirs = plain(shown.stdout, ours["resources"]["schemas"])
    assert theirs["workspace"]["root_path"] == ours["workspace"]["root_path"]
    assert theirs.get("run_as") == ours.get("run_as") or target == "dev"
    for kind, resources in ours["resources"].items():
        assert theirs["resources"][kind].keys() == resources.keys()
        for key, resource in resources.items():
            for field, value in resource.items():
                assert is_part(value, theirs["resources"][kind][key][field]), f"{kind}.{key}.{field}"


@pytest.mark.parametrize("target", VARIABLES)
def test_a_first_deployment_succeeds_and_creates_everything(checkout: Cli, target: str) -> None:
    ours = deployment(read_bundle(checkout.folder, target, VARIABLES[target], USER))["resources"]
    ran = checkout.bundle("deploy", "--target", target, **VARIABLES[target])
    assert ran.returncode == 0, ran.stderr
    workspace = checkout.workspace
    assert workspace.unknown == []
    assert {kind: len(made) for kind, made in workspace.created.items()} == {k: len(v) for k, v in ours.items()}
    pipeline, job = workspace.only("pipelines"), workspace.only("jobs")
    assert pipeline["configuration"] == ours["pipelines"]["shop"]["configuration"]
    assert pipeline["environment"] == ours["pipelines"]["shop"]["environment"]
    assert job["tasks"][0]["pipeline_task"]["pipeline_id"] in workspace.created["pipelines"]
    principal = VARIABLES[target].get("service_principal")
    assert pipeline.get("run_as") == job.get("run_as") == (principal and {"service_principal_name": principal})
    owners = [
        [entry for entry in entries if entry.get("permission_level") == "IS_OWNER"]
        for path, entries in workspace.permissions.items()
        if "/jobs/" in path or "/pipelines/" in path
    ]
    assert [len(each) for each in owners] == ([1, 1] if principal else [])
    granted = {path.rpartition("/")[2] for path in workspace.permissions if "unity-catalog" in path}
    assert granted == ({f"main.{layer}" for layer in ("bronze", "silver", "gold")} if principal else set())


def test_the_pipeline_is_deployed_on_classic_compute(checkout: Cli) -> None:
    file = checkout.folder / "databricks.yml"
    file.write_text(file.read_text().replace(SERVERLESS, CLASSIC))
    refused = checkout.bundle("deploy", "--target", "prod", **PRODUCTION)
    assert "no value assigned to required variable compute_policy" in refused.stderr
    given = {**PRODUCTION, "compute_policy": "0F1E2D3C4B5A6978"}
    ran = checkout.bundle("deploy", "--target", "prod", **given)
    assert ran.returncode == 0, ran.stderr
    assert "unknown field" not in ran.stderr
    ours = deployment(read_bundle(checkout.folder, "prod", given, USER))["resources"]["pipelines"]["shop"]
    theirs = checkout.workspace.only("pipelines")
    assert is_part(ours["clusters"], theirs["clusters"])
    assert (theirs.get("serverless", False), theirs["environment"]) == (False, ours["environment"])


def test_deploying_again_changes_nothing(checkout: Cli) -> None:
    ran = [checkout.bundle("deploy", "--target", "dev", catalog="main") for _ in range(2)]
    assert [each.returncode for each in ran] == [0, 0]
    assert "Files: 0 uploaded, 0 deleted" in ran[1].stderr
    assert "Resources: 0 created, 0 changed, 0 deleted, 6 unchanged" in ran[1].stderr


def test_only_the_listed_folders_are_uploaded(checkout: Cli) -> None:
    assert checkout.bundle("deploy", "--target", "dev", catalog="main").returncode == 0
    root = f"/Workspace/Users/{USER}/.bundle/debezium-dlt/dev/files/"
    uploaded = [path.removeprefix(root) for path in checkout.workspace.files if path.startswith(root)]
    assert sorted(uploaded) == shipped_files(read_bundle(checkout.folder, "dev", {"catalog": "main"}))


@pytest.mark.parametrize("missing", PRODUCTION)
def test_a_deployment_without_a_variable_says_which(checkout: Cli, missing: str) -> None:
    given = {name: value for name, value in PRODUCTION.items() if name != missing}
    ran = checkout.bundle("deploy", "--target", "prod", **given)
    assert ran.returncode != 0
    assert f"no value assigned to required variable {missing}" in ran.stderr
    assert checkout.workspace.created == {}


def test_the_local_target_is_not_deployed(checkout: Cli) -> None:
    ran = checkout.bundle("deploy", "--target", "local")
    assert ran.returncode != 0
    assert "the-target-local-is-not-deployed" in ran.stderr
    assert checkout.workspace.files == {}


@pytest.mark.parametrize(("path", "text"), FILES, ids=NAMES)
def test_a_file_of_the_deployment_guide_is_valid(checkout: Cli, path: str, text: str) -> None:
    (checkout.folder / path).write_text(text)
    ran = checkout.bundle("validate", "--target", "prod", **PRODUCTION)
    assert ran.returncode == 0, ran.stderr
    assert "unknown field" not in ran.stderr


HEAD = "bundle: {name: small}\ntargets: {dev: {default: true}}\n"
SHOP = "resources:\n  pipelines:\n    shop:\n      name: shop\n      libraries: [{glob: {include: src/**}}]\n"
REFUSED = {
    "one key for two kinds": (HEAD + SHOP + "  jobs: {shop: {name: shop}}\n", "DUPLICATE_RESOURCE_KEY", "same key"),
    "a dot in a package's name": (
        HEAD + SHOP + "      environment: {dependencies: [ruamel.yaml==0.19.1]}\n",
        "NOT_A_PACKAGE",
        "ruamel.yaml==0.19.1",
    ),
    "a variable without a value": (HEAD + SHOP + "variables: {x: {}}\n", "VARIABLE_NOT_SET", "required variable x"),
    "development in production": (
        HEAD.replace("default: true", "mode: production") + SHOP + "      development: true\n",
        "DEVELOPMENT_IN_PRODUCTION",
        "cannot include a pipeline with 'development: true'",
    ),
}


@pytest.mark.parametrize(("text", "condition", "said"), REFUSED.values(), ids=REFUSED)
def test_both_refuse_the_same_bundles(cli: Cli, text: str, condition: str, said: str) -> None:
    (cli.folder / "databricks.yml").write_text(text)
    (cli.folder / "src").mkdir()
    (cli.folder / "src" / "tables.py").touch()
    with pytest.raises(BundleError, match=condition):
        bundle_pipeline(read_bundle(cli.folder))
    ran = cli.bundle("deploy")
    assert ran.returncode != 0
    assert said in ran.stderr
