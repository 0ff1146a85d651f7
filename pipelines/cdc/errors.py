"""Faults as values: what is wrong, where, the near match, the fix; all of a conf folder at once."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal


class Condition(Enum):
    """Everything that can be wrong with a conf folder; the value says when it is raised."""

    MISSING_CONF = "the conf folder, or what must be in it, is not there"
    MISPLACED_FILE = "a table's file does not lie in the folder of a connector"
    UNKNOWN_CONNECTOR = "a connector is named that has no file in `connectors/`"
    EMPTY_FILE = "a file holds nothing"
    BROKEN_YAML = "a file cannot be read as YAML"
    DUPLICATE_YAML_KEY = "a mapping has one key twice"
    UNQUOTED_COMMA = "a type such as decimal(18,2) stands unquoted inside braces, where its comma cuts it in two"
    SECRET_IN_SPEC = "a password, token or key stands in a file; its value is never shown"
    UNKNOWN_FIELD = "a field is none that a spec has"
    MISPLACED_FIELD = "a field stands where it can have no effect, or says the opposite of another"
    MISSING_FIELD = "a field that has no default is not there"
    WRONG_KIND = "a value is of another kind than wanted: a text for a list, a number for a text"
    BAD_VALUE = "a value is of the right kind but none that is allowed"
    BAD_TYPE = "a column type is none of the source database's, or its arguments are out of range"
    UNSUPPORTED_TYPE = "a column type is the database's, but the connector leaves such columns out of its records"
    BAD_TABLE_NAME = "a source table is not named by database, schema and table"
    BAD_DATASET_NAME = "a dataset name cannot be used for a lakehouse table"
    DUPLICATE_TABLE_NAME = "two tables would write one dataset"
    DUPLICATE_TOPIC = "two tables read one topic"
    BAD_COLUMN_NAME = "a target column name has characters that a Delta table refuses"
    RESERVED_COLUMN = "a target column name belongs to the pipeline"
    DUPLICATE_COLUMN = "two columns of a table get one target name (letter case does not count)"
    MISSING_KEY = "a table names no key and is not append-only"
    UNKNOWN_KEY_COLUMN = "a key column is not among the columns"
    EXCLUDED_KEY_COLUMN = "a key column is excluded"
    MASKED_KEY_COLUMN = "a key column is masked"
    UNKNOWN_TRACKED_COLUMN = "a tracked column is not among the columns"
    UNKNOWN_CLUSTER_COLUMN = "a clustering column is not among the columns"
    NO_COLUMN_LEFT = "what is excluded leaves no column, or none to track"
    UNKNOWN_ZONE = "a time zone is not one that this machine knows"
    SHORT_TOMBSTONE_RETENTION = "deleted keys would be forgotten sooner than Databricks' two days"
    NO_KEY = "warning: an append-only table has changes and neither versions nor current rows"
    NO_TABLES = "warning: a connector has no tables"


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file. Lines and columns count from 1; 0 means the file or folder as such."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        """As editors and terminals link it: ``file:line:column``."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class Diagnostic:
    """One fault of a spec."""

    condition: Condition
    location: Location
    detail: str
    """One sentence with the value in it and what is known beside it."""
    fix: str
    table: str | None = None
    """The source table, as far as the file says it."""
    value: str | None = None
    """The faulty text; None where there is none or it must not be shown."""
    near_match: str | None = None
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        """Three lines: condition, place and table; the detail; the fix."""
        table = f"   table {self.table}" if self.table else ""
        near = f" (did you mean `{self.near_match}`?)" if self.near_match else ""
        return f"{self.condition.name}  {self.location}{table}\n  {self.detail}{near}\n  fix: {self.fix}"


class CdcError(Exception):
    """Root of every error that cdc raises."""


class SpecError(CdcError):
    """A conf folder that cannot be used: every fault that it has."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = in_reading_order(diagnostics)
        faults = "1 fault" if len(self.diagnostics) == 1 else f"{len(self.diagnostics)} faults"
        super().__init__("\n\n".join([f"the conf folder has {faults}", *map(str, self.diagnostics)]))


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By file and place, as someone mends them."""
    return tuple(sorted(diagnostics, key=lambda found: (found.location, found.condition.name, found.detail)))


def near_match(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None.

    >>> near_match("Order_No", ["order_id", "order_no"])
    'order_no'
    >>> near_match("time.precision.mode", ["time_precision_mode"])
    'time_precision_mode'
    >>> near_match("colour", ["key"]) is None
    True
    """
    by_plain = {_plain(candidate): candidate for candidate in reversed(list(known))}
    close = difflib.get_close_matches(_plain(word), by_plain, n=1, cutoff=0.6)
    return by_plain[close[0]] if close else None


def _plain(word: str) -> str:
    return word.casefold().replace(".", "_").replace("-", "_")
