"""A query's text as Spark takes it: names in the place of USE, STREAM (SELECT ...), and streams from paths."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.relations import QUERY_STARTS, Relation, relations
from dlt_local.names import OWN_PREFIX

_FORMATS = ("DELTA", "PARQUET", "JSON", "CSV", "TEXT", "ORC", "AVRO", "XML", "BINARYFILE")
_STREAMED_PATH = f"{OWN_PREFIX}streamed_path_"


@dataclass(frozen=True)
class QueryText:
    """A query of which some tokens are replaced."""

    reader: Reader
    """At the query's first token."""
    end: int
    replaced: Mapping[int, str] = field(default_factory=dict)
    """Text in the place of a token, by the token's index."""
    prefixes: Mapping[int, str] = field(default_factory=dict)
    """Text before a token."""
    names: tuple[Relation, ...] = ()
    """What may be in the place of USE."""
    paths: Mapping[str, str] = field(default_factory=dict)
    """Temporary view -> the Delta table's path that the view must stream."""

    def text(self, is_view: Callable[[str], bool]) -> str:
        """The text, on its lines of the file; ``is_view`` tells views, which are in no schema, from tables."""
        prefixes = dict(self.prefixes)
        for each in self.names:
            name = self.reader.statement.text(each.first, each.end)
            if each.end > each.first + 1 or not is_view(self.reader.tokens[each.first].value):
                place = self.reader.qualified(name).removesuffix(name)
                prefixes[each.first] = prefixes.get(each.first, "") + place
        tokens = self.reader.tokens
        replaced = {at: before + self.replaced.get(at, tokens[at].text) for at, before in prefixes.items()}
        return self.reader.statement.text_on_its_lines(self.reader.at, self.end, {**self.replaced, **replaced})


def query_text(reader: Reader, end: int) -> QueryText:
    """Read the tokens up to ``end`` (exclusive) as a query.

    Raises:
        DeclarationError: it is not clear what is streamed.
    """
    replaced: dict[int, str] = {}
    prefixes: dict[int, str] = {}
    for stream, relation in _streamed_queries(reader, end):
        replaced[stream] = ""
        if relation is not None:
            prefixes[relation.first] = "STREAM "
    paths: dict[str, str] = {}
    names = []
    for each in relations(reader.tokens, reader.at, end):
        path = _path(reader, each)
        if path is None and not each.is_function:
            names.append(each)
        elif path is not None and (each.is_streamed or each.first in prefixes):
            _check_streamable(reader, each, path)
            view = f"{_STREAMED_PATH}{reader.statement.line(each.first)}_{each.first}"
            paths[view] = path
            replaced |= {each.first: view, each.first + 1: "", each.first + 2: ""}
    text = QueryText(dataclasses.replace(reader), end, replaced, prefixes, tuple(names), paths)
    reader.at = end
    return text


def _streamed_queries(reader: Reader, end: int) -> Iterator[tuple[int, Relation | None]]:
    """Each STREAM before a query in parentheses, and the relation inside that is streamed, if none is marked so."""
    tokens = reader.tokens
    for at in range(reader.at, end - 2):
        if not (tokens[at].is_word("STREAM") and tokens[at + 1].text == "(" and tokens[at + 2].is_word(*QUERY_STARTS)):
            continue
        inside = Reader(reader.statement, reader.file, at + 1)
        read = relations(tokens, *inside.parenthesized())
        if any(each.is_streamed for each in read):
            yield at, None
        elif len(read) == 1:
            yield at, read[0]
        else:
            fix = "write STREAM before the name of the relation whose new rows are wanted: FROM STREAM orders JOIN ..."
            fault = Reader(reader.statement, reader.file, at)
            raise fault.fault(f"STREAM stands before a query of {len(read)} relations", fix)


def _path(reader: Reader, relation: Relation) -> str | None:
    """The path that is the relation's name, as in delta.`/path`."""
    tokens = reader.tokens[relation.first : relation.end]
    is_path = len(tokens) == 3 and tokens[0].is_word(*_FORMATS) and "/" in tokens[2].value
    return tokens[2].value if is_path else None


def _check_streamable(reader: Reader, relation: Relation, path: str) -> None:
    format_ = reader.tokens[relation.first].text
    if format_.upper() != "DELTA":
        fault = Reader(reader.statement, reader.file, relation.first)
        fix = f"write STREAM read_files('{path}', format => '{format_.lower()}')"
        raise fault.fault("files cannot be streamed by their path alone", fix)
