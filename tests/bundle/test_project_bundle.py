"""This project's own bundle: for both targets it deploys the files of this repository and holds no secret."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from dlt_local.bundle import Bundle, BundlePipeline, bundle_pipeline, read_bundle
from dlt_local.declarations.source_files import source_files

ROOT = Path(__file__).parents[2]
TARGETS = ("dev", "prod")
FILES = sorted(path for path in (ROOT / "bundles").rglob("*") if path.is_file())


@pytest.fixture(params=TARGETS)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    return read_bundle(ROOT, request.param)


@pytest.fixture
def pipeline(bundle: Bundle) -> BundlePipeline:
    return bundle_pipeline(bundle)


def test_dev_is_the_default_target() -> None:
    assert (read_bundle(ROOT).target, read_bundle(ROOT).mode) == ("dev", "development")
    assert read_bundle(ROOT, "prod").mode == "production"


def test_only_the_id_of_the_pipeline_is_resolved_in_the_workspace(bundle: Bundle) -> None:
    texts = [value.content for value in bundle.root.walk() if isinstance(value.content, str)]
    assert [text for text in texts if "${" in text] == ["${resources.pipelines.shop.id}"]


def test_the_globs_match_every_pipeline_file_and_no_other(pipeline: BundlePipeline) -> None:
    declared = [path for layer in ("bronze", "silver", "gold") for path in (ROOT / "pipelines" / layer).rglob("*.py")]
    assert sorted(source_files(pipeline.sources)) == sorted(declared) != []


def test_paths_of_the_configuration_exist(pipeline: BundlePipeline) -> None:
    assert pipeline.root_path == ROOT / "pipelines"
    assert (Path(pipeline.configuration["cdc.conf"]) / "connectors" / "shop.yml").is_file()
    kind, _, folder = pipeline.configuration["cdc.source"].partition(":")
    assert kind == "kafka" or list(Path(folder).glob("*.jsonl"))


def test_dev_reads_the_captures_and_prod_kafka() -> None:
    dev, prod = (bundle_pipeline(read_bundle(ROOT, target)).configuration for target in TARGETS)
    assert dev["cdc.source"] == f"capture:{ROOT}/demo/captures"
    assert prod["cdc.source"] == "kafka"
    assert {key for key in prod if key not in dev} == {
        "cdc.kafka.bootstrap.servers",
        "cdc.kafka.security.protocol",
        "cdc.kafka.sasl.mechanism",
        "cdc.kafka.sasl.jaas.config",
    }


def test_databricks_installs_the_packages_that_requirements_txt_marks_as_shipped(pipeline: BundlePipeline) -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    ships = [line.split()[0] for line in lines if "# [ships]" in line]
    assert list(pipeline.dependencies) == ships != []


def test_credentials_are_references_to_a_secret_scope(bundle: Bundle, pipeline: BundlePipeline) -> None:
    named = {key for key in pipeline.configuration if re.search("jaas|password|secret|token", key)}
    assert named == set(pipeline.secrets) == ({"cdc.kafka.sasl.jaas.config"} if bundle.target == "prod" else set())
    assert all(re.fullmatch(r"\{\{secrets/[\w-]+/[\w-]+\}\}", pipeline.configuration[key]) for key in named)


def test_the_job_runs_the_pipeline_on_a_schedule(bundle: Bundle) -> None:
    job = bundle.root.find("resources", "jobs", "shop")
    assert job is not None and job.find("schedule", "quartz_cron_expression")
    tasks = job.find("tasks")
    assert tasks is not None and [list(task.fields) for task in tasks.items] == [["task_key", "pipeline_task"]]


def test_tests_and_the_local_engine_stay_out_of_the_workspace(bundle: Bundle) -> None:
    excluded = bundle.root.find("sync", "exclude")
    assert excluded is not None
    kept_back = {path.text.removesuffix("/**") for path in excluded.items}
    assert {"tests", "pipelines/dlt_local"} <= kept_back
    assert all((ROOT / path).is_dir() for path in kept_back - {".venv"})
    shipped = ("pipelines/bronze", "pipelines/silver", "pipelines/gold", "pipelines/cdc", "conf")
    assert not [path for path in kept_back if any(f"{each}/".startswith(f"{path}/") for each in shipped)]


@pytest.mark.parametrize("file", [*FILES, ROOT / "databricks.yml"], ids=lambda path: path.name)
def test_a_resource_s_file_is_named_after_it(file: Path) -> None:
    content = YAML(typ="safe").load(file)
    key, _, kind = file.stem.partition(".")
    if file.parent.name == "resources":
        assert content == {"resources": {f"{kind}s": {key: content["resources"][f"{kind}s"][key]}}}
    elif file.parent.name == "targets":
        assert list(content["targets"]) == [key]
    else:
        assert set(content) in ({"variables"}, {"bundle", "include", "sync"})
