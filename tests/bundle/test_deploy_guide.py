"""Each file that the deployment guide shows can be put in its place: it is a valid bundle of known settings."""

import re
import shutil
from pathlib import Path

import pytest
from tests.bundle.test_project_bundle import IN_PRODUCTION

from cdc.credentials import with_shaded_classes
from cdc.settings import setting_faults
from dlt_local.bundle import Bundle, bundle_pipeline, read_bundle
from dlt_local.bundle.deployment import deployment

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/guides/deploy.md").read_text()


def shown() -> list[tuple[str, str]]:
    """The guide's YAML files: path and text, without the indentation of the list that they are in."""
    blocks = re.findall(r"^( *)```yaml\n(.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
    texts = [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in blocks]
    return [(text.splitlines()[0].removeprefix("# "), text) for text in texts]


FILES = shown()
NAMES = [f"{number}-{path}" for number, (path, _) in enumerate(FILES)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the bundle, with the folders that it names."""
    shutil.copy(ROOT / "databricks.yml", tmp_path)
    shutil.copytree(ROOT / "bundles", tmp_path / "bundles")
    (tmp_path / "pipelines").mkdir()
    return tmp_path


def in_place(folder: Path, path: str, text: str) -> Bundle:
    (folder / path).write_text(text)
    return read_bundle(folder, "prod", IN_PRODUCTION, "ada@example.com")


def test_the_guide_has_its_blocks() -> None:
    paths = [path for path, _ in FILES]
    assert paths.count("bundles/kafka.yml") == 5
    assert sorted(set(paths)) == [
        "bundles/kafka.yml",
        "bundles/resources/shop_more.pipeline.yml",
        "bundles/targets/prod.yml",
    ]


@pytest.mark.parametrize(("path", "text"), FILES, ids=NAMES)
def test_a_shown_file_makes_a_bundle_of_known_settings(folder: Path, path: str, text: str) -> None:
    bundle = in_place(folder, path, text)
    for key in bundle.pipelines:
        pipeline = bundle_pipeline(bundle, key)
        assert setting_faults(pipeline.configuration) == []
        named = {name for name in pipeline.configuration if re.search("password", name)}
        assert named <= set(pipeline.secrets)
    assert set(deployment(bundle)["resources"]) == {"jobs", "pipelines", "schemas"}


@pytest.mark.parametrize(("path", "text"), FILES, ids=NAMES)
def test_classes_are_written_without_the_names_of_databricks(path: str, text: str) -> None:
    classes = [value for value in re.findall(r"[\w.]+", text) if "LoginModule" in value or "CallbackHandler" in value]
    assert all(with_shaded_classes(name) != name for name in classes)
    assert ("cdc.kafka.shaded" in text) == ("jaas" in text)


def test_a_connector_can_be_split_over_two_pipelines(folder: Path) -> None:
    bundle = in_place(folder, *next(file for file in FILES if "shop_more" in file[0]))
    connectors = {key: bundle_pipeline(bundle, key).configuration["cdc.connector"] for key in bundle.pipelines}
    assert connectors == {"shop": "shop", "shop_more": "shop_more"}


def test_every_source_that_a_statement_names_is_listed() -> None:
    body, _, sources = GUIDE.partition("## Sources")
    prose = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
    named = {name.partition(":")[0] for name in re.findall(r"(?<!\])\[([a-z]+(?:: [^\]]+)?)\](?!\()", prose)}
    listed = set(re.findall(r"^\| ([a-z]+) \| (?!page or file)", sources, re.MULTILINE))
    assert named == listed
