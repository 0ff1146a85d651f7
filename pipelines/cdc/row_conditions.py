"""SQL conditions that decide what becomes of a change, as pipeline declarations take them."""

from cdc import names
from cdc.spec.model import Action, TableSpec

_HAS_ROW = f"{names.OP} IN {names.WITH_ROW}"


def removes_row(table: TableSpec) -> str | None:
    """The changes that remove their row from ``silver.<table>``; None if no change does.

    With a filter a change that does not meet it removes its row, which is how rows leave it.
    """
    deletes = () if table.keeps_deleted else (names.IS_DELETE,)
    outside = (f"({_HAS_ROW} AND NOT {_passes(table.filter)})",) if table.filter else ()
    return " OR ".join((*deletes, *outside)) or None


def expectations(table: TableSpec, action: Action) -> dict[str, str]:
    """The expectations with an action, as conditions on every change.

    Those with ``drop`` and ``fail`` are met by a change without a row, such as a delete, and by one that the filter
    makes a removal: dropping these would keep a row that is gone.
    """
    conditions = table.expected(action)
    if action == "warn":
        return conditions
    outside = f" OR NOT {_passes(table.filter)}" if table.filter else ""
    return {name: f"NOT ({_HAS_ROW}){outside} OR (\n{sql}\n)" for name, sql in conditions.items()}


def _passes(condition: str | None) -> str:
    # On lines of its own: the text may end in a comment.
    return f"coalesce((\n{condition}\n), false)"
