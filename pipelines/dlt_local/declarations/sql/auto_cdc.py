"""`AUTO CDC INTO` and `APPLY CHANGES INTO` as the declaration of an AUTO CDC flow."""

from dataclasses import replace

from dlt_local.declarations.auto_cdc_checks import AutoCdcArguments, ColumnChoice
from dlt_local.declarations.reading import without_live
from dlt_local.declarations.registry import current
from dlt_local.declarations.sql.columns import ColumnList
from dlt_local.declarations.sql.queries import query
from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.relations import QUERY_STARTS
from dlt_local.declarations.views import temporary_view
from dlt_local.errors import DeclarationError
from dlt_local.names import parts

# The first match counts: COLUMNS TO UPDATE must come before COLUMNS.
_CLAUSES: tuple[tuple[str, ...], ...] = (
    ("KEYS",),
    ("IGNORE", "NULL", "UPDATES"),
    ("WHERE",),
    ("APPLY", "AS", "DELETE", "WHEN"),
    ("APPLY", "AS", "TRUNCATE", "WHEN"),
    ("SEQUENCE", "BY"),
    ("SYSTEM", "SEQUENCE", "BY"),
    ("COLUMNS", "TO", "UPDATE"),
    ("COLUMNS",),
    ("STORED", "AS"),
    ("TRACK", "HISTORY", "ON"),
)
_REQUIRED = (("KEYS",), ("SEQUENCE", "BY"))


def auto_cdc(reader: Reader, name: str | None = None) -> None:
    """Read what follows `AUTO CDC` or `APPLY CHANGES` and declare the flow.

    Raises:
        DeclarationError: the statement is not understood, or refused.
    """
    once = reader.accept("ONCE")
    reader.require("INTO")
    target = without_live(reader.dataset())
    reader.require("FROM")
    arguments = AutoCdcArguments(target, _source(reader, target), name=name, once=once)
    seen = set()
    while not reader.is_done:
        clause = next((words for words in _CLAUSES if reader.accept(*words)), None)
        if clause is None:
            raise reader.fault(f"{reader.next_text()} is not a clause of AUTO CDC")
        arguments = _with_clause(arguments, clause, reader)
        seen.add(clause)
    for clause in _REQUIRED:
        if clause not in seen:
            raise reader.fault(f"{' '.join(clause)} is missing")
    current().add_flow(arguments.flow())


def _source(reader: Reader, target: str) -> str:
    """The name of the source; a query becomes a view."""
    first = reader.at
    is_streamed = reader.accept("STREAM")
    if not reader.sees_symbol("("):
        return reader.dataset()
    inside, end = reader.parenthesized()
    if is_streamed and not reader.tokens[inside].is_word(*QUERY_STARTS):
        named = Reader(reader.statement, reader.file, inside, reader.place)
        source = named.dataset()
        if named.at != end:
            raise named.expected("`)`")
        return source
    view = f"source_of_{'_'.join(parts(target))}_in_line_{reader.statement.line(first)}"
    asked = Reader(reader.statement, reader.file, first, reader.place)
    temporary_view(name=view)(query(asked, ColumnList(), reader.at))
    return view


def _with_clause(arguments: AutoCdcArguments, clause: tuple[str, ...], reader: Reader) -> AutoCdcArguments:
    """The arguments with those of a clause, whose keywords have been read."""
    match clause:
        case ("KEYS",):
            return replace(arguments, keys=reader.names())
        case ("IGNORE", "NULL", "UPDATES"):
            if reader.accept("ON"):
                return replace(arguments, ignored_columns=_choice(reader, arguments.ignored_columns))
            return replace(arguments, ignore_null_updates=True)
        case ("COLUMNS",):
            return replace(arguments, columns=_choice(reader, arguments.columns))
        case ("TRACK", "HISTORY", "ON"):
            return replace(arguments, tracked_columns=_choice(reader, arguments.tracked_columns))
        case ("STORED", "AS"):
            return replace(arguments, stored_as_scd_type=_scd_type(reader))
    text = reader.until(*_CLAUSES)
    match clause:
        case ("WHERE",):
            return replace(arguments, where=text)
        case ("APPLY", "AS", "DELETE", "WHEN"):
            return replace(arguments, apply_as_deletes=text)
        case ("APPLY", "AS", "TRUNCATE", "WHEN"):
            return replace(arguments, apply_as_truncates=text)
        case ("SEQUENCE", "BY"):
            return replace(arguments, sequence_by=text)
        case ("SYSTEM", "SEQUENCE", "BY"):
            return replace(arguments, system_sequence_by=text)
        case _:
            return replace(arguments, columns_to_update=text)


def _choice(reader: Reader, given: ColumnChoice) -> ColumnChoice:
    if reader.accept_symbol("*"):
        reader.require("EXCEPT")
        return replace(given, all_but=reader.names())
    if reader.sees_symbol("("):
        return replace(given, only=reader.names())
    return replace(given, only=[part.strip() for part in reader.until(*_CLAUSES).split(",")])


def _scd_type(reader: Reader) -> str:
    if reader.accept("BITEMPORAL"):
        message = "bitemporal targets are not supported"
        fix = "write STORED AS SCD TYPE 1 or 2"
        raise DeclarationError("AUTOCDC_BITEMPORAL_NOT_SUPPORTED", message, reader.location(), fix)
    reader.require("SCD", "TYPE")
    return reader.until(*_CLAUSES)
