"""The list in parentheses after a table's or view's name: columns, constraints and expectations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dlt_local.declarations.elements import Action, Expectation
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.relations import qualifiers
from dlt_local.declarations.sql.tokens import Token, split, statements


@dataclass(frozen=True)
class ColumnList:
    """What a column list declares."""

    schema: str | None = None
    """Columns with types, and constraints that Delta keeps, as DDL; None where no column has a type."""
    names: tuple[tuple[str, str | None], ...] = ()
    """Columns without a type: the new names of the query's columns, in order, each with its comment."""
    expectations: tuple[Expectation, ...] = ()

    def of_query(self, tokens: Sequence[Token], first: int, end: int) -> "ColumnList":
        """The same for a dataset with this query: Databricks takes `f.city` for a column of the dataset too.

        It does where ``f`` is what the query calls the table that the column comes from.
        """
        if not self.expectations:
            return self
        names = qualifiers(tokens, first, end)
        plain = tuple(replace(e, condition=_without(names, str(e.condition))) for e in self.expectations)
        return replace(self, expectations=plain)

    def renamed(self, frame: DataFrame) -> DataFrame:
        """The frame with its columns renamed and commented as listed."""
        if not self.names:
            return frame
        columns = [
            F.col(f"`{name}`").alias(name, metadata={"comment": comment}) if comment else F.col(f"`{name}`")
            for name, comment in self.names
        ]
        return frame.toDF(*(name for name, _ in self.names)).select(*columns)


def column_list(reader: Reader) -> ColumnList:
    """Read the list if there is one.

    Raises:
        DeclarationError: only some of the columns have a type, or a constraint is not understood.
    """
    if not reader.sees_symbol("("):
        return ColumnList()
    typed: list[str] = []
    constraints: list[str] = []
    names: list[tuple[str, str | None]] = []
    expectations: list[Expectation] = []
    for first, end in split(reader.tokens, *reader.parenthesized()):
        item = Reader(reader.statement, reader.file, first)
        if item.sees("CONSTRAINT") and item.sees("EXPECT", ahead=2):
            expectations.append(_expectation(item, end))
        elif item.sees("CONSTRAINT") or item.sees("PRIMARY", "KEY") or item.sees("FOREIGN", "KEY"):
            constraints.append(reader.statement.text(first, end))
        elif (name := _without_type(item, end)) is not None:
            names.append(name)
        else:
            typed.append(reader.statement.text(first, end))
    if typed and names:
        message = f"column `{names[0][0]}` has no type, but other columns have one"
        raise reader.fault(message, "give a type to all of them, or to none")
    schema = ", ".join([*typed, *constraints]) if typed else None
    return ColumnList(schema, tuple(names), tuple(expectations))


def _without(qualifiers: frozenset[str], condition: str) -> str:
    """A condition without those qualifiers of columns."""
    [statement] = statements(condition)
    tokens, left_out = statement.tokens, dict[int, str]()
    for at in range(len(tokens) - 2):
        starts = at == 0 or tokens[at - 1].text != "."
        is_column = tokens[at + 2].kind in ("word", "name") and not (tokens[at + 3 :] and tokens[at + 3].text == "(")
        if starts and is_column and tokens[at + 1].text == "." and tokens[at].value.lower() in qualifiers:
            left_out |= {at: "", at + 1: ""}
    return statement.text(0, len(tokens), left_out)


def _without_type(item: Reader, end: int) -> tuple[str, str | None] | None:
    """Name and comment of a column that has no type; None for one that has."""
    token = item.tokens[item.at]
    item.at += 1
    if item.at == end:
        return token.value, None
    if item.sees("COMMENT") and item.at + 2 == end:
        return token.value, item.tokens[item.at + 1].value
    return None


def _expectation(item: Reader, end: int) -> Expectation:
    item.require("CONSTRAINT")
    name = item.name().strip("`")
    item.require("EXPECT")
    condition = item.statement.text(*item.parenthesized())
    action: Action = "warn"
    if item.accept("ON", "VIOLATION"):
        if item.accept("DROP", "ROW"):
            action = "drop"
        elif item.accept("FAIL", "UPDATE"):
            action = "fail"
        else:
            raise item.expected("DROP ROW or FAIL UPDATE")
    if item.at != end:
        raise item.fault(f"{item.next_text()} does not belong to constraint `{name}`")
    return Expectation(name, condition, action)
