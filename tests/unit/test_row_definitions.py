"""Row definitions: read when they are declared, compared with the stored ones; without Spark."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.sql import SparkSession
from tests.unit.test_messages import HERE, ORDERS, ROW, delta_table

from dlt_local.declarations.row_definition import check_definition
from dlt_local.errors import DeclarationError
from dlt_local.flows.context import UpdateContext
from dlt_local.graph.graph import Graph, Node
from dlt_local.updates import row_definitions
from dlt_local.updates.declaration_changes import refusals

DEFINED = {"rows.definition": "{}"}
OTHER_TYPE = DeclarationError("CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE", "", HERE)


def check(folder: Path, stored: str, declared: str) -> None:
    table = replace(ORDERS, table_properties={"rows.definition": declared})
    properties: Mapping[str, str] = {"rows.definition": stored}
    row_definitions.check(cast(SparkSession, None), table, delta_table(folder, properties))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{'total': 'int'}", "it is not JSON"),
        ('["total"]', "it is not a JSON object"),
        ('{"total": 9}', "part `total` is neither a text nor a list of texts"),
        ('{"NOT NULL": ["id", 1]}', "part `NOT NULL` is neither"),
    ],
)
def test_one_that_cannot_be_read_is_refused_where_it_is_declared(text: str, what: str) -> None:
    with pytest.raises(DeclarationError, match=rf"ROW_DEFINITION_NOT_VALID  tables\.py:7\n.*{re.escape(what)}"):
        check_definition(ORDERS.name, {"rows.definition": text}, HERE)
    check_definition(ORDERS.name, {}, HERE)


def test_a_stored_one_that_cannot_be_read_asks_for_a_rebuild(tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"ROW_DEFINITION_CHANGED(.|\n)*is not JSON(.|\n)*--rebuild silver"):
        check(tmp_path, "{'total': 'int'}", '{"total": "int"}')


def test_a_part_that_an_earlier_version_did_not_store_is_no_edit(tmp_path: Path) -> None:
    check(tmp_path, '{"total": "int"}', '{"total": "int", "order within a transaction": "auto"}')


@pytest.mark.parametrize(("stored", "declared"), [({}, DEFINED), (DEFINED, {}), ({}, {})], ids=["new", "gone", "none"])
def test_a_wider_type_is_refused_unless_two_definitions_can_be_compared(
    tmp_path: Path, stored: Mapping[str, str], declared: Mapping[str, str]
) -> None:
    assert widened(tmp_path / "both", DEFINED, DEFINED) == {}
    assert set(widened(tmp_path / "one", stored, declared).values()) == {OTHER_TYPE}


def widened(folder: Path, stored: Mapping[str, str], declared: Mapping[str, str]) -> Mapping[str, DeclarationError]:
    table = replace(ORDERS, table_properties=declared, partition_cols=("name",))
    path = delta_table(folder, stored)
    node = Node(table, "streaming table", (), ROW)
    context = cast(UpdateContext, SimpleNamespace(path=lambda _: path, session=None))
    return refusals([node], Graph((node,), (), widened={node.name: OTHER_TYPE}), context)
