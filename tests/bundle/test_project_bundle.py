"""This project's own bundle: each target deploys the files of this repository, holds no secret and names no one."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tools.render_bundle import main, rendered

from dlt_local.bundle import Bundle, BundleError, BundlePipeline, bundle_pipeline, read_bundle
from dlt_local.bundle.deployment import deployment, shipped_files
from dlt_local.declarations.source_files import source_files

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(path for path in (ROOT / "bundles").rglob("*") if path.is_file())
IN_PRODUCTION = {
    "catalog": "main",
    "kafka_bootstrap_servers": "broker.example.com:9093",
    "service_principal": "5f0e0a52-6c1c-4f43-8f0a-6f2c1d0f3a11",
    "operators": "shop-operators",
    "alert_email": "shop@example.com",
}
VARIABLES = {"local": {}, "dev": {"catalog": "main"}, "staging": IN_PRODUCTION, "prod": IN_PRODUCTION}
DEPLOYED = ("dev", "staging", "prod")
SERVERLESS, CLASSIC = "  - bundles/serverless.yml\n", "  - bundles/classic.yml\n"
"""The line of databricks.yml that chooses the pipeline's compute."""


@pytest.fixture(params=VARIABLES)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    return read_bundle(ROOT, request.param, VARIABLES[request.param])


@pytest.fixture
def pipeline(bundle: Bundle) -> BundlePipeline:
    return bundle_pipeline(bundle)


def configuration(target: str) -> dict[str, str]:
    return dict(bundle_pipeline(read_bundle(ROOT, target, VARIABLES[target])).configuration)


def test_the_engine_runs_the_local_target_and_the_command_line_deploys_dev() -> None:
    assert read_bundle(ROOT).target == "local"
    targets = [yaml.safe_load(file.read_text())["targets"] for file in (ROOT / "bundles/targets").glob("*.yml")]
    assert [name for each in targets for name, target in each.items() if target.get("default")] == ["dev"]
    modes = {target: read_bundle(ROOT, target, VARIABLES[target]).mode for target in VARIABLES}
    assert modes == {"local": None, "dev": "development", "staging": "production", "prod": "production"}


@pytest.mark.parametrize("target", DEPLOYED)
def test_what_a_deployment_creates_is_as_reviewed(target: str) -> None:
    found = yaml.safe_load(rendered(target, VARIABLES[target], "ada@example.com"))
    given = " ".join(f"--var {name}={value}" for name, value in VARIABLES[target].items())
    command = f"python -m tools.render_bundle --target {target} --deployer ada@example.com {given}"
    del found["files"]
    file = GOLDEN / f"{target}.yml"
    assert found == yaml.safe_load(file.read_text()), f"if this is meant: {command} | sed /^files:/,\\$d >{file}"


def classic_bundle(folder: Path) -> Path:
    """A copy of the bundle that runs on classic compute, with the folders that it names."""
    text = (ROOT / "databricks.yml").read_text()
    assert text.count(SERVERLESS) == 1
    (folder / "databricks.yml").write_text(text.replace(SERVERLESS, CLASSIC))
    shutil.copytree(ROOT / "bundles", folder / "bundles")
    (folder / "pipelines").mkdir()
    return folder


def test_on_classic_compute_only_the_cluster_is_another(tmp_path: Path) -> None:
    folder = classic_bundle(tmp_path)
    given = {**IN_PRODUCTION, "compute_policy": "0F1E2D3C4B5A6978"}
    found = deployment(read_bundle(folder, "prod", given, "ada@example.com"))
    golden = yaml.safe_load((GOLDEN / "prod-classic.yml").read_text())
    assert found["resources"]["pipelines"]["shop"] == golden
    serverless = deployment(read_bundle(ROOT, "prod", IN_PRODUCTION, "ada@example.com"))
    del found["resources"]["pipelines"], serverless["resources"]["pipelines"]
    assert found == serverless


@pytest.mark.parametrize("target", DEPLOYED)
def test_classic_compute_needs_a_policy(tmp_path: Path, target: str) -> None:
    with pytest.raises(BundleError) as refused:
        read_bundle(classic_bundle(tmp_path), target, VARIABLES[target])
    (fault,) = refused.value.faults
    assert "variable `compute_policy` has no value and no default" in str(fault)
    assert bundle_pipeline(read_bundle(tmp_path)).configuration["cdc.connector"] == "shop"


def test_only_the_id_of_the_pipeline_is_resolved_in_the_workspace(bundle: Bundle) -> None:
    texts = [value.content for value in bundle.root.walk() if isinstance(value.content, str)]
    assert [text for text in texts if "${" in text] == ["${resources.pipelines.shop.id}"]


