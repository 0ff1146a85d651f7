"""Table and connector specs as frozen values: checked, with every default filled in."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from cdc.errors import CdcError
from cdc.spec.layers import TableProperties, TargetSchemas
from cdc.spec.retention import Retention

TemporalMode = Literal["adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"]
DecimalMode = Literal["precise", "double", "string"]
BinaryMode = Literal["bytes", "base64", "base64-url-safe", "hex"]
IntervalMode = Literal["numeric", "string"]
HstoreMode = Literal["json", "map"]
CaptureMode = Literal[
    "change_streams_update_full",
    "change_streams_update_full_with_pre_image",
    "change_streams",
    "change_streams_with_pre_image",
    "oplog",
]
UnsignedMode = Literal["long", "precise"]
DecimalFormat = Literal["base64", "numeric"]
Schemas = Literal["auto", "always", "never"]
Shape = Literal["auto", "envelope", "flattened", "cloudevents", "avro_json"]
Unavailable = Literal["as_null", "merge", "reject"]
Missing = Literal["as_null", "reject"]
Overflow = Literal["repair", "keep", "reject"]
WithinTransaction = Literal["auto", "lsn", "log", "total_order", "arrival"]
Action = Literal["warn", "drop", "fail", "quarantine"]
Deletes = Literal["hard", "soft"]


@dataclass(frozen=True)
class SourceType:
    """A column type of the source database, such as ``decimal(18,2)`` or ``datetime2(7)``.

    Synonyms are resolved (``timestamp`` becomes ``rowversion``, ``float(24)`` ``real``, ``integer`` ``int``) and
    the server's defaults are filled in (``decimal`` becomes ``decimal(18,0)``, ``datetime2`` ``datetime2(7)``).
    """

    name: str
    """Lower-case type name without arguments: ``decimal``, ``nvarchar``, ``datetime2``."""
    length: int | None = None
    """In characters or bytes; None if the type has no length or the length is ``max``."""
    precision: int | None = None
    """Digits of a decimal or numeric; fractional-second digits of a time, datetime2 or datetimeoffset."""
    scale: int | None = None
    """Decimal places of a decimal or numeric."""
    is_max: bool = False
    """True for ``varchar(max)``, ``nvarchar(max)`` and ``varbinary(max)``."""
    element: "SourceType | None" = field(default=None, repr=False)
    """The type of an array's elements."""
    is_large: bool = field(default=False, compare=False, repr=False)
    """True for types of which the log may omit an unchanged value, such as those stored off-row; the kind says which
    these are."""

    def __str__(self) -> str:
        """As in the source's DDL: ``decimal(18,2)``, ``nvarchar(max)``, ``int``."""
        if self.element is not None:
            return f"{self.element}[]"
        arguments = "max" if self.is_max else self.length if self.length is not None else self.precision
        if arguments is None:
            return self.name
        return f"{self.name}({arguments})" if self.scale is None else f"{self.name}({arguments},{self.scale})"


@dataclass(frozen=True)
class ColumnSpec:
    """One column of a source table and how it is decoded."""

    name: str
    """The column's name in the source and in change events."""
    type: SourceType
    target: str
    """The column's name in silver and gold."""
    nullable: bool = True
    comment: str | None = None
    mask: str | None = None
    """SQL expression, over target names, that replaces the decoded value: ``sha2(email, 256)``."""
    key_only: bool = False
    """True for a field that exists only in the record key: a router's ``__dbz__physicalTableIdentifier``."""
    constant: str | None = None
    """For a column that is not in the records: its value in every row, the name of the table's source."""
    unavailable: Unavailable = "as_null"
    """What to do with the connector's placeholder for a value that is not in the change log: use null, use the
    previous version's value, or reject the record."""
    is_whole: bool = False
    """True for the column with the whole document, which has no path."""
    may_be_left_out: bool = False
    """True if an update of the source's kind may carry other columns only, meaning the previous version's value."""
    null_is_unchanged: bool = False
    """True if a null in an update means an unchanged value, so the previous version's value is used; large types
    only (many connector versions send null for them)."""
    on_missing: Missing = "as_null"
    """What to do if a record does not have the field at all: use null, or reject the record."""
    may_be_absent: bool = False
    """True if the spec says of this column itself `on_missing: as_null`: that a record lacks it is expected."""
    overflow: Overflow = "repair"
    """What to do with a datetime2 whose nanoseconds overflowed 64 bits (9999-12-31 becomes 1816-03-30): repair
    the value, keep it, or reject the record."""
    zone: str | None = None
    """Time zone (IANA name) of datetime, smalldatetime and datetime2 values, which become ``timestamp``; None:
    they have no zone and become ``timestamp_ntz``."""
    offset_target: str | None = None
    """Name of an extra target column with a datetimeoffset's offset (``+02:00``); None: the offset is dropped."""

    @property
    def merges(self) -> bool:
        """True if a change may omit the column's value, meaning that of the previous version."""
        return self.may_be_left_out or (self.type.is_large and (self.unavailable == "merge" or self.null_is_unchanged))


