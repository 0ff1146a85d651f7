"""SQL text as tokens and statements; no Spark."""

import doctest
from itertools import pairwise

import pytest

from dlt_local.declarations import reading
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.settings import substituted
from dlt_local.declarations.sql.tokens import statements
from dlt_local.errors import DeclarationError


def texts(source: str) -> list[list[str]]:
    return [[token.text for token in statement.tokens] for statement in statements(source)]


def test_a_file_is_split_at_semicolons_and_cells_but_not_inside_quotes_or_parentheses() -> None:
    source = 'a \'x;y\' /* ; */ -- ;\n; b (c; d) `e;f`\n-- COMMAND ----------\ng "h;"";i"'
    assert texts(source) == [["a", "'x;y'"], ["b", "(", "c", ";", "d", ")", "`e;f`"], ["g", '"h;"";i"']]


def test_quotes_and_escapes_are_resolved() -> None:
    values = [token.value for token in statements(r"""'it''s' "a\"b" 'c\n' r'\d' `x``y` plain""")[0].tokens]
    assert values == ["it's", 'a"b', "c\n", r"\d", "x`y", "plain"]


def test_a_query_keeps_its_line_numbers() -> None:
    (_, second) = statements("first;\n\nAS\n  SELECT 1,\n  2")
    assert second.line() == 3
    assert second.text_on_its_lines(1, len(second.tokens)) == "\n\n\nSELECT 1,\n  2"


def test_tokens_know_their_positions() -> None:
    source = "CREATE x (a INT, 'ü;' , 1.5e3) -- end\n;y"
    for statement in statements(source):
        for one, next_ in pairwise(statement.tokens):
            assert source[one.start : one.end] == one.text
            assert one.end <= next_.start


def test_properties_are_read_in_every_notation() -> None:
    reader = Reader(statements("('a' = 'b', c.d = 1, 'e' 'f', pipelines.reset.allowed = false)")[0], "f.sql")
    assert reader.properties() == {"a": "b", "c.d": "1", "e": "f", "pipelines.reset.allowed": "false"}


def test_values_are_substituted_except_in_comments() -> None:
    assert substituted("a ${x} -- ${y}\n${ x }", {"x": "1"}, "f.sql") == "a 1 -- ${y}\n1"
    with pytest.raises(DeclarationError, match=r"f\.sql:2\n(.|\n)*did you mean `schema`"):
        substituted("a\n${shema}", {"schema": "s"}, "f.sql")


def test_the_examples_hold() -> None:
    assert doctest.testmod(reading).failed == 0
