"""Where a query names what it reads: after FROM and JOIN, after a comma between them, and inside STREAM(...)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dlt_local.declarations.sql.tokens import Token

QUERY_STARTS = ("SELECT", "WITH", "FROM", "VALUES", "TABLE")
# After one of these, a comma no longer separates relations.
_AFTER_FROM = (
    *("SELECT", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER", "SORT", "DISTRIBUTE"),
    *("CLUSTER", "LIMIT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "VIEW", "PIVOT", "UNPIVOT"),
)
_AFTER_RELATION = (
    *_AFTER_FROM,
    *("AS", "ON", "USING", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "SEMI", "ANTI", "NATURAL", "LATERAL"),
    *("TABLESAMPLE", "FOR", "TIMESTAMP", "VERSION", "FROM", "AND", "OR", "IN", "IS", "BETWEEN", "WATERMARK", "WITH"),
)
"""Words that are no alias."""
# Functions whose arguments have a FROM: extract(year FROM at).
_WITH_FROM = ("EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "OVERLAY")


@dataclass(frozen=True)
class Relation:
    """A place where a query names a dataset, a path or a table function."""

    first: int
    end: int
    """The range of the name's tokens."""
    is_streamed: bool
    """True inside or after STREAM."""
    is_function: bool


@dataclass
class _Level:
    """Inside one pair of parentheses, or outside of all."""

    is_argument: bool = False
    """True inside of the arguments of a function that has a FROM."""
    in_from: bool = False
    expecting: bool = False
    is_streamed: bool = False


def relations(tokens: Sequence[Token], first: int, end: int) -> list[Relation]:
    """The relations of a query, in the order of its text; names that its WITH clauses define are left out.

    >>> from dlt_local.declarations.sql.tokens import statements
    >>> [query] = statements("WITH a AS (SELECT * FROM x.b) SELECT extract(day FROM t) FROM a JOIN STREAM(c) ON c.i, d")
    >>> [query.text(r.first, r.end) for r in relations(query.tokens, 0, len(query.tokens))]
    ['x.b', 'c', 'd']
    """
    own = _with_names(tokens, first, end)
    is_recursive = any(token.is_word("RECURSIVE") for token in tokens[first:end])

    def is_own(each: Relation) -> bool:
        bodies = own.get(tokens[each.first].value.lower(), [])
        # Within its own query a name is still the table's: WITH orders AS (SELECT * FROM orders).
        is_inside = any(opening < each.first < closing for opening, closing in bodies)
        return each.end == each.first + 1 and bool(bodies) and (is_recursive or not is_inside)

    return [each for each in _all_relations(tokens, first, end) if not is_own(each)]


def qualifiers(tokens: Sequence[Token], first: int, end: int) -> frozenset[str]:
    """The names, in lower case, by which a query may qualify columns: aliases, and the tables' own names.

    >>> from dlt_local.declarations.sql.tokens import statements
    >>> [query] = statements("SELECT f.a, s.b FROM raw.sales AS s JOIN franchises f ON s.i = f.i JOIN (SELECT 1) x")
    >>> sorted(qualifiers(query.tokens, 0, len(query.tokens)))
    ['f', 'franchises', 's', 'sales', 'x']
    """
    found = {tokens[each.end - 1].value for each in _all_relations(tokens, first, end) if not each.is_function}
    for at in range(first + 1, end):
        before = at - 2 if tokens[at - 1].is_word("AS") else at - 1
        follows_relation = tokens[before].text == ")" or tokens[before].value in found
        if follows_relation and tokens[at].kind in ("word", "name") and not tokens[at].is_word(*_AFTER_RELATION):
            found.add(tokens[at].value)
    return frozenset(name.lower() for name in found)


def _with_names(tokens: Sequence[Token], first: int, end: int) -> dict[str, list[tuple[int, int]]]:
    """The names that WITH clauses define -> the parentheses around their queries."""
    names: dict[str, list[tuple[int, int]]] = {}
    for at in range(first, end - 2):
        name_follows = tokens[at].is_word("AS") and tokens[at + 1].text == "(" and tokens[at + 2].is_word(*QUERY_STARTS)
        if name_follows and at > first:
            before = at - 1
            if tokens[before].text == ")":
                before = _opening(tokens, before) - 1
            names.setdefault(tokens[before].value.lower(), []).append((at + 1, _closing(tokens, at + 1)))
    return names


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = tokens[opening].depth
    closing = (at for at in range(opening + 1, len(tokens)) if tokens[at].text == ")" and tokens[at].depth == depth)
    return next(closing, len(tokens))


def _opening(tokens: Sequence[Token], closing: int) -> int:
    depth = tokens[closing].depth
    return next(at for at in range(closing, -1, -1) if tokens[at].text == "(" and tokens[at].depth == depth)


def _all_relations(tokens: Sequence[Token], first: int, end: int) -> Iterator[Relation]:
    levels = [_Level()]
    at = first
    while at < end:
        token, level = tokens[at], levels[-1]
        if token.text == "(":
            levels.append(_inside(tokens, at, level))
            level.expecting = False
        elif token.text == ")" and len(levels) > 1:
            levels.pop()
        elif token.is_word("FROM") and not level.is_argument and not _is_distinct_from(tokens, at):
            level.in_from = level.expecting = True
            level.is_streamed = False
        elif token.is_word("JOIN") or (token.text == "," and level.in_from):
            level.expecting, level.is_streamed = True, False
        elif token.is_word(*_AFTER_FROM):
            level.in_from = level.expecting = False
        elif level.expecting and token.is_word("STREAM", "LATERAL") and at + 1 < end and _may_begin(tokens[at + 1]):
            level.is_streamed = level.is_streamed or token.is_word("STREAM")
        elif level.expecting and token.kind in ("word", "name"):
            name_end = _name_end(tokens, at, end)
            is_function = name_end < end and tokens[name_end].text == "("
            yield Relation(at, name_end, level.is_streamed, is_function)
            level.expecting = False
            at = name_end - 1
        at += 1


def _inside(tokens: Sequence[Token], opening: int, outside: _Level) -> _Level:
    is_argument = opening > 0 and tokens[opening - 1].is_word(*_WITH_FROM)
    is_relation = outside.expecting and not tokens[min(opening + 1, len(tokens) - 1)].is_word(*QUERY_STARTS)
    return _Level(is_argument, in_from=is_relation, expecting=is_relation, is_streamed=outside.is_streamed)


def _is_distinct_from(tokens: Sequence[Token], at: int) -> bool:
    return at > 0 and tokens[at - 1].is_word("DISTINCT")


def _may_begin(token: Token) -> bool:
    return token.text == "(" or token.kind in ("word", "name")


def _name_end(tokens: Sequence[Token], at: int, end: int) -> int:
    at += 1
    while at + 1 < end and tokens[at].text == "." and tokens[at + 1].kind in ("word", "name"):
        at += 2
    return at
