"""docs/types.md and docs/rejects.md say what the code does."""

import re

import pytest
from tools import types_reference

from cdc.debezium.rejects import Reason
from cdc.spec.sqlserver_types import known_types


def made(page: str) -> str:
    return (types_reference.DOCS / page).read_text(encoding="utf-8").partition(types_reference.MARKS[page])[2]


@pytest.mark.parametrize(
    ("page", "text"), [("types.md", types_reference.types()), ("rejects.md", types_reference.reasons())]
)
def test_a_page_is_what_the_code_makes(page: str, text: str) -> None:
    assert made(page) == text


def test_every_type_has_a_line() -> None:
    listed = {re.match(r"\| `(\w+)", line)[1] for line in made("types.md").splitlines()[2:]}  # type: ignore[index]
    assert listed == set(known_types())


def test_every_reason_has_a_line() -> None:
    assert [line.split(" | ")[0] for line in made("rejects.md").splitlines()[2:]] == [
        f"| {each.name}" for each in Reason
    ]
