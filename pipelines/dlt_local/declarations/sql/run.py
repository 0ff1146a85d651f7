"""Runs an SQL source file: each statement makes the declaration that a decorator would make."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from dlt_local.declarations.registry import current, located_at
from dlt_local.declarations.sql.auto_cdc import auto_cdc
from dlt_local.declarations.sql.datasets import create_dataset
from dlt_local.declarations.sql.flows import create_flow
from dlt_local.declarations.sql.functions import create_function
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.settings import settings, substituted
from dlt_local.declarations.sql.tokens import statements
from dlt_local.names import parts


def run_text(
    source: str,
    file: str,
    spark: SparkSession,
    place: tuple[str, ...] = (),
    own_settings: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Make the declarations of SQL text; its lines are those of ``file``.

    Args:
        source: the text.
        file: its file, for messages.
        spark: the pipeline's session.
        place: the catalog and schema, or the schema, of unqualified names.
        own_settings: of a notebook's cell, what `SET` gives in any of its cells; by default those of the text.

    Returns:
        The place at the end, as its last `USE` has it.

    Raises:
        DeclarationError: a statement is not understood, or refused; with its file and line.
    """
    own_settings = settings(source, file) if own_settings is None else own_settings
    source = substituted(source, {**spark.conf.getAll, **own_settings}, file)
    for statement in statements(source):
        reader = Reader(statement, file, place=place)
        with located_at(reader.location()):
            if reader.accept("USE"):
                place = _used(reader)
            else:
                _declare(reader, own_settings)
    return place


def _used(reader: Reader) -> tuple[str, ...]:
    """The place of unqualified names from here to the end of the file, from what follows `USE`."""
    if reader.accept("CATALOG"):
        used = (*parts(reader.name()), reader.place[-1] if reader.place else current().schema)
    else:
        _ = reader.accept("SCHEMA") or reader.accept("DATABASE")
        used = (*reader.place[:-1], *parts(reader.name()))[-2:]
    if not reader.is_done:
        raise reader.expected("the end of the statement")
    return used


def _declare(reader: Reader, settings: Mapping[str, str]) -> None:
    if reader.accept("SET"):
        return
    if reader.accept("AUTO", "CDC") or reader.accept("APPLY", "CHANGES"):
        auto_cdc(reader)
    elif reader.accept("CREATE"):
        _ = reader.accept("OR", "REFRESH") or reader.accept("OR", "REPLACE")
        if reader.accept("FLOW"):
            create_flow(reader)
        elif _accepts_function(reader):
            create_function(reader)
        elif any(reader.accept(word) for word in ("SCHEMA", "DATABASE", "CATALOG")):
            current().notice("`CREATE SCHEMA` and `CREATE CATALOG` have no effect locally: they are made as needed")
        else:
            create_dataset(reader, settings)
    else:
        message = f"no statement of a pipeline starts with {reader.next_text()}"
        fix = "use CREATE TABLE, VIEW, FLOW or FUNCTION, AUTO CDC INTO, APPLY CHANGES INTO, USE or SET"
        raise reader.fault(message, fix)


def _accepts_function(reader: Reader) -> bool:
    return any(reader.accept(*words) for words in (("FUNCTION",), ("TEMPORARY", "FUNCTION"), ("TEMP", "FUNCTION")))
