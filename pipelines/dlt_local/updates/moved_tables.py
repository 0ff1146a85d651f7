"""Moved tables: one that would start empty under a new name, while its rows are stored under the old one.

A table says by its property `rows.origin` whose rows it has. It matters for tables that must not be fully refreshed:
what they would read again may no longer be complete.
"""

from dlt_local.declarations.elements import Table
from dlt_local.delta import delta_log
from dlt_local.errors import DeclarationError
from dlt_local.flows.context import UpdateContext
from dlt_local.updates import stored_tables

ORIGIN = "rows.origin"
SETTING = "dlt_local.accept_moves"


def check(table: Table, context: UpdateContext) -> None:
    """Compare a table that has no rows yet with the stored tables that are no longer declared.

    Raises:
        DeclarationError: one of them has its rows.
    """
    origin = table.table_properties.get(ORIGIN)
    if origin is None or table.may_reset or delta_log.exists(context.path(table.name)):
        return
    if str(table.name) in [name.strip() for name in str(context.session.conf.get(SETTING, "")).split(",")]:
        return
    for name in stored_tables.inactive(context.storage, context.registry.tables):
        path = context.storage.table(name)
        if delta_log.properties(path).get(ORIGIN) == origin and delta_log.has_rows(path):
            raise DeclarationError(
                "TABLE_MOVED",
                f"{table.name} would start empty, and {name}, which is no longer declared, has its rows ({origin})",
                table.location,
                f"restore the name {name}; or, to read again what the source still has, run once with"
                f" --set {SETTING}={table.name}",
            )
