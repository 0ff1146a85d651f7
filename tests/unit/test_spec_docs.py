"""The JSON Schemas, the model, docs/table-spec.md and conf/schema agree."""

import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.support.conf_folder import write_conf

from cdc.spec.durations import seconds
from cdc.spec.load import read_conf
from cdc.spec.model import ColumnSpec, ConnectorSpec, SourceType, TableSpec
from cdc.spec.policies import POLICIES
from cdc.spec.reference import reference
from cdc.spec.schema import FOLDER, FileKind, field_schema, resolved, schema

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/table-spec.md").read_text(encoding="utf-8")
MADE = "<!-- what follows is made by `python -m cdc reference` -->\n\n"
KINDS: tuple[FileKind, ...] = ("table", "connector", "defaults")


_WITHOUT_DEFAULT = ("topic_prefix", "topic_pattern", "topics")


def test_the_pages_reference_is_the_schemas() -> None:
    assert PAGE.partition(MADE)[2] == reference()


def test_the_pages_examples_are_a_sound_conf_folder(tmp_path: Path) -> None:
    examples = dict(re.findall(r"```yaml\n# conf/(\S+)\n(.*?)```", PAGE, re.DOTALL))
    conf = read_conf(write_conf(tmp_path, examples))
    assert conf.faults == ()
    assert [table.name for table in conf.tables] == [
        "audit_log",
        "invoices",
        "orders",
        "people",
        "sales_eu",
        "sales_us",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_conf_folders_schemas_are_the_codes(kind: FileKind) -> None:
    name = f"{kind}.schema.json"
    assert (ROOT / "conf/schema" / name).read_bytes() == (FOLDER / name).read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_a_schema_and_describes_every_field(kind: FileKind) -> None:
    Draft202012Validator.check_schema(dict(schema(kind)))
    fields = {**schema(kind)["properties"], **field_schema(kind, ("columns", "id")).get("properties", {})}
    assert [name for name, field in fields.items() if not resolved(field).get("description")] == []


def test_a_connectors_defaults_are_the_schemas() -> None:
    built_in = ConnectorSpec("shop", "shopserver")
    of_schema = {
        name: resolved(field)["default"]
        for name, field in schema("connector")["properties"].items()
        if name not in (*_WITHOUT_DEFAULT, "target_schemas", "table_properties", "retention", *POLICIES)
    }
    assert list(built_in.restored_at) == of_schema.pop("restored_at")
    assert {name: getattr(built_in, name) for name in of_schema} == of_schema
    schemas = field_schema("connector", ("target_schemas",))["properties"]
    assert vars(built_in.target_schemas) == {layer: part["default"] for layer, part in schemas.items()}


def test_a_tables_and_a_columns_defaults_are_the_schemas() -> None:
    column = ColumnSpec("id", SourceType("int"), "id")
    table = TableSpec("s.d.t", "t", ConnectorSpec("shop", "s"), "topic", ("id",), (column,))
    defaults = {name: field_schema("table", (name,)).get("default") for name in schema("table")["properties"]}
    for name in ("history", "shared_topic", "append_only"):
        assert getattr(table, name) == defaults[name]
    assert (table.expectations, list(table.cluster_by)) == (defaults["expectations"], defaults["cluster_by"])
    assert table.tombstone_retention_seconds == seconds(str(defaults["tombstone_retention"]))
    assert (column.unavailable, column.overflow) == (defaults["unavailable"], defaults["overflow"])
    assert (column.zone, column.null_is_unchanged) == (None, False)
    assert (defaults["datetime_zone"], defaults["large_nulls"], defaults["on_missing"]) == ("none", "as_null", None)


def test_defaults_yml_has_the_tables_defaults() -> None:
    for name, field in schema("defaults")["properties"].items():
        assert resolved(field).get("default") == field_schema("table", (name,)).get("default")
