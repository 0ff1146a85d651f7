"""SQL text as words that know where they stand. What lies between a statement's clauses is Spark's to parse."""

import re
from collections.abc import Sequence
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
    """A word, a quoted name, a text in quotes, or a sign."""

    kind: str
    text: str
    start: int
    end: int
    depth: int
    """How many parentheses are open around it; those themselves stand outside."""

    def is_word(self, *words: str) -> bool:
        """True for one of these keywords, in any letter case."""
        return self.kind == "word" and self.text.upper() in words

    @property
    def value(self) -> str:
        """What a quoted text or name says, without its quotes."""
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
    """One statement: its tokens, and the file's text from which they are."""

    source: str
    tokens: tuple[Token, ...]

    def line(self, index: int = 0) -> int:
        """The line, from 1, on which a token stands; behind the last one, the last one's."""
        at = self.tokens[min(index, len(self.tokens) - 1)].start
        return self.source.count("\n", 0, at) + 1

    def text(self, first: int, behind: int) -> str:
        """The text of a range of tokens, just as it was written."""
        return self.source[self.tokens[first].start : self.tokens[behind - 1].end] if behind > first else ""

    def text_in_place(self, first: int, behind: int) -> str:
        """The same behind as many line breaks as stand before it, so that a parser counts the file's lines."""
        return "\n" * (self.line(first) - 1) + self.text(first, behind)


def statements(source: str) -> list[Statement]:
    """Split a file at its semicolons, and where a notebook's next cell begins."""
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


def split(tokens: Sequence[Token], first: int, behind: int) -> list[tuple[int, int]]:
    """The ranges between the commas of a list whose tokens are ``first`` up to ``behind``."""
    if behind <= first:
        return []
    depth = tokens[first].depth
    commas = [i for i in range(first, behind) if tokens[i].text == "," and tokens[i].depth == depth]
    starts = [first, *(comma + 1 for comma in commas)]
    return list(zip(starts, [*commas, behind], strict=True))
