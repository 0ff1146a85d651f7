"""`CREATE TABLE`, `CREATE MATERIALIZED VIEW` and `CREATE VIEW` as declarations of datasets."""

from collections.abc import Mapping
from dataclasses import replace

from dlt_local.declarations.elements import TableKind
from dlt_local.declarations.expectations import attach
from dlt_local.declarations.registry import current
from dlt_local.declarations.sql.columns import column_list
from dlt_local.declarations.sql.queries import query
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.table_options import TableOptions
from dlt_local.declarations.tables import declare_table, declare_target
from dlt_local.declarations.views import temporary_view

_MODIFIERS = ("TEMPORARY", "TEMP", "PRIVATE", "STREAMING", "INCREMENTAL", "LIVE", "MATERIALIZED")
_NO_EFFECT = (("LOCATION",), ("SCHEDULE",), ("TRIGGER",), ("DEFAULT", "COLLATION"))
# A clause without effect has no grammar here; it is skipped up to the next of these.
_CLAUSE_STARTS = ("AS", "COMMENT", "TBLPROPERTIES", "PARTITIONED", "CLUSTER", "LOCATION", "WITH", "DEFAULT")


def create_dataset(reader: Reader, settings: Mapping[str, str]) -> None:
    """Read what follows `CREATE [OR REFRESH | OR REPLACE]` and declare the table or view.

    Raises:
        DeclarationError: the statement is not understood, or refused.
    """
    modifiers = set()
    while not reader.is_done and reader.tokens[reader.at].is_word(*_MODIFIERS):
        modifiers.add(reader.tokens[reader.at].text.upper())
        reader.at += 1
    if reader.accept("TABLE") or ("MATERIALIZED" in modifiers and reader.accept("VIEW")):
        _table(reader, modifiers, settings)
    elif reader.accept("VIEW"):
        _view(reader, settings)
    else:
        raise reader.expected("TABLE, VIEW or FLOW")


def _name(reader: Reader, is_view: bool = False) -> str:
    """A table's name in the place of USE; a view is in no schema."""
    reader.accept("IF", "NOT", "EXISTS")
    return reader.name() if is_view else reader.dataset()


def _table(reader: Reader, modifiers: set[str], settings: Mapping[str, str]) -> None:
    name, columns = _name(reader), column_list(reader)
    streaming = bool(modifiers & {"STREAMING", "INCREMENTAL"})
    private = bool(modifiers & {"PRIVATE", "TEMPORARY", "TEMP"})
    options = replace(_table_clauses(reader), schema=columns.schema, spark_conf=settings, private=private)
    if reader.accept("AS"):
        kind: TableKind = "streaming table" if streaming else "materialized view"
        columns = columns.of_query(reader.tokens, reader.at, len(reader.tokens))
        declared = attach(query(reader, columns), columns.expectations)
        declare_table(kind, declared, name, options)
    elif streaming:
        declare_target(name, options, columns.expectations)
    elif _sees_clone(reader):
        message = f"{name} is a clone of another table, which no pipeline makes"
        raise reader.fault(message, "make it outside of the pipeline, or write AS SELECT * FROM the other table")
    else:
        raise reader.fault(f"{name} has no query", "write it after AS, or use CREATE STREAMING TABLE and add a flow")


def _table_clauses(reader: Reader) -> TableOptions:
    options = TableOptions()
    while not reader.is_done and not reader.sees("AS") and not _sees_clone(reader):
        if reader.accept("COMMENT"):
            options = replace(options, comment=reader.string())
        elif reader.accept("TBLPROPERTIES"):
            options = replace(options, table_properties=reader.properties())
        elif reader.accept("PARTITIONED", "BY"):
            options = replace(options, partition_cols=reader.column_names())
        elif reader.accept("CLUSTER", "BY"):
            options = replace(options, cluster_by=_clustering(reader))
        elif reader.accept("USING"):
            reader.require("DELTA")
        elif reader.accept("WITH", "ROW", "FILTER"):
            options = replace(options, row_filter=reader.until(*((word,) for word in _CLAUSE_STARTS)))
        else:
            _skip_without_effect(reader)
    return options


def _sees_clone(reader: Reader) -> bool:
    return any(reader.sees(*words) for words in (("SHALLOW", "CLONE"), ("DEEP", "CLONE"), ("CLONE",)))


def _clustering(reader: Reader) -> list[str]:
    if reader.accept("AUTO"):
        current().notice_no_effect("cluster_by_auto")
        return []
    return [] if reader.accept("NONE") else reader.column_names()


def _skip_without_effect(reader: Reader) -> None:
    clause = next((words for words in _NO_EFFECT if reader.sees(*words)), None)
    if clause is None:
        raise reader.fault(f"{reader.next_text()} is not a clause of this statement")
    match clause[0]:
        case "LOCATION":
            current().notice_no_effect("path")
        case _:
            current().notice(f"`{' '.join(clause)}` has no effect locally")
    reader.at += len(clause)
    while not reader.is_done and not _starts_clause(reader):
        reader.at += 1


def _starts_clause(reader: Reader) -> bool:
    token = reader.tokens[reader.at]
    return token.depth == 0 and token.is_word(*_CLAUSE_STARTS)


def _view(reader: Reader, settings: Mapping[str, str]) -> None:
    name, columns = _name(reader, is_view=True), column_list(reader)
    comment = None
    while not reader.is_done and not reader.sees("AS"):
        if reader.accept("COMMENT"):
            comment = reader.string()
        elif reader.accept("TBLPROPERTIES"):
            reader.properties()
        else:
            raise reader.fault(f"{reader.next_text()} is not a clause of a view")
    if not reader.accept("AS"):
        raise reader.fault(f"view {name} has no query", "write it after AS")
    columns = columns.of_query(reader.tokens, reader.at, len(reader.tokens))
    declared = attach(query(reader, columns), columns.expectations)
    if columns.schema is not None:
        raise reader.fault(f"the columns of view {name} have types", "cast them in the query")
    temporary_view(name=name.strip("`"), comment=comment, spark_conf=settings)(declared)
