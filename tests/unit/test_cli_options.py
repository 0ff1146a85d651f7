"""How the command line combines its options with a bundle, before anything runs."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.bundle_folder import SMALLEST, write_bundle

from dlt_local.cli.main import main
from dlt_local.cli.settings import Options, SettingMissing, settings

BUNDLE = """
bundle: {name: b}
variables: {source: {default: captures}}
targets: {dev: {}}
resources:
  pipelines:
    shop:
      name: Shop
      catalog: main
      schema: sales
      root_path: src
      libraries: [{glob: {include: src/**}}]
      configuration: {source: "${var.source}", jaas: "{{secrets/kafka/jaas}}", kept: as it is}
"""


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_bundle(tmp_path, {"databricks.yml": BUNDLE})


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


def test_options_alone_are_enough() -> None:
    chosen = settings(Options(sources=("a.py",), storage=Path("data/shop"), configuration={"k": "v"}))
    assert (chosen.name, chosen.sources, chosen.storage) == ("shop", ("a.py",), Path("data/shop"))
    assert (chosen.schema, chosen.catalog, chosen.root_path, chosen.configuration) == (
        "default",
        None,
        None,
        {"k": "v"},
    )


def test_a_bundle_provides_every_setting(bundle: Path) -> None:
    chosen = settings(Options(bundle=bundle))
    assert (chosen.name, chosen.catalog, chosen.schema, chosen.root_path) == ("Shop", "main", "sales", bundle / "src")
    assert chosen.sources == (f"{bundle}/src/**",)
    assert chosen.storage_folder() == bundle / ".databricks/local/dev/shop"
    assert chosen.configuration == {"source": "captures", "jaas": "{{secrets/kafka/jaas}}", "kept": "as it is"}


def test_options_override_the_bundle(bundle: Path) -> None:
    options = Options(
        bundle=bundle,
        sources=("mine.py",),
        storage=Path("mine"),
        name="mine",
        schema="other",
        catalog="dev",
        root_path=Path(),
        configuration={"source": "kafka", "more": "1"},
        variables={"source": "of the variable"},
    )
    chosen = settings(options)
    assert (chosen.name, chosen.sources, chosen.storage, chosen.schema) == ("mine", ("mine.py",), Path("mine"), "other")
    assert (chosen.catalog, chosen.root_path) == ("dev", Path())
    assert chosen.configuration == {
        "source": "kafka",
        "jaas": "{{secrets/kafka/jaas}}",
        "kept": "as it is",
        "more": "1",
    }


def test_a_variable_s_value_comes_from_the_command_line(bundle: Path) -> None:
    assert settings(Options(bundle=bundle, variables={"source": "kafka"})).configuration["source"] == "kafka"


def test_the_bundle_in_the_working_directory_is_the_default(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bundle)
    assert settings(Options()).name == settings(Options(target="dev")).name == "Shop"
    assert settings(Options(sources=("a.py",))).name == "pipeline"


def test_events_need_only_a_storage_folder(tmp_path: Path) -> None:
    assert settings(Options(storage=tmp_path), needs_sources=False).storage_folder() == tmp_path


def test_a_workspace_secret_must_be_passed_as_an_option(bundle: Path) -> None:
    with pytest.raises(SettingMissing, match=r"jaas is \{\{secrets/kafka/jaas\}\}"):
        settings(Options(bundle=bundle)).check_secrets()
    settings(Options(bundle=bundle, configuration={"jaas": "mine"})).check_secrets()


def test_run_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    nothing = invoke("run")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    assert nothing.stderr.startswith("NO_PIPELINE_GIVEN\n  no pipeline is given\n  fix: ")
    no_storage = invoke("run", "--source", "a.py")
    assert (no_storage.exit_code, no_storage.stderr.split()[0]) == (1, "NO_STORAGE_GIVEN")


def test_bundle_errors_are_shown_once_and_without_a_traceback(tmp_path: Path) -> None:
    faulty = write_bundle(tmp_path, {"databricks.yml": SMALLEST.replace("src/**", "'${var.a}/${var.b}'")})
    result = invoke("graph", "--bundle", faulty)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("UNKNOWN_VARIABLE") == 2
    assert result.stderr.count(f"{faulty}/databricks.yml:6") == 2
    assert "Traceback" not in result.stderr


def test_a_traceback_is_shown_on_request(tmp_path: Path) -> None:
    result = invoke("graph", "--traceback", "--bundle", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith("Traceback") and "in read_bundle" in result.stderr


@pytest.mark.parametrize("option", ["--set", "--var"])
def test_a_pair_needs_an_equals_sign(option: str) -> None:
    result = invoke("run", "--source", "a.py", option, "cdc.conf")
    assert result.exit_code == 2
    assert "`cdc.conf` is not of the form key=value" in result.stderr


def test_a_missing_event_log_is_reported(tmp_path: Path) -> None:
    result = invoke("events", "--storage", tmp_path)
    assert (result.exit_code, result.stderr.partition("\n")[0]) == (1, f"NO_UPDATE  {tmp_path}")
