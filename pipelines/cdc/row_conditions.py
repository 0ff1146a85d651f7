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


def removes_every_row(table: TableSpec) -> str | None:
    """The changes that remove all rows from ``silver.<table>``: truncates. None if it cannot apply them."""
    return names.IS_TRUNCATE if table.applies_truncates else None


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


def known_values(table: TableSpec) -> dict[str, str]:
    """The expectation that a create carries every value; empty if the log has them all.

    The create that follows the delete of a changed key can have the connector's placeholder, and its row has no
    previous version to take the value from: it is null in the new row.
    """
    if not table.merges:
        return {}
    large = [c.target for c in table.columns if c.type.is_large and c.unavailable == "merge"]
    listed = ", ".join(f"'{each}'" for name in large for each in [name.replace("\\", "\\\\").replace("'", "\\'")])
    is_known = f"{names.OP} <> '{names.CREATE}' OR size(array_except(array({listed}), {names.COLUMNS_TO_UPDATE})) = 0"
    return {"no value of a new row is missing in the log": is_known} if large else {}


def _passes(condition: str | None) -> str:
    # On lines of its own: the text may end in a comment.
    return f"coalesce((\n{condition}\n), false)"
