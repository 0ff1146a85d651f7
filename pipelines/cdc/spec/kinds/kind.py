"""What a specification needs to know of a connector kind: names of tables and topics, types, and modes."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cdc.spec.kinds.comparison import Widths
from cdc.spec.model import SourceType

Parser = Callable[[str], tuple[SourceType, bool | None]]
"""Reads a column type as in DDL: the type, and whether it is nullable (None if the text does not state it)."""
_EXAMPLE_PREFIX = "shopserver"


@dataclass(frozen=True)
class Kind:
    """One kind of source database, as its Debezium connector writes it."""

    name: str
    """As in `kind:` of a connector spec and in ``source.connector`` of its records: ``postgresql``."""
    title: str
    """As people call it: ``PostgreSQL``."""
    connector_class: str
    """``connector.class`` of its configuration."""
    table_example: str
    """A source table as in `table:` of a spec: ``shop.public.orders``."""
    topic_patterns: tuple[str, ...]
    """The naming patterns of a table's topic: the default one first, then those of other versions."""
    table_parts: tuple[str, ...]
    """What the parts of `table:` are, each a field of `topic_patterns`; only the last part may contain dots."""
    table_fields: tuple[str, ...]
    """The fields of ``source`` that have these parts."""
    parser: Parser
    """Of column types. Raises `TypeFault`."""
    known_types: tuple[str, ...]
    """Every type name that a spec may use, synonyms aside."""
    texts: tuple[str, ...]
    """The types whose values are texts, to which the short masks apply."""
    modes: Mapping[str, tuple[str, ...]] = field(hash=False)
    """The fields of a connector spec that this kind has and not every other one has, such as
    `time_precision_mode`, each with the values that its versions know: the connector's default first."""
    is_large: Callable[[SourceType], bool] = lambda _: False
    """Whether the log, and so a record, may lack an unchanged value of a type."""
    large: str = "no types"
    """Those types in words: ``text, ntext, image, xml and (max) types``."""
    merges_by_default: bool = False
    """Whether a new spec gets `unavailable: merge`: updates often lack large values, and say so by a placeholder."""
    omitted: tuple[str, ...] = ()
    """The types whose columns the connector leaves out of its records."""
    without_zone: tuple[str, ...] = ()
    """The types of a date and time without a zone, to which `datetime_zone` applies."""
    with_offset: tuple[str, ...] = ()
    """The types whose values are written with an offset, to which `keep_offset` applies."""
    overflowing: tuple[str, ...] = ()
    """The types whose nanoseconds overflow 64 bits, to which `overflow` applies."""
    shapes: tuple[str, ...] = ("envelope", "flattened", "cloudevents", "avro_json")
    """The shapes of a record's value that are read."""
    document_key: str | None = None
    """The field that identifies a document, if rows are documents, in which columns are paths: ``address.city``."""
    partial_modes: tuple[str, ...] = ()
    """The values of `capture_mode` with which an update may carry only the columns that it changes, whatever their
    types."""
    widths: Widths = field(default_factory=Widths)
    """Which types read the values of which others."""
    described_type: Callable[[Mapping[str, Any]], str] = lambda column: str(column["typeName"]).lower()
    """The type as in DDL of a column of a schema-change record (``tableChanges[].table.columns[]``)."""
    block_type: Callable[[Mapping[str, Any]], str] = lambda schema: str(schema.get("type"))
    """The type that a field of a schema block most likely has in the source."""
    block_other: Callable[[Mapping[str, Any]], str | None] = lambda schema: None
    """Another type with the same block that is read differently; None if there is none."""
    block_modes: Callable[[Mapping[str, Any]], Mapping[str, str]] = lambda schema: {}
    """What a field of a schema block shows of `modes`."""
    block_doubts: Callable[[Collection[str], Collection[str]], Iterable[str]] = lambda types, shown: ()
    """What columns of some types may be instead, given the `modes` that blocks show: sentences without a full stop."""
    block_lacks: str = "varchar, datetime"
    """Types that schema blocks tell less of than the DDL, as examples."""

    def parse_type(self, text: str) -> tuple[SourceType, bool | None]:
        """A column type as in DDL, and whether it is nullable (None if the text does not state it).

        Raises:
            TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
        """
        source_type, nullable = self.parser(text)
        return replace(source_type, is_large=self.is_large(source_type)), nullable

    def parts_of(self, table: str) -> Mapping[str, str] | None:
        """The parts of a source table's name; None if it has not as many.

        >>> from cdc.spec.kinds import KINDS
        >>> KINDS["sqlserver"].parts_of("shop.dbo.orders"), KINDS["sqlserver"].parts_of("dbo.orders")
        ({'database': 'shop', 'schema': 'dbo', 'table': 'orders'}, None)
        """
        parts = table.split(".", len(self.table_parts) - 1)
        return dict(zip(self.table_parts, parts, strict=True)) if len(parts) == len(self.table_parts) else None

    def topic(self, pattern: str, prefix: str, table: str) -> str:
        """The topic of a source table by a naming pattern; empty for a name that is not of this kind."""
        parts = self.parts_of(table)
        return pattern.format(prefix=prefix, **parts) if parts else ""

    def target_of(self, column: str) -> str:
        """The target column of a source column unless its spec states another: of a path, its parts in one name.

        >>> from cdc.spec.kinds import KINDS
        >>> [KINDS["mongodb"].target_of(path) for path in ("address.city", "_id", "_id.region")]
        ['address_city', 'id', 'id_region']
        """
        return column.replace(".", "_").lstrip("_") if self.has_documents else column

    @property
    def has_documents(self) -> bool:
        """Whether a row is a document."""
        return self.document_key is not None

    @property
    def table_words(self) -> str:
        """What a table's name consists of, in words: ``database, schema and table``."""
        *first, last = self.table_parts
        return f"{', '.join(first)} and {last}"

    def default_of(self, mode: str) -> str | None:
        """The connector's default of a field of `modes`; None if the kind does not have the field."""
        return self.modes[mode][0] if mode in self.modes else None
