"""What is specific to a connector kind is in its own files: adding one does not touch the rest of `cdc`."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from cdc.connector_check import Config, advice
from cdc.connector_check.kinds import CLASS, RULES
from cdc.debezium.images import IMAGES, images_of
from cdc.debezium.positions import POSITIONS
from cdc.debezium.values import CONVERSIONS
from cdc.spec.kinds import AUTO, DEFAULT, KINDS
from cdc.spec.model import ConnectorSpec
from cdc.spec.schema import every_kind, field_schema

PIPELINES = Path(__file__).parents[2] / "pipelines"
CDC = PIPELINES / "cdc"
FOLDERS = ("spec/kinds", "debezium/positions", "debezium/values", "connector_check/kinds")
"""Each has a module for every kind, and registers them in its `__init__.py`."""
IMAGES_FOLDER = "debezium/images"
"""Has a module for each kind whose row images are not rows as JSON objects."""
REGISTRIES = {f"{folder}/__init__.py" for folder in (*FOLDERS, IMAGES_FOLDER)}
OWN = {f"{folder}/{kind}.py" for folder in (*FOLDERS, IMAGES_FOLDER) for kind in every_kind()}
FILES = {str(file.relative_to(CDC)): file.read_text(encoding="utf-8") for file in CDC.rglob("*.py")}
POSITION_FIELDS = re.compile(r"(?i)\b_?(commit_lsn|change_lsn|event_serial_no)\b")
NAMES = re.compile("sql ?server|postgres|mysql|mariadb|mongo|db2", re.IGNORECASE)
"""How texts call the kinds and their databases."""
LAYERS = ("bronze", "silver", "gold")
DEFAULT_KIND = "spec/model.py"
"""States the kind of a connector spec without one, and nothing else of it."""


def imported(text: str) -> set[str]:
    """Full names of all that a file imports."""
    nodes = list(ast.walk(ast.parse(text)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    froms = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    return plain | {f"{node.module}.{alias.name}" for node in froms for alias in node.names}


def strings(text: str) -> set[str]:
    """Every text in a file's code, messages included; not the docstrings of modules, functions, classes and fields."""
    nodes = list(ast.walk(ast.parse(text)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = (node for node in nodes if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return {node.value for node in texts if isinstance(node.value, str)}


def test_only_registries_import_a_kinds_own_modules() -> None:
    modules = tuple(f"cdc.{name.removesuffix('.py').replace('/', '.')}" for name in OWN)
    importing = {name for name, text in FILES.items() if any(each.startswith(modules) for each in imported(text))}
    assert importing <= REGISTRIES | OWN


def test_only_registries_and_a_kinds_own_modules_name_it() -> None:
    # Families may serve one or two kinds, and their docstrings say which; what their code says of one is given to them.
    naming = {name for name, text in FILES.items() if any(map(NAMES.search, strings(text)))}
    assert naming <= {*OWN, *REGISTRIES, DEFAULT_KIND}
    of_default = set(filter(NAMES.search, strings(FILES[DEFAULT_KIND])))
    assert of_default == {DEFAULT.name}


@pytest.mark.parametrize("kind", every_kind())
def test_every_kinds_names_are_looked_for(kind: str) -> None:
    assert NAMES.match(kind)
    assert NAMES.match(KINDS[kind].title)
    assert f"spec/kinds/{kind}.py" in {name for name, text in FILES.items() if any(map(NAMES.search, strings(text)))}


@pytest.mark.parametrize("layer", LAYERS)
def test_the_pipeline_files_name_no_kind(layer: str) -> None:
    # Not in a comment either: the way from record to gold is the same for all.
    files = sorted((PIPELINES / layer).rglob("*.py"))
    assert files
    assert [file.name for file in files if NAMES.search(file.read_text(encoding="utf-8"))] == []


def test_only_a_kinds_own_files_name_its_position() -> None:
    naming = {name for name, text in FILES.items() if POSITION_FIELDS.search(text)}
    assert naming <= OWN | {"connector_check/kinds/rules.py", "debezium/positions/position.py"}


@pytest.mark.parametrize("kind", KINDS)
def test_advice_on_a_kind_names_no_other(kind: str) -> None:
    settings = {CLASS: KINDS[kind].connector_class, "topic.prefix": "shopserver"}
    others = [other.title for name, other in KINDS.items() if name != kind]
    text = "\n".join(str(each) for each in advice(Config(settings)))
    assert [title for title in others if title in text] == []


def test_every_registry_has_every_kind() -> None:
    assert set(POSITIONS) == set(CONVERSIONS) == set(RULES) == set(KINDS)
    assert set(IMAGES) <= set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_kind_is_a_module_of_its_name_in_each_folder(folder: str, kind: str) -> None:
    assert importlib.import_module(f"cdc.{folder.replace('/', '.')}.{kind}").__doc__


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_row_images_of_its_own_where_they_are_no_rows(kind: str) -> None:
    module = type(images_of(ConnectorSpec("shop", "p", kind=kind))).__module__
    assert module == f"cdc.debezium.images.{kind if kind in IMAGES else 'rows'}"
    assert (f"{IMAGES_FOLDER}/{kind}.py" in FILES) == (kind in IMAGES) == KINDS[kind].has_documents


def test_only_a_kind_with_documents_imports_what_reads_them() -> None:
    importing = {name for name, text in FILES.items() if any("debezium.documents" in each for each in imported(text))}
    kinds = {f"{IMAGES_FOLDER}/{kind}.py" for kind in IMAGES}
    assert {each for each in importing if not each.startswith("debezium/documents/")} == {
        *kinds,
        "debezium/values/extended_json.py",
    }


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_whole(name: str) -> None:
    kind = KINDS[name]
    assert kind.name == name
    assert len(kind.table_parts) == len(kind.table_fields)
    assert kind.parts_of(kind.table_example)
    assert set(CONVERSIONS[name]) >= set(kind.known_types)
    assert set(kind.texts) <= set(CONVERSIONS[name])
    for pattern in kind.topic_patterns:
        assert kind.topic(pattern, "p", kind.table_example).startswith("p.")
    for mode, values in kind.modes.items():
        assert mode in ConnectorSpec.__dataclass_fields__
        assert set(values) <= set(field_schema("connector", (mode,))["enum"]), mode
    assert RULES[name].kind == name
    assert set(RULES[name].spec_fields) <= set(kind.modes)
    assert set(kind.shapes) <= set(field_schema("connector", ("shape",))["enum"])
    assert set(kind.partial_modes) <= set(kind.modes.get("capture_mode", ()))


def test_a_spec_may_have_every_kind() -> None:
    assert set(field_schema("connector", ("kind",))["enum"]) == {*KINDS, AUTO}
    assert field_schema("connector", ("kind",))["default"] == DEFAULT.name == "sqlserver"
