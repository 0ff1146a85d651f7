"""SQL text as tokens and statements with their positions; the queries inside are left for Spark to parse."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<cell>^--[ ]COMMAND[ ]-+[ ]*$)
    | (?P<gap>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<text>[rR]?'(?:[^'\\]|\\.|'')*'|[rR]?"(?:[^"\\]|\\.|"")*")
    | (?P<name>`(?:[^`]|``)*`)
    | (?P<word>[^\W\d]\w*)
    | (?P<other>\d[\w.]*|.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


@dataclass(frozen=True)
class Token:
    """A word, a quoted name, a string, or a symbol."""

    kind: str
    """`word`, `name` (in backticks), `text` (a string) or `other`."""
    text: str
    """As written, quotes included."""
    start: int
    end: int
    depth: int
    """The number of parentheses open around the token; a parenthesis itself counts as outside."""

    def is_word(self, *words: str) -> bool:
        """True for one of these keywords, in any letter case."""
        return self.kind == "word" and self.text.upper() in words

    @property
    def value(self) -> str:
        """The token without quotes and with escapes resolved."""
        if self.kind == "name":
            return self.text[1:-1].replace("``", "`")
        if self.kind != "text":
            return self.text
        raw = self.text[0] in "rR"
        quote, inner = self.text[-1], self.text[2 if raw else 1 : -1].replace(self.text[-1] * 2, self.text[-1])
        if raw:
            return inner
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), inner.replace("\\" + quote, quote))


@dataclass(frozen=True)
class Statement:
    """One statement: its tokens, and the text of the file they come from."""

    source: str
    tokens: tuple[Token, ...]

    def line(self, index: int = 0) -> int:
        """The line of a token, from 1; past the end, the line of the last token."""
        start = self.tokens[min(index, len(self.tokens) - 1)].start
        return self.source.count("\n", 0, start) + 1

    def text(self, first: int, end: int, replaced: Mapping[int, str] | None = None) -> str:
        """The text of the tokens from ``first`` up to ``end`` (exclusive), as written but for the replaced tokens."""
        if end <= first:
            return ""
        text, start = "", self.tokens[first].start
        for at in sorted(at for at in replaced or () if first <= at < end):
            text += self.source[start : self.tokens[at].start] + (replaced or {})[at]
            start = self.tokens[at].end
        return text + self.source[start : self.tokens[end - 1].end]

    def text_on_its_lines(self, first: int, end: int, replaced: Mapping[int, str] | None = None) -> str:
        """The same text after as many line breaks as precede it in the file: a parser then reports the file's lines."""
        return "\n" * (self.line(first) - 1) + self.text(first, end, replaced)


def statements(source: str) -> list[Statement]:
    """Split a file at its semicolons and at the notebook cells' separators."""
    found: list[Statement] = []
    tokens: list[Token] = []
    depth = 0
    for match in _TOKEN.finditer(source):
        kind, text = str(match.lastgroup), match[0]
        if kind == "cell" or (text == ";" and depth == 0):
            found += [Statement(source, tuple(tokens))] if tokens else []
            tokens, depth = [], 0
        elif kind != "gap":
            depth -= text in (")", "]")
            tokens.append(Token(kind, text, match.start(), match.end(), depth))
            depth += text in ("(", "[")
    return [*found, *([Statement(source, tuple(tokens))] if tokens else [])]


def split(tokens: Sequence[Token], first: int, end: int) -> list[tuple[int, int]]:
    """The items of a comma-separated list as ranges; the list is the tokens from ``first`` up to ``end``."""
    if end <= first:
        return []
    depth = tokens[first].depth
    commas = [i for i in range(first, end) if tokens[i].text == "," and tokens[i].depth == depth]
    starts = [first, *(comma + 1 for comma in commas)]
    return list(zip(starts, [*commas, end], strict=True))
