"""`CREATE FLOW` as the declaration of an append flow or an AUTO CDC flow."""

from dlt_local.declarations.flows import append_flow
from dlt_local.declarations.reading import without_live
from dlt_local.declarations.sql.auto_cdc import auto_cdc
from dlt_local.declarations.sql.columns import ColumnList
from dlt_local.declarations.sql.queries import query
from dlt_local.declarations.sql.reader import Reader


def create_flow(reader: Reader) -> None:
    """Read what follows `CREATE FLOW` and declare the flow.

    Raises:
        DeclarationError: the statement is not understood, or refused.
    """
    name = reader.name()
    comment = reader.string() if reader.accept("COMMENT") else None
    reader.require("AS")
    if reader.accept("AUTO", "CDC"):
        auto_cdc(reader, name)
        return
    reader.require("INSERT")
    # Databricks documents ONCE in both places.
    once = reader.accept("ONCE")
    reader.require("INTO")
    once = reader.accept("ONCE") or once
    target = without_live(reader.dataset())
    reader.accept("BY", "NAME")
    append_flow(name=name.strip("`"), target=target, comment=comment, once=once)(query(reader, ColumnList()))