@dataclass(frozen=True)
class ConnectorSpec:
    """One Debezium connector: its topics and the modes in which it writes values."""

    name: str
    topic_prefix: str
    kind: str = "sqlserver"
    """The kind of source database; `cdc.spec.kinds` has them all."""
    incarnation: int = 0
    """Incremented by hand after a restore or failover of the database; the first field of every sequence."""
    restored_at: tuple[datetime, ...] = ()
    """Moments of restores and failovers: records from each moment on have the next incarnation."""
    within_transaction: WithinTransaction = "auto"
    """What orders the changes inside a transaction: their log positions (``lsn``, in kinds without such numbers
    ``log``), the connector's count of the transaction's events, or the offset; auto: the count where there is one,
    else the log positions."""
    reads_without_position: Literal["reject", "first"] = "reject"
    """What becomes of a snapshot read without a commit LSN: a reject, or a change that sorts before all others."""
    time_precision_mode: TemporalMode = "adaptive"
    decimal_handling_mode: DecimalMode = "precise"
    binary_handling_mode: BinaryMode = "bytes"
    interval_handling_mode: IntervalMode = "numeric"
    hstore_handling_mode: HstoreMode = "json"
    bigint_unsigned_handling_mode: UnsignedMode = "long"
    capture_mode: CaptureMode = "change_streams_update_full"
    """Whether an update of a document comes with the whole document, or says only what it changed."""
    decimal_format: DecimalFormat = "base64"
    """How the JSON converter writes a precise decimal (``decimal.format``): bytes in base64, or a number."""
    schemas: Schemas = "auto"
    """Whether records carry a schema block (``schemas.enable``); auto: detected for each record."""
    shape: Shape = "auto"
    """The form of a record's value: Debezium's envelope, flattened by ExtractNewRecordState, a CloudEvent, or an
    envelope in Avro's JSON encoding; auto: one of the first three, detected for each record."""
    flat_prefix: str = "__"
    """Prefix of a flattened record's metadata fields (``add.fields.prefix``): ``__op``, ``__deleted``."""
    placeholder: str = "__debezium_unavailable_value"
    """Text that stands for a value missing from the change log (``unavailable.value.placeholder``); in a binary
    column, its bytes."""
    topic_pattern: str = ""
    """Naming pattern of a table's topic, such as ``{prefix}.{schema}.{table}``; empty: the kind's."""
    schema_changes_topic: str | None = None
    """Topic of the schema-change records; None: not read. The same holds for the four below."""
    transactions_topic: str | None = None
    heartbeat_topic: str | None = None
    notifications_topic: str | None = None
    signals_topic: str | None = None
    """Topic of the signal table's changes."""
    target_schemas: TargetSchemas = field(default_factory=TargetSchemas)
    """The schemas of the connector's own datasets: events, findings, gaps."""
    table_properties: TableProperties = field(default_factory=TableProperties)
    """Those of the connector's own datasets."""
    retention: Retention = field(default_factory=Retention)
    """Of the records of its own topics."""


@dataclass(frozen=True)
class Into:
    """The target that a table shares with tables of other sources."""

    table: str
    """Base name of the target: ``orders`` for silver.orders and gold.orders."""
    source: str
    """The source's name, in all of its rows."""
    column: str
    """The target column that has it."""


class InvalidTable(CdcError, ValueError):
    """A TableSpec that contradicts itself; specs from a conf folder never do."""


