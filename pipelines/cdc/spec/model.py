"""The table and connector specs as frozen values: what the YAML says, checked, every default filled in."""

from dataclasses import dataclass, field
from typing import Literal

TemporalMode = Literal["adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"]
DecimalMode = Literal["precise", "double", "string"]
BinaryMode = Literal["bytes", "base64", "base64-url-safe", "hex"]
DecimalFormat = Literal["base64", "numeric"]
Schemas = Literal["auto", "always", "never"]
Shape = Literal["auto", "envelope", "flattened", "cloudevents", "avro_json"]
Unavailable = Literal["as_null", "merge", "reject"]
Missing = Literal["as_null", "reject"]
Overflow = Literal["repair", "keep", "reject"]


@dataclass(frozen=True)
class SourceType:
    """One column type as the source database names it, such as ``decimal(18,2)`` or ``datetime2(7)``.

    Synonyms are resolved (``timestamp`` is ``rowversion``, ``float(24)`` is ``real``, ``integer`` is ``int``)
    and the server's own defaults are filled in: ``decimal`` is ``decimal(18,0)``, ``datetime2`` is
    ``datetime2(7)``.
    """

    name: str
    """Lower-case type name without its arguments: ``decimal``, ``nvarchar``, ``datetime2``."""
    length: int | None = None
    """Characters or bytes; None where the type has no length or it is ``max``."""
    precision: int | None = None
    """Digits of decimal and numeric; fractional-second digits of time, datetime2 and datetimeoffset."""
    scale: int | None = None
    """Digits behind the point of decimal and numeric."""
    is_max: bool = False
    """True for ``varchar(max)``, ``nvarchar(max)`` and ``varbinary(max)``."""

    @property
    def is_large(self) -> bool:
        """Stored off the row (``max``, text, ntext, image, xml): the log may lack an unchanged value."""
        return self.is_max or self.name in ("text", "ntext", "image", "xml")

    def __str__(self) -> str:
        """As the source writes it: ``decimal(18,2)``, ``nvarchar(max)``, ``int``."""
        arguments = "max" if self.is_max else self.length if self.length is not None else self.precision
        if arguments is None:
            return self.name
        return f"{self.name}({arguments})" if self.scale is None else f"{self.name}({arguments},{self.scale})"


@dataclass(frozen=True)
class ColumnSpec:
    """One column of a source table and what becomes of it."""

    name: str
    """The column's name at the source, as it stands in the change event."""
    type: SourceType
    target: str
    """Its name in silver and gold."""
    nullable: bool = True
    comment: str | None = None
    mask: str | None = None
    """SQL expression over the column's target name that replaces the decoded value: ``sha2(email, 256)``."""
    key_only: bool = False
    """True for a field that only the record key has: a router's ``__dbz__physicalTableIdentifier``."""
    unavailable: Unavailable = "as_null"
    """What the connector's placeholder for a value that the change log did not hold becomes: null, the
    previous version's value, or the reason of a reject."""
    null_is_unchanged: bool = False
    """True: a null in an update means that the value did not change (large columns of many connector
    versions), so it is taken from the previous version. Only ever true of large types."""
    on_missing: Missing = "as_null"
    """What a record becomes that lacks the field altogether: null in this column, or a reject."""
    overflow: Overflow = "repair"
    """What a datetime2 becomes whose nanoseconds ran over 64 bits (9999-12-31 read as 1816-03-30): right
    again, as it reads, or the reason of a reject."""
    zone: str | None = None
    """Time zone (IANA name) in which datetime, smalldatetime and datetime2 are read, giving ``timestamp``;
    None: they have no zone and give ``timestamp_ntz``."""
    offset_target: str | None = None
    """Name of a further target column that keeps a datetimeoffset's offset (``+02:00``); None: not kept."""

    @property
    def merges(self) -> bool:
        """True where a change may lack the column's value and mean that of the previous version."""
        return self.type.is_large and (self.unavailable == "merge" or self.null_is_unchanged)


