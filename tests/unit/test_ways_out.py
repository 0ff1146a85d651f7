"""What the messages of the command line, of bundles and of damaged files tell to do is done, and helps; no Spark."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.bundle_folder import SMALLEST, write_bundle
from tests.unit.test_messages import BUNDLES

from dlt_local.bundle import BundleError, bundle_pipeline, read_bundle
from dlt_local.cli.main import main
from dlt_local.cli.settings import Options, settings
from dlt_local.delta.storage import Storage, StorageFileDamaged, read_json, write_json
from dlt_local.errors import JavaMissing
from dlt_local.spark import jars
from dlt_local.updates.doctor import findings


def message(folder: Path, condition: str) -> str:
    """Write the bundle that has the condition; returns its message."""
    write_bundle(folder, BUNDLES[condition])
    with pytest.raises(BundleError) as raised:
        bundle_pipeline(read_bundle(folder))
    assert str(raised.value).startswith(condition)
    return str(raised.value)


def test_a_target_is_chosen(tmp_path: Path) -> None:
    assert "choose one with --target: dev, prod" in message(tmp_path, "NO_TARGET")
    assert settings(Options(bundle=tmp_path, target="prod")).name == "shop"


def test_a_pipeline_is_chosen(tmp_path: Path) -> None:
    assert "choose one with --pipeline: shop, web" in message(tmp_path, "NO_PIPELINE")
    assert settings(Options(bundle=tmp_path, pipeline="shop")).name == "shop"


def test_a_variable_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "with --var schema=..., or with BUNDLE_VAR_schema" in message(tmp_path, "VARIABLE_NOT_SET")
    settings(Options(bundle=tmp_path, variables={"schema": "sales"}))
    monkeypatch.setenv("BUNDLE_VAR_schema", "sales")
    settings(Options(bundle=tmp_path))


def test_a_storage_folder_and_a_bundle_are_given(tmp_path: Path) -> None:
    assert settings(Options(sources=("a.py",), storage=tmp_path)).storage_folder() == tmp_path
    bundle = write_bundle(tmp_path / "bundle", {"databricks.yml": SMALLEST})
    assert settings(Options(bundle=bundle)).storage_folder().is_relative_to(bundle)


@pytest.mark.parametrize(
    "name",
    ["progress/silver.orders.json", "resets/silver.orders.json", "maintenance/silver.orders.json", "rebuild.json"],
)
def test_a_damaged_file_that_may_be_deleted_is_deleted(tmp_path: Path, name: str) -> None:
    storage, file = Storage(tmp_path), tmp_path / "system" / name
    write_json(file, {})
    file.write_text("{")
    with pytest.raises(StorageFileDamaged, match="delete it"):
        read_json(file)
    file.unlink()
    assert findings(storage) == []
    storage.finish_resets()


def test_java_is_found_below_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    found = shutil.which("java")
    assert found is not None
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(JavaMissing, match="JAVA_HOME"):
        jars.java()
    monkeypatch.setenv("JAVA_HOME", str(Path(found).resolve().parents[1]))
    assert jars.java() == str(Path(found).resolve())


IVY = """#!/bin/sh
case "$*" in
*XshowSettings*) echo "    java.specification.version = 17" >&2 ;;
*) [ -e "$HOME/network" ] || { echo "UNRESOLVED DEPENDENCY"; exit 1; }; touch "$(dirname "${13}")/spark-1.jar" ;;
esac
"""
"""In place of Java: Ivy, which fetches a jar once there is a network."""


def test_jars_are_fetched_once_the_network_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "java/bin/java"
    java.parent.mkdir(parents=True)
    java.write_text(IVY)
    java.chmod(0o755)
    for name, folder in (("JAVA_HOME", "java"), ("XDG_CACHE_HOME", "cache"), ("HOME", "")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    failed = CliRunner().invoke(main, ["jars"])
    assert failed.exit_code == 1
    assert "JARS_NOT_FETCHED" in failed.stderr
    assert "python -m dlt_local jars" in failed.stderr
    (tmp_path / "network").touch()
    assert CliRunner().invoke(main, ["jars"]).exit_code == 0
    assert [path.name for path in jars.jars("spark")] == ["spark-1.jar"]