def test_the_globs_match_every_pipeline_file_and_no_other(pipeline: BundlePipeline) -> None:
    declared = [path for layer in ("bronze", "silver", "gold") for path in (ROOT / "pipelines" / layer).rglob("*.py")]
    assert sorted(source_files(pipeline.sources)) == sorted(declared) != []


def test_paths_of_the_configuration_exist(pipeline: BundlePipeline) -> None:
    assert pipeline.root_path == ROOT / "pipelines"
    assert (Path(pipeline.configuration["cdc.conf"]) / "connectors" / "shop.yml").is_file()


def test_captures_are_read_from_this_machine_or_a_volume_and_kafka_in_production() -> None:
    assert configuration("local")["cdc.source"] == f"capture:{ROOT}/demo/captures"
    assert list((ROOT / "demo/captures").glob("*.jsonl"))
    dev = read_bundle(ROOT, "dev", VARIABLES["dev"], "ada@example.com")
    volume = dev.root.find("resources", "volumes", "captures")
    assert volume is not None
    path = "/".join(volume.fields[part].text for part in ("catalog_name", "schema_name", "name"))
    assert bundle_pipeline(dev).configuration["cdc.source"] == f"capture:/Volumes/{path}"
    assert path == "main/dev_ada_bronze/captures"
    assert configuration("staging")["cdc.source"] == configuration("prod")["cdc.source"] == "kafka"


def test_databricks_installs_the_packages_that_requirements_txt_marks_as_shipped(pipeline: BundlePipeline) -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    ships = [line.split()[0] for line in lines if "# [ships]" in line]
    assert list(pipeline.dependencies) == ships != []


def test_credentials_are_references_to_a_secret_scope(bundle: Bundle, pipeline: BundlePipeline) -> None:
    named = {key for key in pipeline.configuration if re.search("jaas|password|secret|token", key)}
    kafka = pipeline.configuration["cdc.source"] == "kafka"
    assert named == set(pipeline.secrets) == ({"cdc.kafka.sasl.jaas.config"} if kafka else set())
    assert all(re.fullmatch(r"\{\{secrets/[\w-]+/[\w-]+\}\}", pipeline.configuration[key]) for key in named)


@pytest.mark.parametrize("missing", IN_PRODUCTION)
def test_identities_and_addresses_have_no_default(missing: str) -> None:
    given = {name: value for name, value in IN_PRODUCTION.items() if name != missing}
    with pytest.raises(BundleError) as refused:
        read_bundle(ROOT, "prod", given)
    (fault,) = refused.value.faults
    assert f"variable `{missing}` has no value and no default" in str(fault)
    assert f"--var {missing}=..., or with BUNDLE_VAR_{missing} in the environment" in str(fault)


def test_the_command_says_what_to_set() -> None:
    ran = CliRunner().invoke(main, ["--target", "prod", "--var", "catalog=main"])
    assert ran.exit_code == 1
    assert re.findall(r"variable `(\w+)` has no value", ran.stderr) == [*IN_PRODUCTION][1:]


def test_only_listed_folders_ship(tmp_path: Path) -> None:
    files = shipped_files(read_bundle(ROOT))
    assert {"/".join(file.split("/")[:2]) for file in files if file.startswith("pipelines/")} == {
        f"pipelines/{name}" for name in ("bronze", "silver", "gold", "cdc")
    }
    assert {file.split("/")[0] for file in files} == {"conf", "notebooks", "pipelines"}
    assert {Path(file).suffix for file in files} == {".py", ".yml", ".json"}


def test_what_ships_does_not_grow_by_other_lists(bundle: Bundle) -> None:
    sync = bundle.root.find("sync")
    assert sync is not None and list(sync.fields) == ["paths"]


def resources_of(content: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and key of each resource that a file defines or configures."""
    parts = [content, *(content.get("targets") or {}).values()]
    found = {(kind, key) for part in parts for kind, keys in (part.get("resources") or {}).items() for key in keys}
    return sorted(found)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_a_file_is_named_after_what_it_holds(file: Path) -> None:
    content = yaml.safe_load(file.read_text())
    key, _, kind = file.stem.partition(".")
    if file.parent.name == "resources":
        assert resources_of(content) == [(f"{kind}s", key)]
    elif file.parent.name == "targets":
        assert list(content["targets"]) == [key]
    elif file.stem == "variables":
        assert list(content) == ["variables"]
    elif file.stem in ("serverless", "classic"):
        assert {"dev", "staging", "prod"} <= content["targets"].keys()
    else:
        assert list(content["targets"]) == ["staging", "prod"]