@dataclass(frozen=True)
class ConnectorSpec:
    """One Debezium connector: where its topics are and in which modes it writes values."""

    name: str
    topic_prefix: str
    kind: str = "sqlserver"
    incarnation: int = 0
    """Raised by hand after a restore or failover of the database: it leads every sequence."""
    within_transaction: Literal["lsn", "total_order", "arrival"] = "lsn"
    """What orders the changes of one transaction: their LSNs, the connector's own count of the transaction's
    events, or the offset."""
    time_precision_mode: TemporalMode = "adaptive"
    decimal_handling_mode: DecimalMode = "precise"
    binary_handling_mode: BinaryMode = "bytes"
    decimal_format: DecimalFormat = "base64"
    """How the JSON converter (``decimal.format``) writes a precise decimal: bytes in base64, or a number."""
    schemas: Schemas = "auto"
    """Whether records carry a schema block (``schemas.enable``); auto: each record is looked at."""
    shape: Shape = "auto"
    """The form of a record's value: Debezium's envelope, flattened by ExtractNewRecordState, a CloudEvent, or an
    envelope in Avro's own JSON; auto: each record is looked at, for the first three."""
    flat_prefix: str = "__"
    """Prefix of a flattened record's metadata fields (``add.fields.prefix``): ``__op``, ``__deleted``."""
    placeholder: str = "__debezium_unavailable_value"
    """The text in place of a value that the change log did not hold (``unavailable.value.placeholder``); a
    binary column has its bytes."""
    topic_pattern: str = "{prefix}.{database}.{schema}.{table}"
    """How a table's topic is named; connectors of 1.x: ``{prefix}.{schema}.{table}``."""
    schema_changes_topic: str | None = None
    """Topic of the schema-change records; None: not read. So for the four below."""
    transactions_topic: str | None = None
    heartbeat_topic: str | None = None
    notifications_topic: str | None = None
    signals_topic: str | None = None
    """Topic of the signal table's own changes."""


@dataclass(frozen=True)
class TableSpec:
    """One source table and the datasets that come of it."""

    source: str
    """Full name at the source: ``shop.dbo.orders``."""
    name: str
    """Dataset name: ``orders`` gives bronze.orders, silver.orders_changes, gold.orders_history and so on."""
    connector: ConnectorSpec
    topic: str
    key: tuple[str, ...]
    """Target names of the key columns, in the key's order; empty only for an append-only table."""
    columns: tuple[ColumnSpec, ...]
    """The columns that reach silver, in the spec's order; excluded ones are not among them."""
    history: bool = True
    """True: silver.<name> keeps every version (SCD type 2). False: the current row only (SCD type 1)."""
    track: tuple[str, ...] | None = None
    """Target names of the columns whose change opens a version; None: all of them."""
    expectations: dict[str, str] = field(default_factory=dict, hash=False)
    """Name -> SQL condition on a change; a change that does not meet it is counted and kept."""
    comment: str | None = None
    tombstone_retention_seconds: int = 172_800
    excluded: tuple[str, ...] = ()
    """Source names of columns that silver shall not have: neither decoded nor reported as drift."""
    append_only: bool = False
    """True: the table has no key, so there are changes and neither versions nor rows."""
    shared_topic: bool = False
    """True: the topic carries other tables' records too; those whose ``source`` says so are ignored."""
    cluster_by: tuple[str, ...] = ()
    """Target names of the columns by which silver.<name> and the gold tables are clustered."""
    gold: str | None = None
    """Name of the gold table of current rows; None: ``name``."""
    gold_history: str | None = None
    """Name of the gold table of versions; None: the gold table's name with ``_history``."""
    defined_at: str = ""
    """Where the spec stands, for messages: ``conf/tables/shop/orders.yml:1``."""

    @property
    def merges(self) -> bool:
        """True where a change may leave columns to the previous version: there are versions, and the spec says so."""
        return not self.append_only and any(column.merges for column in self.columns)

    def __post_init__(self) -> None:
        """Refuse what no reader of a spec should have to ask about again.

        Raises:
            ValueError: no key though the table is not append-only, or a key that is not among the columns.
        """
        if not self.key and not self.append_only:
            message = f"table {self.source} has no key and is not append-only"
            raise ValueError(message)
        if strange := set(self.key) - {column.target for column in self.columns}:
            message = f"table {self.source}: key columns that are no columns: {sorted(strange)}"
            raise ValueError(message)
