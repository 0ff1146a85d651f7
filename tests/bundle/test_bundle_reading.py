"""A bundle's files, target, variables and references become the settings of a local run."""

import json
from pathlib import Path

import pytest
from tests.support.bundle_folder import SMALLEST, read, write_bundle

from dlt_local.bundle import bundle_pipeline, read_bundle


def test_the_smallest_bundle(tmp_path: Path) -> None:
    pipeline = bundle_pipeline(read(tmp_path, SMALLEST))
    assert (pipeline.key, pipeline.name, pipeline.schema, pipeline.catalog) == ("shop", "shop", "default", None)
    assert pipeline.sources == (f"{tmp_path}/src/**",)
    assert pipeline.storage == tmp_path / ".databricks/local/dev/shop"
    assert pipeline.root_path is None and pipeline.configuration == {} and not pipeline.continuous


@pytest.mark.parametrize(("target", "development"), [("dev", True), ("prod", False)])
def test_the_target_s_mode_decides_on_development(tmp_path: Path, target: str, development: bool) -> None:
    bundle = read(tmp_path, SMALLEST, target)
    assert bundle.target == target
    assert bundle_pipeline(bundle).development is development


def test_paths_are_relative_to_the_file_they_are_written_in(tmp_path: Path) -> None:
    resource = """
        resources:
          pipelines:
            shop:
              root_path: ../../src
              libraries: [{file: {path: ../../src/tables.py}}]
              configuration: {conf: "${workspace.file_path}/conf"}
    """
    target = "targets: {dev: {resources: {pipelines: {shop: {libraries: [{glob: {include: ../src/**}}]}}}}}"
    files = {
        "databricks.yml": "{bundle: {name: b}, include: [res/*/*.yml, targets/dev.yml]}",
        "res/pipelines/shop.yml": resource,
        "targets/dev.yml": target,
    }
    pipeline = bundle_pipeline(read_bundle(write_bundle(tmp_path, files)))
    assert pipeline.root_path == tmp_path / "src"
    assert pipeline.sources == (f"{tmp_path}/src/tables.py", f"{tmp_path}/src/**")
    assert pipeline.configuration == {"conf": f"{tmp_path}/conf"}


def test_a_notebook_is_found_without_its_ending(tmp_path: Path) -> None:
    libraries = "[{notebook: {path: src/orders}}, {notebook: {path: src/items}}, {notebook: {path: src/tables.py}}]"
    bundle = {"databricks.yml": SMALLEST.replace("[{glob: {include: src/**}}]", libraries)}
    pipeline = bundle_pipeline(
        read_bundle(write_bundle(tmp_path, bundle | {"src/orders.ipynb": "{}", "src/items.sql": ""}))
    )
    assert pipeline.sources == tuple(f"{tmp_path}/src/{name}" for name in ("orders.ipynb", "items.sql", "tables.py"))


def test_a_target_s_resources_are_merged_over_the_bundle_s(tmp_path: Path) -> None:
    text = """
        bundle: {name: b}
        resources:
          pipelines:
            shop:
              catalog: main
              libraries: [{glob: {include: src/**}}]
              configuration: {kept: "1", changed: "2"}
        targets:
          prod:
            resources:
              pipelines:
                shop:
                  schema: sales
                  catalog:
                  libraries: [{file: {path: src/tables.py}}]
                  configuration: {changed: "3", added: true}
    """
    pipeline = bundle_pipeline(read(tmp_path, text))
    assert pipeline.configuration == {"kept": "1", "changed": "3", "added": "true"}
    assert pipeline.sources == (f"{tmp_path}/src/**", f"{tmp_path}/src/tables.py")
    assert (pipeline.catalog, pipeline.schema) == ("main", "sales")


REFERENCES = """
bundle: {name: sales}
variables:
  plain: {default: one}
  other: {default: "${var.plain}-two"}
  number: {default: 7}
  list: {type: complex, default: [{name: first}, {name: "${var.other}"}]}
  folder: {default: src}
workspace: {current_user: {groups: nobody}}
resources:
  schemas:
    gold: {name: "${bundle.name}_gold", catalog_name: main}
  pipelines:
    shop:
      name: "${bundle.name} on ${bundle.target}"
      schema: ${resources.schemas.gold.name}
      libraries: [{glob: {include: "${var.folder}/**"}}]
      continuous: ${var.yes}
      configuration:
        text: "a ${var.plain} b ${var.other} c"
        number: ${var.number}
        deep: ${var.list[1].name}
        path: ${workspace.root_path}/x
        user: ${workspace.current_user.short_name}/${workspace.current_user.userName}
        not_a_reference: "$var.plain ${1x} ${} {{secrets/scope/key}}"
"""


