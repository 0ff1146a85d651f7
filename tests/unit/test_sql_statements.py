"""SQL text as tokens and statements; no Spark."""

import doctest
from itertools import pairwise

import pytest

from dlt_local.declarations import access_control, reading, spark_errors
from dlt_local.declarations.sql import relations as relations_module
from dlt_local.declarations.sql.query_text import query_text
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.relations import relations
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
    quoted = "'--' || '${x}' /* ${y}\n */ || '/*' || ${x}"
    assert substituted(quoted, {"x": "1"}, "f.sql") == "'--' || '1' /* ${y}\n */ || '/*' || 1"
    with pytest.raises(DeclarationError, match=r"f\.sql:2\n(.|\n)*did you mean `schema`"):
        substituted("a\n${shema}", {"schema": "s"}, "f.sql")


@pytest.mark.parametrize(
    ("query", "read"),
    [
        (
            "SELECT a, b FROM t, s.u AS v JOIN `w` USING (a, b), x WHERE a IN (SELECT y FROM z)",
            ["t", "s.u", "`w`", "x", "z"],
        ),
        ("WITH a AS (SELECT * FROM b), c (n) AS (SELECT 1) SELECT * FROM a, c, C, d", ["b", "d"]),
        ("WITH t AS (SELECT * FROM t) SELECT * FROM t, (WITH u AS (SELECT 1 FROM u) SELECT * FROM u)", ["t", "u"]),
        ("WITH RECURSIVE t AS (SELECT 1 UNION ALL SELECT * FROM t) SELECT * FROM t", []),
        ("SELECT trim(BOTH ' ' FROM name), extract(DAY FROM at) FROM t WHERE a IS DISTINCT FROM b", ["t"]),
        (
            "SELECT * FROM (t JOIN (SELECT * FROM u) ON true), LATERAL (SELECT * FROM v) w, range(3) r",
            ["t", "u", "v", "range"],
        ),
        ("SELECT * FROM t LATERAL VIEW explode(items) e AS a, b ORDER BY a, b", ["t"]),
        ("FROM STREAM(live.t) |> WHERE x", ["live.t"]),
        ("SELECT 'FROM x' AS `from`, count(*) FROM t GROUP BY a, b UNION ALL SELECT 1, 2 FROM u", ["t", "u"]),
    ],
)
def test_the_relations_of_a_query_are_found(query: str, read: list[str]) -> None:
    (statement,) = statements(query)
    found = relations(statement.tokens, 0, len(statement.tokens))
    assert [statement.text(each.first, each.end) for each in found] == read


@pytest.mark.parametrize(
    ("query", "place", "text"),
    [
        ("SELECT * FROM t, v, s.u, live.w, range(2)", ("x",), "SELECT * FROM `x`.t, v, s.u, live.w, range(2)"),
        ("SELECT * FROM t, s.u, a.b.c", ("k", "x"), "SELECT * FROM `k`.`x`.t, `k`.s.u, a.b.c"),
        (
            "SELECT * FROM STREAM (SELECT a FROM t WHERE a > 1)",
            ("x",),
            "SELECT * FROM  (SELECT a FROM STREAM `x`.t WHERE a > 1)",
        ),
        ("SELECT * FROM STREAM(SELECT a FROM STREAM(t), u)", (), "SELECT * FROM (SELECT a FROM STREAM(t), u)"),
        ("SELECT * FROM STREAM delta.`/p/t` d", (), "SELECT * FROM STREAM __dlt_local_streamed_path_1_4 d"),
        ("SELECT * FROM delta.`/p/t`, csv.`/p/u`", ("x",), "SELECT * FROM delta.`/p/t`, csv.`/p/u`"),
    ],
)
def test_a_query_is_written_for_spark(query: str, place: tuple[str, ...], text: str) -> None:
    reader = Reader(statements(query)[0], "f.sql", place=place)
    assert query_text(reader, len(reader.tokens)).text(lambda name: name == "v") == text
    assert reader.is_done


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM STREAM (SELECT * FROM t JOIN u)", "STREAM stands before a query of 2 relations"),
        ("SELECT * FROM STREAM json.`/p`", "files cannot be streamed by their path alone"),
    ],
)
def test_what_cannot_be_streamed_is_refused(query: str, message: str) -> None:
    reader = Reader(statements(query)[0], "f.sql")
    with pytest.raises(DeclarationError, match=message):
        query_text(reader, len(reader.tokens))


def test_the_examples_hold() -> None:
    for module in (reading, relations_module, access_control, spark_errors):
        assert doctest.testmod(module).failed == 0
