"""Goes through one statement from left to right; what is not as it must be is told with its line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlt_local.declarations.sql.tokens import Statement, Token, split
from dlt_local.errors import DeclarationError, SourceLocation, did_you_mean


@dataclass
class Reader:
    """A statement and how far it is read."""

    statement: Statement
    file: str
    at: int = 0

    @property
    def tokens(self) -> tuple[Token, ...]:
        """All of the statement's."""
        return self.statement.tokens

    @property
    def is_done(self) -> bool:
        """True behind the last token."""
        return self.at >= len(self.tokens)

    def location(self, index: int | None = None) -> SourceLocation:
        """File and line of a token, by default the next one."""
        return SourceLocation(self.file, self.statement.line(self.at if index is None else index))

    def fault(self, message: str, fix: str = "") -> DeclarationError:
        """What to raise where the statement cannot be understood."""
        return DeclarationError("SQL_NOT_UNDERSTOOD", message, self.location(), fix)

    def sees(self, *words: str, ahead: int = 0) -> bool:
        """True if these keywords come next."""
        coming = self.tokens[self.at + ahead : self.at + ahead + len(words)]
        return len(coming) == len(words) and all(t.is_word(w) for t, w in zip(coming, words, strict=True))

    def takes(self, *words: str) -> bool:
        """Read these keywords if they come next; False if they do not."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def needs(self, *words: str) -> None:
        """Read these keywords, which must come next."""
        if not self.takes(*words):
            raise self.fault(f"{' '.join(words)} is to stand here, this is {self.next_text()}")

    def next_text(self) -> str:
        """What comes next, for a message."""
        return "the statement's end" if self.is_done else f"`{self.tokens[self.at].text}`"

    def sign(self, text: str) -> bool:
        """Read a sign if it comes next."""
        if self.is_done or self.tokens[self.at].text != text:
            return False
        self.at += 1
        return True

    def name(self) -> str:
        """Read a name of one or several parts, as it was written."""
        first = self.at
        while not self.is_done and self.tokens[self.at].kind in ("word", "name"):
            self.at += 1
            if not self.sign("."):
                return self.statement.text(first, self.at)
        raise self.fault(f"a name is to stand here, this is {self.next_text()}")

    def quoted(self) -> str:
        """Read a text in quotes."""
        if self.is_done or self.tokens[self.at].kind != "text":
            raise self.fault(f"a text in quotes is to stand here, this is {self.next_text()}")
        self.at += 1
        return self.tokens[self.at - 1].value

    def inside(self) -> tuple[int, int]:
        """Read what stands in parentheses; the range of its tokens."""
        if not self.sign("("):
            raise self.fault(f"`(` is to stand here, this is {self.next_text()}")
        depth = self.tokens[self.at - 1].depth
        behind = next(
            (
                i
                for i in range(self.at, len(self.tokens))
                if self.tokens[i].text == ")" and self.tokens[i].depth == depth
            ),
            None,
        )
        if behind is None:
            raise self.fault("a parenthesis is opened and not closed")
        first, self.at = self.at, behind + 1
        return first, behind

    def names(self) -> list[str]:
        """Read a list of names in parentheses."""
        return [self.statement.text(*each) for each in split(self.tokens, *self.inside())]

    def until(self, *ends: tuple[str, ...]) -> str:
        """Read up to the next of these keywords outside of parentheses, or the end; the text as it was written."""
        first = self.at
        while not self.is_done and not self._at_one_of(ends):
            self.at += 1
        if first == self.at:
            raise self.fault(f"an expression is to stand here, this is {self.next_text()}")
        return self.statement.text(first, self.at)

    def _at_one_of(self, ends: Sequence[tuple[str, ...]]) -> bool:
        return self.tokens[self.at].depth == 0 and any(self.sees(*words) for words in ends)

    def properties(self) -> dict[str, str]:
        """Read `('a' = 'b', c.d = 1)`."""
        found = {}
        for first, behind in split(self.tokens, *self.inside()):
            signs = [i for i in range(first, behind) if self.tokens[i].text == "="]
            middle = signs[0] if signs else first + 1
            key, value = self.tokens[first:middle], self.tokens[middle + bool(signs) : behind]
            if not key or not value:
                raise self.fault(
                    f"`{self.statement.text(first, behind)}` is no property", "write it as 'name' = 'value'"
                )
            found["".join(t.value for t in key)] = "".join(t.value for t in value)
        return found


def substituted(text: str, values: Mapping[str, str], file: str) -> str:
    """The file with `${name}` replaced by its value.

    Raises:
        DeclarationError: there is no such value.
    """
    parts = text.split("${")
    done = parts[0]
    for part in parts[1:]:
        if "--" in done.rpartition("\n")[2]:
            # In a comment it stands for nothing.
            done += "${" + part
            continue
        name, closed, rest = part.partition("}")
        if not closed or name.strip() not in values:
            near = did_you_mean(name.strip(), values)
            message = f"`${{{name}}}` has no value{near}"
            location = SourceLocation(file, done.count("\n") + 1)
            raise DeclarationError("NO_SUCH_VALUE", message, location, "set it in the pipeline's configuration")
        done += values[name.strip()] + rest
    return done