def test_references_are_replaced_by_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ada.l")
    text = REFERENCES.replace("variables:", "variables:\n  yes: {default: true}")
    pipeline = bundle_pipeline(read(tmp_path, text + "targets: {dev: {}}"))
    assert pipeline.name == "sales on dev"
    assert pipeline.schema == "sales_gold"
    assert pipeline.continuous
    assert pipeline.sources == (f"{tmp_path}/src/**",)
    assert pipeline.configuration == {
        "text": "a one b one-two c",
        "number": "7",
        "deep": "one-two",
        "path": f"{tmp_path}/x",
        "user": "ada_l/ada.l",
        "not_a_reference": "$var.plain ${1x} ${} {{secrets/scope/key}}",
    }
    assert pipeline.secrets == ("not_a_reference",)


VARIABLE = """
bundle: {name: b}
variables: {source: {default: of-the-bundle}}
targets: {dev: {default: true}, prod: {variables: {source: of-the-target}}}
resources: {pipelines: {shop: {libraries: [{glob: {include: src/**}}], configuration: {source: "${var.source}"}}}}
"""


def source(folder: Path, target: str, **variables: str) -> str:
    return bundle_pipeline(read(folder, VARIABLE, target, **variables)).configuration["source"]


def test_values_of_a_variable_have_an_order_of_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert source(tmp_path, "dev") == "of-the-bundle"
    assert source(tmp_path, "prod") == "of-the-target"
    overrides = tmp_path / ".databricks/bundle/prod/variable-overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps({"source": "of-the-checkout"}))
    assert source(tmp_path, "prod") == "of-the-checkout"
    monkeypatch.setenv("BUNDLE_VAR_source", "of-the-environment")
    assert source(tmp_path, "prod") == "of-the-environment"
    assert source(tmp_path, "prod", source="of-the-command-line") == "of-the-command-line"
    assert source(tmp_path, "dev") == "of-the-environment"


def test_a_target_may_set_a_variable_in_the_long_form(tmp_path: Path) -> None:
    text = VARIABLE.replace("{source: of-the-target}", "{source: {default: long, description: why}}")
    assert bundle_pipeline(read(tmp_path, text, "prod")).configuration == {"source": "long"}


def test_a_reference_that_only_a_workspace_can_resolve_is_kept_where_a_local_run_does_not_need_it(
    tmp_path: Path,
) -> None:
    text = SMALLEST + "  jobs: {nightly: {tasks: [{pipeline_task: {pipeline_id: '${resources.pipelines.shop.id}'}}]}}"
    bundle = read(tmp_path, text + "\nvariables: {warehouse: {lookup: {warehouse: small}}}")
    left = [
        value.content for value in bundle.root.walk() if "${" in str(value.content) and isinstance(value.content, str)
    ]
    assert left == ["${resources.pipelines.shop.id}"]
    assert bundle_pipeline(bundle).name == "shop"


def test_one_of_several_pipelines_is_chosen_by_its_key(tmp_path: Path) -> None:
    bundle = read(
        tmp_path,
        SMALLEST + "    web: {name: The Web, libraries: [{file: {path: src/tables.py}}], target: w}",
        "prod",
    )
    pipeline = bundle_pipeline(bundle, "web")
    assert (pipeline.name, pipeline.schema, pipeline.storage.name) == ("The Web", "w", "web")


def test_anchors_and_merge_keys_work_as_in_yaml(tmp_path: Path) -> None:
    text = """
        bundle: {name: b}
        targets: {dev: {}}
        shared: &shared {libraries: [{glob: {include: src/**}}], schema: below}
        resources: {pipelines: {shop: {<<: *shared, schema: above}}}
    """
    pipeline = bundle_pipeline(read(tmp_path, text))
    assert (pipeline.sources, pipeline.schema) == ((f"{tmp_path}/src/**",), "above")


@pytest.mark.parametrize("targets", ["", "targets: {}\n", "targets:\n"])
def test_a_bundle_without_targets_has_one_named_default(tmp_path: Path, targets: str) -> None:
    pipeline = "{libraries: [{glob: {include: a.py}}]}"
    file = f"bundle: {{name: b}}\n{targets}resources: {{pipelines: {{shop: {pipeline}}}}}\n"
    bundle = read_bundle(write_bundle(tmp_path, {"databricks.yml": file}))
    assert bundle.target == "default"
    assert bundle_pipeline(bundle).key == "shop"


def test_the_user_of_this_machine_has_an_id_too(tmp_path: Path) -> None:
    user = "${workspace.current_user.id} ${workspace.current_user.short_name}"
    pipeline = f"{{name: '{user}', libraries: [{{glob: {{include: a.py}}}}]}}"
    file = f"bundle: {{name: b}}\nresources: {{pipelines: {{shop: {pipeline}}}}}\n"
    first, second = bundle_pipeline(read_bundle(write_bundle(tmp_path, {"databricks.yml": file}))).name.split()
    assert first == second
