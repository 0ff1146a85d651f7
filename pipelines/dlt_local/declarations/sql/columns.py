"""The list in parentheses behind a table's or view's name: columns, keys, and constraints that are expectations."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dlt_local.declarations import decorators
from dlt_local.declarations.elements import Action, ColumnLike
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.tokens import split


@dataclass(frozen=True)
class ColumnList:
    """What a list declares."""

    schema: str | None = None
    """Columns with their types, and constraints that Delta keeps, as DDL; None where no column has a type."""
    names: tuple[tuple[str, str | None], ...] = ()
    """Columns without a type: what the query's columns are called, one after the other, and their comments."""
    expectations: tuple[tuple[str, str, Action], ...] = ()
    """Name, condition, and what happens to a row that does not meet it."""

    def conditions(self, action: Action) -> dict[str, ColumnLike]:
        """Name -> condition of the expectations with this action."""
        return {name: condition for name, condition, own in self.expectations if own == action}

    def attach(self, query: Callable[[], DataFrame]) -> Callable[[], DataFrame]:
        """Put the expectations on a query, as decorators below `@table` do."""
        put_on = {"warn": decorators.expect, "drop": decorators.expect_or_drop, "fail": decorators.expect_or_fail}
        for name, condition, action in reversed(self.expectations):
            query = put_on[action](name, condition)(query)
        return query

    def named(self, frame: DataFrame) -> DataFrame:
        """The frame with its columns called as the list says."""
        if not self.names:
            return frame
        renamed = frame.toDF(*(name for name, _ in self.names))
        commented = [
            F.col(f"`{name}`").alias(name, metadata={"comment": comment}) if comment else F.col(f"`{name}`")
            for name, comment in self.names
        ]
        return renamed.select(*commented)


def column_list(reader: Reader) -> ColumnList:
    """Read the list.

    Raises:
        DeclarationError: some columns have a type and others have none, or a constraint is not understood.
    """
    typed: list[str] = []
    columns: list[str] = []
    names: list[tuple[str, str | None]] = []
    expectations: list[tuple[str, str, Action]] = []
    for first, behind in split(reader.tokens, *reader.inside()):
        item = Reader(reader.statement, reader.file, first)
        if item.sees("CONSTRAINT") and item.sees("EXPECT", ahead=2):
            expectations.append(_expectation(item, behind))
        elif item.sees("CONSTRAINT") or item.sees("PRIMARY", "KEY") or item.sees("FOREIGN", "KEY"):
            typed.append(reader.statement.text(first, behind))
        elif (name := _untyped(item, behind)) is not None:
            names.append(name)
        else:
            columns.append(reader.statement.text(first, behind))
    if columns and names:
        raise reader.fault(
            f"column `{names[0][0]}` has no type, and others have one", "give all of them a type, or none"
        )
    schema = ", ".join([*columns, *typed]) if columns else None
    return ColumnList(schema, tuple(names), tuple(expectations))


def _untyped(item: Reader, behind: int) -> tuple[str, str | None] | None:
    token = item.tokens[item.at]
    item.at += 1
    if item.at == behind:
        return token.value, None
    if item.sees("COMMENT") and item.at + 2 == behind:
        return token.value, item.tokens[item.at + 1].value
    return None


def _expectation(item: Reader, behind: int) -> tuple[str, str, Action]:
    item.needs("CONSTRAINT")
    name = item.name().strip("`")
    item.needs("EXPECT")
    condition = item.statement.text(*item.inside())
    action: Action = "warn"
    if item.takes("ON", "VIOLATION"):
        if item.takes("DROP", "ROW"):
            action = "drop"
        elif item.takes("FAIL", "UPDATE"):
            action = "fail"
        else:
            raise item.fault(f"DROP ROW or FAIL UPDATE is to stand here, this is {item.next_text()}")
    if item.at != behind:
        raise item.fault(f"{item.next_text()} does not belong to constraint `{name}`")
    return name, condition, action
