"""The scenario that all small shops share, and the rows at its end."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

DEMO = Path(__file__).resolve().parents[2] / "demo"
SCENARIO = DEMO / "scenario" / "small_shop.json"
KEYS: Mapping[str, str] = {"customers": "customer_id", "orders": "order_id"}
"""Table -> its key."""
Row = dict[str, Any]
"""Column -> value: numbers, texts, null; ``address`` is an object, ``wishes`` a list."""
Step = Mapping[str, Any]


class Operation(NamedTuple):
    """One statement."""

    verb: Literal["insert", "update", "delete", "rekey"]
    table: str
    key: int
    values: Row
    """The whole row of an insert; what an update changes."""
    new_key: int | None = None

    @classmethod
    def of(cls, parts: Sequence[Any]) -> "Operation":
        """As in the scenario: verb, table, then the row of an insert, else the key and what becomes of it."""
        verb, table, *rest = parts
        if verb == "insert":
            return cls(verb, table, rest[0][KEYS[table]], rest[0])
        if verb == "rekey":
            return cls(verb, table, rest[0], {}, rest[1])
        return cls(verb, table, rest[0], rest[1] if verb == "update" else {})


class Rows:
    """The rows of all tables, while operations are applied."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[int, Row]] = {table: {} for table in KEYS}

    def apply(self, operation: Operation) -> None:
        """One operation."""
        rows = self.tables[operation.table]
        match operation.verb:
            case "insert":
                rows[operation.key] = dict(operation.values)
            case "update":
                rows[operation.key] |= operation.values
            case "delete":
                del rows[operation.key]
            case "rekey":
                assert operation.new_key is not None
                key = {KEYS[operation.table]: operation.new_key}
                rows[operation.new_key] = rows.pop(operation.key) | key


def steps() -> list[Step]:
    """The scenario's steps."""
    found: list[Step] = json.loads(SCENARIO.read_text(encoding="utf-8"))
    return found


def operations(step: Step) -> list[Operation]:
    """Those of a transaction."""
    return list(map(Operation.of, step["transaction"]))


def final_rows() -> Mapping[str, Mapping[int, Row]]:
    """Table -> key -> the row at the scenario's end."""
    rows = Rows()
    for operation in _operations():
        rows.apply(operation)
    return rows.tables


def versions(table: str) -> list[Row]:
    """Every state of a table's rows, in the order in which they were committed."""
    rows, found = Rows(), []
    for operation in _operations():
        rows.apply(operation)
        if operation.table == table and operation.verb != "delete":
            found.append(dict(rows.tables[table][operation.new_key or operation.key]))
    return found


def _operations() -> list[Operation]:
    return [operation for step in steps() if "transaction" in step for operation in operations(step)]
