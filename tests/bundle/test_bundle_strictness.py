"""What Databricks' command line refuses or changes, this reader refuses or changes too.

Each rule is stated with its file in the source of the command line, in the module that has it.
"""

import doctest
from pathlib import Path
from types import ModuleType

import pytest
from tests.support.bundle_folder import SMALLEST, faults_of, read

from dlt_local.bundle import bundle_pipeline, presets, read_bundle, requirements, workspace
from dlt_local.bundle.requirements import is_local

HEAD = "bundle: {name: b}\n"
SHOP = "resources: {pipelines: {shop: {libraries: [{glob: {include: src/**}}]}}}\n"


@pytest.mark.parametrize("module", [presets, requirements, workspace], ids=lambda module: module.__name__)
def test_the_examples_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_two_kinds_of_resources_must_not_share_a_key(tmp_path: Path) -> None:
    files = {"databricks.yml": HEAD + "include: [job.yml]\ntargets: {dev: {}}\n" + SHOP}
    files["job.yml"] = "resources:\n  jobs:\n    shop: {name: nightly}\n"
    assert faults_of(tmp_path, files) == [
        "DUPLICATE_RESOURCE_KEY job.yml:3 `resources.jobs.shop` has the key of `resources.pipelines.shop` "
        "in databricks.yml:4; a key is used once in the whole bundle"
    ]


def test_a_resource_must_not_be_in_two_files(tmp_path: Path) -> None:
    files = {"databricks.yml": HEAD + "include: [more.yml]\ntargets: {dev: {}}\n" + SHOP}
    files["more.yml"] = "resources:\n  pipelines:\n    shop: {name: again}\n"
    assert faults_of(tmp_path, files) == [
        "DUPLICATE_RESOURCE_KEY more.yml:3 `resources.pipelines.shop` is defined in databricks.yml:4; "
        "a key is used once in the whole bundle"
    ]


def test_a_target_may_set_fields_of_a_resource(tmp_path: Path) -> None:
    text = HEAD + SHOP + "targets: {dev: {resources: {pipelines: {shop: {name: Shop}}}}}\n"
    assert bundle_pipeline(read(tmp_path, text)).name == "Shop"


@pytest.mark.parametrize(
    "requirement",
    [
        "pyyaml==6.0.3",
        "jsonschema>=4.26,<5",
        "a[b] == 1.0rc1",
        "x @ https://host/x.whl",
        "-r /Volumes/a/b.txt",
        "/x.whl",
    ],
)
def test_these_requirements_are_no_local_files(requirement: str) -> None:
    assert not is_local(requirement)


@pytest.mark.parametrize(
    "requirement",
    ["ruamel.yaml==0.19.1", "ruamel.yaml", "a>=1, <2", "a==1; python_version<'3.12'", "./x", "dist/*.whl"],
)
def test_these_requirements_are_local_files(requirement: str) -> None:
    assert is_local(requirement)


def test_a_requirement_that_would_be_uploaded_must_exist(tmp_path: Path) -> None:
    text = (
        HEAD + "targets: {dev: {}}\nresources:\n  pipelines:\n    shop:\n      libraries: [{glob: {include: src/**}}]\n"
    )
    files = {"databricks.yml": text + "      environment: {dependencies: [src/tables.py, ruamel.yaml==0.19.1]}\n"}
    assert faults_of(tmp_path, files) == [
        "NOT_A_PACKAGE databricks.yml:7 `ruamel.yaml==0.19.1` is taken for a file, which does not exist"
    ]


def test_a_development_pipeline_is_refused_in_production(tmp_path: Path) -> None:
    text = HEAD + "targets: {prod: {mode: production, resources: {pipelines: {shop: {development: true}}}}}\n" + SHOP
    assert faults_of(tmp_path, {"databricks.yml": text}) == [
        "DEVELOPMENT_IN_PRODUCTION databricks.yml:2 a target with `mode: production` cannot have a pipeline with "
        "`development: true`"
    ]


DEVELOPMENT = """
bundle: {name: b}
presets: {tags: {team: "${bundle.name}s", dev: kept}}
resources:
  schemas: {gold: {catalog_name: main, name: gold}}
  jobs:
    nightly: {name: nightly, schedule: {quartz_cron_expression: 0 0 0 * * ?}, tags: {team: own}}
    busy: {name: busy, max_concurrent_runs: 1, continuous: {pause_status: UNPAUSED}}
  pipelines:
    shop:
      name: shop
      schema: ${resources.schemas.gold.name}
      libraries: [{glob: {include: src/**}}]
targets: {dev: {mode: development, default: true}, prod: {mode: production}}
"""


def test_development_changes_names_tags_and_schedules(tmp_path: Path) -> None:
    (tmp_path / "databricks.yml").write_text(DEVELOPMENT)
    bundle = read_bundle(tmp_path, deployer="Ada.L@example.com")
    (tmp_path / "src").mkdir()
    pipeline = bundle_pipeline(bundle)
    assert (pipeline.name, pipeline.schema, pipeline.development) == ("[dev ada_l] shop", "dev_ada_l_gold", True)
    nightly, busy = (bundle.root.find("resources", "jobs", key) for key in ("nightly", "busy"))
    assert nightly is not None and busy is not None
    found = {path: value.text for path in ("name", "max_concurrent_runs") if (value := nightly.find(path))}
    assert found == {"name": "[dev ada_l] nightly", "max_concurrent_runs": "4"}
    assert [nightly.find("tags", key).text for key in ("team", "dev")] == ["own", "kept"]  # type: ignore[union-attr]
    assert nightly.find("schedule", "pause_status").text == "PAUSED"  # type: ignore[union-attr]
    assert busy.find("continuous", "pause_status").text == "UNPAUSED"  # type: ignore[union-attr]
    assert busy.find("max_concurrent_runs").text == "1"  # type: ignore[union-attr]


def test_production_has_the_names_of_the_files(tmp_path: Path) -> None:
    pipeline = bundle_pipeline(read(tmp_path, DEVELOPMENT, "prod"))
    assert (pipeline.name, pipeline.schema, pipeline.development) == ("shop", "gold", False)


def test_a_local_run_chooses_the_target_local(tmp_path: Path) -> None:
    text = SMALLEST.replace("prod: {mode: production}", "local: {}")
    assert read(tmp_path, text).target == "local"
    assert read(tmp_path, text, "dev").target == "dev"
