"""A faulty bundle is refused with all its faults, each with its file, line and near match."""

from pathlib import Path

import pytest
from tests.support.bundle_folder import SMALLEST, faults_of, read, write_bundle

from dlt_local.bundle import BundleError, bundle_pipeline, read_bundle

SHOP = "libraries: [{glob: {include: src/**}}]"
HEAD = "bundle: {name: b}\ntargets: {dev: {}}\n"


def pipeline(body: str, head: str = HEAD) -> dict[str, str]:
    lines = "\n".join(f"      {line}" for line in body.splitlines())
    return {"databricks.yml": f"{head}resources:\n  pipelines:\n    shop:\n{lines}\n"}


FAULTS = {
    "misspelt variable": (
        SHOP + "\nschema: ${var.scema}",
        "UNKNOWN_VARIABLE databricks.yml:8 there is no variable `scema` (did you mean `schema`?)",
    ),
    "misspelt field": (
        SHOP + "\nschema: ${bundle.nam}",
        "UNKNOWN_REFERENCE databricks.yml:8 ${bundle.nam} cannot be resolved: there is no `nam` (did you mean `name`?)",
    ),
    "misspelt resource": (
        SHOP + "\nname: ${resources.pipelines.shopp.name}",
        "UNKNOWN_REFERENCE databricks.yml:8 ${resources.pipelines.shopp.name} cannot be resolved: "
        "there is no `shopp` (did you mean `shop`?)",
    ),
    "sequence in a text": (
        SHOP + "\nname: x${var.list}",
        "NOT_A_TEXT databricks.yml:8 ${var.list} is not a single value (databricks.yml:3), "
        "so it cannot be part of a string",
    ),
    "id of a resource": (
        SHOP + "\nname: ${resources.pipelines.shop.id}",
        "KNOWN_IN_WORKSPACE_ONLY databricks.yml:8 ${resources.pipelines.shop.id} has no value on this machine",
    ),
    "looked-up variable": (
        SHOP + "\nname: ${var.looked_up}",
        "KNOWN_IN_WORKSPACE_ONLY databricks.yml:8 ${var.looked_up} has no value on this machine",
    ),
    "no libraries": (
        "name: shop",
        "NO_LIBRARIES databricks.yml:7 the pipeline has no libraries",
    ),
    "jar": (
        "libraries:\n  - jar: functions.jar",
        "LIBRARY_NOT_RUN_HERE databricks.yml:8 a library of kind `jar` cannot run locally",
    ),
    "missing notebook": (
        "libraries:\n  - notebook: {path: tables}",
        "NOTEBOOK_NOT_FOUND databricks.yml:8 there is no notebook tables",
    ),
    "missing folder": (
        SHOP + "\nroot_path: sorce",
        "MISSING_FOLDER databricks.yml:8 root_path sorce is not a folder",
    ),
    "open bracket": (
        SHOP + "\nschema: [a",
        "BROKEN_YAML databricks.yml:9 not YAML: expected ',' or ']', but got '<stream end>'",
    ),
    "key twice": (
        SHOP + "\nname: a\nname: b",
        "BROKEN_YAML databricks.yml:9 duplicate key `name`; it is first set in line 8",
    ),
}


@pytest.mark.parametrize(("body", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_in_a_pipeline(tmp_path: Path, body: str, fault: str) -> None:
    variables = "schema: {default: s}, list: {default: [1]}, looked_up: {lookup: {warehouse: w}}"
    head = HEAD + f"variables: {{{variables}}}\n"
    assert faults_of(tmp_path, pipeline(body, head)) == [fault]


def test_a_cycle_of_references_is_reported_once(tmp_path: Path) -> None:
    variables = "variables:\n  a: {default: '${var.b}'}\n  b: {default: 'x${var.c}'}\n  c: {default: '${var.a}'}\n"
    assert faults_of(tmp_path, pipeline(SHOP + "\nname: ${var.b}", HEAD + variables)) == [
        "REFERENCE_CYCLE databricks.yml:4 references form a cycle: var.b -> var.c -> var.a -> var.b"
    ]


def test_all_faults_of_all_files_are_reported_at_once(tmp_path: Path) -> None:
    files = pipeline(SHOP + "\nname: ${var.one}\nschema: ${var.two}", HEAD + "include: [targets/*.yml]\n")
    files["targets/dev.yml"] = "targets:\n  dev:\n    variables:\n      three: 3\nvariables:\n  four: {}\n"
    assert [fault.partition(" there")[0] for fault in faults_of(tmp_path, files)] == [
        "UNKNOWN_VARIABLE targets/dev.yml:4",
        "VARIABLE_NOT_SET targets/dev.yml:6 variable `four` has no value and no default",
        "UNKNOWN_VARIABLE databricks.yml:8",
        "UNKNOWN_VARIABLE databricks.yml:9",
    ]


def test_an_included_file_must_be_there(tmp_path: Path) -> None:
    head = HEAD + "include:\n  - res/*.yml\n  - targts.yml\n"
    assert faults_of(tmp_path, pipeline(SHOP, head)) == [
        "MISSING_INCLUDE databricks.yml:5 the included file `targts.yml` does not exist"
    ]


def test_files_must_agree_on_the_kind_of_a_value(tmp_path: Path) -> None:
    files = pipeline(SHOP, HEAD + "include: [more.yml]\n")
    files["more.yml"] = "include: all\n"
    assert faults_of(tmp_path, files) == [
        "CANNOT_MERGE more.yml:1 a single value is written here, but databricks.yml:3 has a sequence"
    ]


@pytest.mark.parametrize(
    ("targets", "wanted", "message"),
    [
        ("{dev: {}, prod: {}}", "pord", "there is no target `pord` (did you mean `prod`?)"),
        ("{dev: {}, prod: {}}", None, "no target is given, and there is not exactly one with `default: true`"),
        ("{dev: {default: true}, prod: {default: true}}", None, "no target is given, and there is not exactly one"),
    ],
)
def test_the_target_must_be_unambiguous(tmp_path: Path, targets: str, wanted: str | None, message: str) -> None:
    with pytest.raises(BundleError, match=r"databricks\.yml:1") as caught:
        read(tmp_path, f"bundle: {{name: b}}\ntargets: {targets}\n", wanted)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("more", "key", "message"),
    [
        ("    web: {}", None, "fix: choose one with --pipeline: shop, web"),
        ("    web: {}", "wbe", "there is no pipeline `wbe` (did you mean `web`?)"),
        ("", "web", "fix: the bundle has: shop"),
    ],
)
def test_the_pipeline_must_be_unambiguous(tmp_path: Path, more: str, key: str | None, message: str) -> None:
    with pytest.raises(BundleError) as caught:
        bundle_pipeline(read(tmp_path, SMALLEST + more), key)
    assert message in str(caught.value)


def test_a_folder_without_databricks_yml_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="it has no databricks"):
        read_bundle(write_bundle(tmp_path, {}))


def test_a_value_for_an_unknown_variable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="there is no variable `sourc`"):
        read(tmp_path, SMALLEST + "variables: {source: {default: x}}", sourc="kafka")


@pytest.mark.parametrize(
    "declared", ["python:\n  resources: ['resources:load']", "experimental: {python: {resources: [a:b]}}"]
)
def test_pipelines_that_are_declared_in_python_are_not_read(tmp_path: Path, declared: str) -> None:
    write_bundle(tmp_path, {"databricks.yml": f"{HEAD}{declared}\n"})
    with pytest.raises(
        BundleError, match=r"has no pipeline in YAML; those that it declares in Python(.|\n)*--output json"
    ):
        bundle_pipeline(read_bundle(tmp_path))
