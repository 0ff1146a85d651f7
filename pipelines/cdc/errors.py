"""Errors of cdc, and the faults of a conf folder as values: condition, place, near match, fix."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Literal


class Condition(Enum):
    """Everything that can be wrong with a conf folder; the value states when it is reported."""

    MISSING_CONF = "the conf folder, or a required part of it, does not exist"
    MISPLACED_FILE = "a table file is not in the folder of a connector"
    UNKNOWN_CONNECTOR = "a connector is named that has no file in `connectors/`"
    UNKNOWN_KIND = "`kind: auto` is found from a connector's records, and they name no known kind, or there are none"
    EMPTY_FILE = "a file is empty"
    BROKEN_YAML = "a file is not valid YAML"
    DUPLICATE_YAML_KEY = "a mapping has the same key twice"
    UNQUOTED_COMMA = "a type such as decimal(18,2), or SQL, is not quoted inside braces: YAML splits it at the comma"
    SECRET_IN_SPEC = "a file contains a password, token or key; the value is never shown"
    UNKNOWN_FIELD = "a field is not one that a spec can have"
    MISPLACED_FIELD = "a field has no effect where it is, or contradicts another"
    MISSING_FIELD = "a required field is missing"
    WRONG_KIND = "a value has the wrong kind: a string instead of a list, a number instead of a string"
    BAD_VALUE = "a value has the right kind but is not allowed"
    BAD_TYPE = "a column type is not one of the source database, or its arguments are out of range"
    UNSUPPORTED_TYPE = (
        "a column type exists in the source database, but the connector omits such columns from its records"
    )
    BAD_TABLE_NAME = "a source table is not named as its kind of database names tables"
    BAD_DATASET_NAME = "a dataset name is not valid for a lakehouse table"
    DUPLICATE_TABLE_NAME = "two tables would write the same dataset"
    DUPLICATE_SOURCE = "two tables flow into one target under the same source"
    SOURCES_DISAGREE = "tables that flow into one target disagree on something that its rows have in common"
    DUPLICATE_TOPIC = "two tables read the same topic"
    RESERVED_PROPERTY = "a table property is one that the pipeline sets itself"
    BAD_COLUMN_NAME = "a target column name has characters that Delta does not allow"
    RESERVED_COLUMN = "a target column name is reserved for the pipeline"
    DUPLICATE_COLUMN = "two columns of a table have the same target name (case-insensitive)"
    MISSING_KEY = "a table has no key and is not append-only"
    UNKNOWN_KEY_COLUMN = "a key column is not one of the table's columns"
    EXCLUDED_KEY_COLUMN = "a key column is excluded"
    MASKED_KEY_COLUMN = "a key column is masked"
    UNKNOWN_TRACKED_COLUMN = "a tracked column is not one of the table's columns"
    UNKNOWN_CLUSTER_COLUMN = "a clustering column is not one of the table's columns"
    BAD_SQL = "a mask, filter, computed column or expectation is not an SQL expression"
    UNKNOWN_SQL_COLUMN = "such an SQL text names a column that the table does not have"
    UNUSABLE_SQL_COLUMN = (
        "a computed column or an expectation with an action names a column that a change may leave out, or a computed"
        " column another one"
    )
    UNSTABLE_SQL = (
        "a filter, computed column or expectation with an action depends on more than the change: on time, chance or"
        " other rows"
    )
    NO_COLUMN_LEFT = "the exclusions leave no column, or none to track"
    MISSING_TOPIC = "a table's topic does not exist (`check` with `--records` or `--broker`)"
    UNKNOWN_SETTING = "a pipeline's configuration has a `cdc.*` setting that does not exist (`check` with `--bundle`)"
    UNKNOWN_ZONE = "a time zone is not one that this machine knows"
    SHORT_TOMBSTONE_RETENTION = "deleted keys would be forgotten in less than two days, Databricks' default"
    NO_KEY = "warning: an append-only table has changes but no versions and no current rows"
    UNREAD_TOPIC = "warning: a connector's topic exists and nothing reads it (`check` with `--records` or `--broker`)"
    NO_TABLES = "warning: a connector has no tables"


class RunCondition(Enum):
    """Everything else that stops a run or a command of `python -m cdc`, or that it warns of; the value states when."""

    SPARK_TOO_OLD = "the version of Spark lacks functions that decoding needs"
    UNKNOWN_SOURCE = "`cdc.source` is not set, or is neither `kafka` nor `capture:<folder>`"
    BAD_KAFKA_OPTIONS = "`cdc.kafka.options` is not a JSON object of strings"
    SECRET_REFUSED = "a setting refers to a secret that the workspace does not hand out"
    BAD_SWITCH = "a setting that is true or false, such as `cdc.drift`, has another value"
    BAD_SCHEMA_SETTING = "`cdc.schemas.<layer>` is not the name of a schema, or is of no layer"
    BAD_GAPS_SETTING = "`cdc.gaps` is neither true, nor false, nor a number of offsets"
    BAD_REPLAY_NAME = "`cdc.replay_rejects` is not a name of letters, digits and underscores"
    COLUMNS_NOT_COMPARABLE = "the rows to compare with gold lack columns of the table's spec"
    NOT_A_RECORD = "a line of a capture file is not a record as `kcat -C -J` prints it"
    NOT_A_CAPTURE = "a file given to `scaffold` or `check --records` is not a capture"
    NOT_A_CONNECTOR_CONFIG = "a file given to `check-connector` is not a connector's configuration"
    UNKNOWN_DATA_FLOW = (
        "sdp-meta calls a function of `cdc.interop.sdp_meta` for a data flow that no table spec describes"
    )
    TABLE_NOT_EXPORTED = "a table is left out of an export: sdp-meta would make other rows of it"
    NOT_EXPORTED = "warning: sdp-meta's files have no place for something that a spec says"
    SECRET_NOT_WRITTEN = "warning: an exported file has a placeholder in place of a secret"
    TABLE_NOT_IMPORTED = "a data flow is left out of an import: it does not read the changes of one table from Kafka"
    NOT_IMPORTED = "warning: a table spec has no place for something that sdp-meta's files say"
    FILE_NOT_FOUND = "a file that an onboarding file refers to is not where it says, nor beside it"


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file. Lines and columns start at 1; line 0 means the file or folder as a whole."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        """``file:line:column``, which editors and terminals turn into a link."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class Diagnostic:
    """One fault of a conf folder, or of files that are exported or imported."""

    condition: Condition | RunCondition
    location: Location
    detail: str
    """One sentence with the faulty value and the valid alternatives."""
    fix: str
    table: str | None = None
    """The source table, if the file names it."""
    value: str | None = None
    """The faulty text; None if there is none or it must not be shown."""
    near_match: str | None = None
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        """Three lines: condition, place and table; detail; fix."""
        table = f"   table {self.table}" if self.table else ""
        near = f" (did you mean `{self.near_match}`?)" if self.near_match else ""
        return f"{self.condition.name}  {self.location}{table}\n  {self.detail}{near}\n  fix: {self.fix}"


class CdcError(Exception):
    """Root of every error that cdc raises."""


class RunError(CdcError, ValueError):
    """A setting, a capture or another file that cannot be used.

    Attributes:
        condition: its condition.
    """

    def __init__(self, condition: RunCondition, place: str, message: str, fix: str) -> None:
        self.condition = condition
        super().__init__(f"{condition.name}  {place}\n  {message}\n  fix: {fix}")


class SpecError(CdcError):
    """A conf folder that cannot be used; lists every fault."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = in_reading_order(diagnostics)
        faults = "1 fault" if len(self.diagnostics) == 1 else f"{len(self.diagnostics)} faults"
        super().__init__("\n\n".join([f"the conf folder has {faults}", *map(str, self.diagnostics)]))


def in_reading_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Sorted by file and place, the order in which they are fixed."""
    return tuple(sorted(diagnostics, key=lambda found: (found.location, found.condition.name, found.detail)))


def near_match(word: str, known: Iterable[str]) -> str | None:
    """The known word most like ``word``, or None if none is close.

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
