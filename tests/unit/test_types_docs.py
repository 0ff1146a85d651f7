"""docs/types/<kind>.md and docs/rejects.md say what the code does."""

import re

import pytest
from tools import types_reference
from tools.type_pages import PAGES

from cdc.debezium.rejects import Reason
from cdc.spec.kinds import KINDS

GENERATED = types_reference.generated()


def made(page: str) -> str:
    return (types_reference.DOCS / page).read_text(encoding="utf-8").partition(types_reference.MARK)[2]


@pytest.mark.parametrize("page", GENERATED)
def test_a_page_is_what_the_code_makes(page: str) -> None:
    assert made(page) == GENERATED[page], "run: python -m tools.types_reference"


@pytest.mark.parametrize("kind", PAGES)
def test_every_type_has_a_line(kind: str) -> None:
    types = [line.split("`")[1] for line in made(f"types/{kind}.md").splitlines()[2:]]
    assert {KINDS[kind].parse_type(each)[0].name for each in types} >= set(KINDS[kind].known_types)


def test_every_kind_has_a_page_that_the_overview_names() -> None:
    assert set(PAGES) == set(KINDS)
    overview = (types_reference.DOCS / "types.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(types/(\w+)\.md\)", overview)) == set(KINDS)


def test_every_reason_has_a_line() -> None:
    assert [line.split(" | ")[0] for line in made("rejects.md").splitlines()[2:]] == [
        f"| {each.name}" for each in Reason
    ]
