"""Dataset names: what is none is refused where it is declared, so no two datasets share a folder."""

from pathlib import Path

import pytest

from dlt_local.declarations.flows import append_flow
from dlt_local.declarations.registry import Registry, registration
from dlt_local.declarations.tables import create_streaming_table, table
from dlt_local.declarations.views import temporary_view
from dlt_local.errors import DeclarationError
from dlt_local.names import InvalidName, table_name

EMPTY, CONTROL, SYNTAX = (
    "a part of it is empty or has nothing but dots",
    "it has a control character",
    "its dots and backticks do not separate parts",
)
NO_NAMES = {
    "": EMPTY,
    " ": EMPTY,
    ".": EMPTY,
    "..": EMPTY,
    "x.`.`": EMPTY,
    "`..`": EMPTY,
    "`...`.x": EMPTY,
    "a\nb": CONTROL,
    "s.a\x7f": CONTROL,
    "a..b": SYNTAX,
    ".a": SYNTAX,
    "a.": SYNTAX,
    "a`b": SYNTAX,
    "`a": SYNTAX,
}


@pytest.fixture
def registry() -> Registry:
    # Declaring needs no Spark.
    return Registry("default", None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "what"), NO_NAMES.items())
def test_what_is_no_name_is_refused_at_its_declaration(registry: Registry, name: str, what: str) -> None:
    with registration(registry), pytest.raises(DeclarationError) as refused:
        create_streaming_table(name)
    assert str(refused.value) == (
        f"INVALID_DATASET_NAME  {refused.value.location}\n  {name!r} is no name of a dataset: {what}\n"
        "  fix: write it as `table` or `schema.table`, and quote a part that has a dot in it: schema.`my.table`"
    )
    assert refused.value.location is not None
    assert Path(refused.value.location.file).name == Path(__file__).name


def test_a_name_on_the_command_line_is_refused_too() -> None:
    with pytest.raises(InvalidName, match="INVALID_DATASET_NAME"):
        table_name(".", "default")


def test_a_view_and_a_flow_need_a_name_that_can_be_a_folder(registry: Registry) -> None:
    with registration(registry):
        with pytest.raises(DeclarationError, match="INVALID_DATASET_NAME"):
            temporary_view(name="..")(lambda: None)  # type: ignore[arg-type, return-value]
        with pytest.raises(DeclarationError, match="INVALID_DATASET_NAME"):
            append_flow(target="x", name=".")(lambda: None)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    "name", ["orders", "silver.orders", "main.silver.orders", "s.`my.table`", "`a``b`", "größe", "a b"]
)
def test_other_names_are_accepted(registry: Registry, name: str) -> None:
    with registration(registry):
        table(name=name)(lambda: None)  # type: ignore[arg-type, return-value]
    assert len(registry.tables) == len(registry.flows) == 1