@dataclass(frozen=True)
class TableSpec:
    """One source table and the datasets made from it."""

    source: str
    """Full name in the source: ``shop.dbo.orders``."""
    name: str
    """Base name of the datasets: ``orders`` for bronze.orders, silver.orders_changes, gold.orders_history etc."""
    connector: ConnectorSpec
    topic: str
    key: tuple[str, ...]
    """Target names of the key columns, in key order; empty only for an append-only table."""
    columns: tuple[ColumnSpec, ...]
    """The columns of silver, in spec order, without the excluded ones."""
    history: bool = True
    """True: silver.<name> keeps every version (SCD type 2). False: the current row only (SCD type 1)."""
    track: tuple[str, ...] | None = None
    """Target names of the columns whose change opens a version; None: all of them."""
    expectations: dict[str, str] = field(default_factory=dict, hash=False)
    """Name -> SQL condition on a change."""
    actions: dict[str, Action] = field(default_factory=dict, hash=False)
    """Name of an expectation -> what happens to a change that violates it; the others count it and keep it (warn)."""
    filter: str | None = None
    """SQL condition over target columns: a row that does not meet it is in no table but ``_changes``."""
    computed: dict[str, str] = field(default_factory=dict, hash=False)
    """Name of an additional target column -> its SQL expression over the others."""
    deletes: Deletes = "hard"
    """hard: a delete removes the row. soft: the row stays, with the time of its delete."""
    comment: str | None = None
    tombstone_retention_seconds: int = 172_800
    excluded: tuple[str, ...] = ()
    """Source names of columns left out of silver: neither decoded nor reported as drift."""
    append_only: bool = False
    """True: the table has no key, so it has changes but no versions and no current rows."""
    shared_topic: bool = False
    """True: the topic carries other tables' records too; they are ignored, by their ``source``."""
    cluster_by: tuple[str, ...] = ()
    """Target names of the clustering columns of silver.<name> and the gold tables."""
    gold: str | None = None
    """Name of the gold table of current rows; None means ``name``."""
    gold_history: str | None = None
    """Name of the gold table of versions; None means the other gold table's name plus ``_history``."""
    target_schemas: TargetSchemas = field(default_factory=TargetSchemas)
    """The schemas of the table's datasets."""
    into: Into | None = None
    """The target that the table's changes flow into; None: one of its own, called ``name``."""
    table_properties: TableProperties = field(default_factory=TableProperties)
    """Delta's and Databricks' properties of the table's datasets."""
    retention: Retention = field(default_factory=Retention)
    """How long its records and changes are kept."""
    defined_at: str = ""
    """Where the spec is defined, for messages: ``conf/tables/shop/orders.yml:1``."""

    @property
    def merges(self) -> bool:
        """True if changes may leave columns to the previous version: there are versions, and the spec asks for it."""
        return not self.append_only and any(column.merges for column in self.columns)

    @property
    def has_partial_changes(self) -> bool:
        """True if a change names the columns that it sets: it may leave some out, or a delete keeps the row."""
        return self.merges or self.keeps_deleted

    @property
    def keeps_deleted(self) -> bool:
        """True if a deleted row stays, with the time of its delete."""
        return self.deletes == "soft" and not self.append_only

    @property
    def applies_truncates(self) -> bool:
        """True if a truncate of the source removes the table's rows: APPLY CHANGES does so without history only, and
        from the whole target."""
        return bool(self.key) and not self.history and not self.keeps_deleted and self.into is None

    def expected(self, action: Action) -> dict[str, str]:
        """The expectations with this action: name -> condition."""
        return {name: sql for name, sql in self.expectations.items() if self.actions.get(name, "warn") == action}

    def __post_init__(self) -> None:
        """Check the key, so that no user of a spec has to.

        Raises:
            InvalidTable: the key is missing though the table is not append-only, or is not among the columns.
        """
        if not self.key and not self.append_only:
            message = f"table {self.source} has no key and is not append-only"
            raise InvalidTable(message)
        if unknown := set(self.key) - {column.target for column in self.columns}:
            message = f"table {self.source}: key columns not among its columns: {sorted(unknown)}"
            raise InvalidTable(message)
