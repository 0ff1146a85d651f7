"""Row filters and column masks: open-source Delta enforces neither, so a table that declares one is refused."""

from dlt_local.declarations.registry import current
from dlt_local.declarations.sql.tokens import Token, split, statements
from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.names import TableName

SETTING = "dlt_local.accept_unenforced"
"""Tables, separated by commas, whose row filters and masks are left out: every reader sees all rows and values."""

# What may follow a mask in a column's definition.
_AFTER_MASK = ("NOT", "COMMENT", "CONSTRAINT", "PRIMARY", "FOREIGN", "GENERATED", "DEFAULT")


def without_masks(columns: str) -> tuple[str, list[str]]:
    """A column list without the MASK clauses of its columns, and the names of these columns.

    >>> without_masks("id INT, mail STRING MASK hidden USING COLUMNS (id) NOT NULL COMMENT 'MASK'")
    ("id INT, mail STRING NOT NULL COMMENT 'MASK'", ['mail'])
    """
    read = statements(columns)
    if len(read) != 1:
        return columns, []
    tokens, text = read[0].tokens, columns
    masked: list[str] = []
    # From the end, so that the positions before stay right.
    for first, end in reversed(split(tokens, 0, len(tokens))):
        mask = next((at for at in range(first + 2, end) if _is_clause(tokens[at], "MASK")), None)
        if mask is not None:
            after = next((at for at in range(mask + 2, end) if _is_clause(tokens[at], *_AFTER_MASK)), None)
            text = text[: tokens[mask].start] + (text[tokens[after].start :] if after else text[tokens[end - 1].end :])
            masked.insert(0, tokens[first].value)
    return text.rstrip(), masked


def _is_clause(token: Token, *words: str) -> bool:
    return token.depth == 0 and token.is_word(*words)


def check_enforced(table: TableName, row_filter: str | None, masked: list[str], location: SourceLocation) -> None:
    """Refuse a table with a row filter or masks, unless its rows may be seen by everyone.

    Raises:
        DeclarationError: the setting does not name the table.
    """
    declared = [*(["a row filter"] if row_filter else []), *(f"a mask of column `{column}`" for column in masked)]
    if not declared:
        return
    accepted = (current().spark.conf.get(SETTING, None) or "").split(",")
    if str(table).lower() in (name.strip().lower() for name in accepted):
        current().notice(f"{table} has {' and '.join(declared)}, which nothing enforces locally: every reader sees all")
        return
    message = f"{table} has {' and '.join(declared)}, which open-source Delta does not enforce"
    fix = f"where every reader may see all of it, run with --set {SETTING}={table}"
    raise DeclarationError("ACCESS_NOT_ENFORCED", message, location, fix)
