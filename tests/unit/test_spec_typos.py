"""Property: any field name with any single typo is reported at its line, with the intended name."""

import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.conf_folder import write_conf

from cdc.errors import Condition
from cdc.spec.load import read_conf
from cdc.spec.schema import FileKind, field_schema, resolved, schema
from cdc.spec.schema_faults import flow

TABLE = ["table: shop.dbo.orders", "key: [id]", "columns: {id: int}"]
PLACES: Mapping[FileKind, tuple[str, list[str]]] = {
    "table": ("tables/shop/orders.yml", TABLE),
    "connector": ("connectors/shop.yml", ["topic_prefix: shopserver"]),
    "defaults": ("defaults.yml", ["unavailable: merge"]),
}


def fields() -> Iterator[tuple[FileKind, str, Any]]:
    """Each optional top-level field with a valid value."""
    for kind in PLACES:
        for name, field in schema(kind)["properties"].items():
            if name not in schema(kind).get("required", ()):
                yield kind, name, value_of(resolved(field))


def value_of(field: Mapping[str, Any]) -> Any:
    return (field.get("examples") or field.get("enum") or [field.get("default")])[0]


def misspelt(name: str, random: Random) -> str:
    """The name with one letter dropped, doubled, changed or swapped with the next; never the name itself."""
    typo = name
    while typo == name:
        at = random.randrange(len(name) - 1)
        dropped = name[:at] + name[at + 1 :]
        doubled = name[:at] + name[at] + name[at:]
        changed = name[:at] + random.choice(string.ascii_lowercase) + name[at + 1 :]
        swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
        typo = random.choice([dropped, doubled, changed, swapped])
    return typo


@pytest.mark.parametrize("seed", range(6))
def test_a_misspelt_field_is_found_at_its_place(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    for number, (kind, name, value) in enumerate(fields()):
        typo = misspelt(name, random)
        file, usual = PLACES[kind]
        lines = list(usual)
        line = random.randint(1, len(lines) + 1)
        lines.insert(line - 1, f"{typo}: {flow(value)}")
        files = {PLACES["table"][0]: "\n".join(TABLE), PLACES["connector"][0]: "topic_prefix: shopserver"}
        conf = write_conf(tmp_path / str(number), files | {file: "\n".join(lines) + "\n"})
        found = [fault for fault in read_conf(conf).faults if fault.condition is Condition.UNKNOWN_FIELD]
        reported = [(fault.location.line, fault.location.column, fault.value, fault.near_match) for fault in found]
        assert reported == [(line, 1, typo, name)], f"seed={seed}: {typo} in {file}"


@pytest.mark.parametrize("seed", range(6))
def test_a_misspelt_field_of_a_column_is_found_at_its_place(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    for name, field in field_schema("table", ("columns", "id"))["properties"].items():
        typo = misspelt(name, random)
        column = f"  total: {{type: decimal, {typo}: {flow(value_of(resolved(field)))}}}"
        text = "\n".join([*TABLE[:2], "columns:", "  id: int", column])
        conf = write_conf(tmp_path / name, {"tables/shop/orders.yml": text})
        (fault,) = (each for each in read_conf(conf).faults if each.condition is Condition.UNKNOWN_FIELD)
        assert (fault.location.line, fault.value, fault.near_match) == (5, typo, name), f"seed={seed}"
        assert fault.location.column == column.index(f" {typo}: ") + 2


@pytest.mark.parametrize("seed", range(20))
def test_a_misspelt_key_column_is_found_at_its_place(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    columns = ["order_number", "line_number", "customer", "placed_at", "currency"]
    name = random.choice(columns)
    typo = misspelt(name, random)
    lines = ["table: shop.dbo.orders", f"columns: {flow(dict.fromkeys(columns, 'int'))}", f"key: [{typo}]"]
    text = "\n".join(lines)
    (fault,) = read_conf(write_conf(tmp_path, {"tables/shop/orders.yml": text})).faults
    assert fault.condition is Condition.UNKNOWN_KEY_COLUMN
    assert (fault.location.line, fault.location.column) == (3, 7), f"seed={seed}"
    assert (fault.value, fault.near_match) == (typo, name), f"seed={seed}"
