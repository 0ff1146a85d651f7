"""Reads one SQL statement token by token; every fault names its file and line."""

from collections.abc import Sequence
from dataclasses import dataclass

from dlt_local.declarations.sql.tokens import Statement, Token, split
from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.names import parts, quote


@dataclass
class Reader:
    """A statement and the position reached in it."""

    statement: Statement
    file: str
    at: int = 0
    place: tuple[str, ...] = ()
    """Catalog and schema of unqualified names, as USE has set them: (), (schema,) or (catalog, schema)."""

    @property
    def tokens(self) -> tuple[Token, ...]:
        """The statement's tokens."""
        return self.statement.tokens

    @property
    def is_done(self) -> bool:
        """True after the last token."""
        return self.at >= len(self.tokens)

    def location(self) -> SourceLocation:
        """File and line of the next token."""
        return SourceLocation(self.file, self.statement.line(self.at))

    def fault(
        self, message: str, fix: str = "compare it with the statements in docs/engine/sql.md"
    ) -> DeclarationError:
        """The error to raise where the statement cannot be understood."""
        return DeclarationError("SQL_NOT_UNDERSTOOD", message, self.location(), fix)

    def expected(self, what: str) -> DeclarationError:
        """The error to raise where something else should come next."""
        return self.fault(f"expected {what}, found {self.next_text()}")

    def next_text(self) -> str:
        """The next token, for a message."""
        return "the end of the statement" if self.is_done else f"`{self.tokens[self.at].text}`"

    def sees(self, *words: str, ahead: int = 0) -> bool:
        """True if these keywords come next."""
        coming = self.tokens[self.at + ahead : self.at + ahead + len(words)]
        return len(coming) == len(words) and all(t.is_word(w) for t, w in zip(coming, words, strict=True))

    def sees_symbol(self, text: str) -> bool:
        """True if this symbol comes next."""
        return not self.is_done and self.tokens[self.at].text == text

    def accept(self, *words: str) -> bool:
        """Read these keywords if they come next; otherwise False."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def accept_symbol(self, text: str) -> bool:
        """Read this symbol if it comes next; otherwise False."""
        if not self.sees_symbol(text):
            return False
        self.at += 1
        return True

    def require(self, *words: str) -> None:
        """Read these keywords, which must come next."""
        if not self.accept(*words):
            raise self.expected(" ".join(words))

    def name(self) -> str:
        """Read a name of one or several parts, as written."""
        first = self.at
        while not self.is_done and self.tokens[self.at].kind in ("word", "name"):
            self.at += 1
            if not self.accept_symbol("."):
                return self.statement.text(first, self.at)
        raise self.expected("a name")

    def dataset(self) -> str:
        """Read the name of a table, as written or by IDENTIFIER('...'), in the place that USE has set."""
        if not (self.sees("IDENTIFIER") and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1].text == "("):
            return self.qualified(self.name())
        self.at += 1
        first, end = self.parenthesized()
        texts = self.tokens[first:end]
        if not texts or not all(each.kind == "text" or each.text == "|" for each in texts):
            raise self.fault("IDENTIFIER has something other than strings, joined by ||", "write IDENTIFIER('name')")
        return self.qualified("".join(each.value for each in texts if each.kind == "text"))

    def qualified(self, name: str) -> str:
        """The name with what it lacks of the place that USE has set; LIVE names a dataset of this pipeline."""
        split = parts(name)
        if len(split) > 1 and split[0].lower() == "live":
            return name
        missing = self.place[: max(len(self.place) + 1 - len(split), 0)]
        return ".".join([*map(quote, missing), name])

    def string(self) -> str:
        """Read a string; its value."""
        if self.is_done or self.tokens[self.at].kind != "text":
            raise self.expected("a string in quotes")
        self.at += 1
        return self.tokens[self.at - 1].value

    def parenthesized(self) -> tuple[int, int]:
        """Read a pair of parentheses; the range of the tokens inside."""
        if not self.accept_symbol("("):
            raise self.expected("`(`")
        first, depth = self.at, self.tokens[self.at - 1].depth
        for end in range(first, len(self.tokens)):
            if self.tokens[end].text == ")" and self.tokens[end].depth == depth:
                self.at = end + 1
                return first, end
        raise self.fault("a parenthesis is opened and not closed")

    def names(self) -> list[str]:
        """Read a list of names in parentheses, as written."""
        return [self.statement.text(*item) for item in split(self.tokens, *self.parenthesized())]

    def column_names(self) -> list[str]:
        """Read a list of column names in parentheses, without their backticks."""
        return [name.strip("`") for name in self.names()]

    def until(self, *ends: tuple[str, ...]) -> str:
        """Read up to the next of these keywords outside of parentheses, or to the end; the text as written."""
        first = self.at
        while not self.is_done and not self._sees_one_of(ends):
            self.at += 1
        if first == self.at:
            raise self.expected("an expression")
        return self.statement.text(first, self.at)

    def _sees_one_of(self, ends: Sequence[tuple[str, ...]]) -> bool:
        return self.tokens[self.at].depth == 0 and any(self.sees(*words) for words in ends)

    def properties(self) -> dict[str, str]:
        """Read a list of properties such as `('a' = 'b', c.d = 1)`."""
        found = {}
        for first, end in split(self.tokens, *self.parenthesized()):
            signs = [i for i in range(first, end) if self.tokens[i].text == "="]
            middle = signs[0] if signs else first + 1
            key, value = self.tokens[first:middle], self.tokens[middle + bool(signs) : end]
            if not key or not value:
                message = f"`{self.statement.text(first, end)}` is not a property"
                raise self.fault(message, "write it as 'name' = 'value'")
            found["".join(t.value for t in key)] = "".join(t.value for t in value)
        return found
