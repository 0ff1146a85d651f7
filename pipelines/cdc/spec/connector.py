"""ConnectorSpec from a connector's file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from string import Formatter
from typing import Any

from cdc.errors import Condition, near_match
from cdc.spec.document import Document
from cdc.spec.kinds import AUTO, DEFAULT, KINDS, MODES, Kind, kind_of
from cdc.spec.layers import TableProperties, TargetSchemas, target_schemas_in
from cdc.spec.model import ConnectorSpec
from cdc.spec.policies import POLICIES, check_zone, policies_in
from cdc.spec.reading import Fault, Reading, listed
from cdc.spec.retention import Retention
from cdc.spec.table_properties import check_properties, properties_in

_RESTORED_AT = "restored_at"
_NOT_PLAIN = (*POLICIES, _RESTORED_AT, "topics", "target_schemas", "table_properties", "retention")
"""Fields of the file that are not fields of the spec, or have another form there."""


KindInRecords = Callable[[str], str | None]
"""What the records of a connector with a topic prefix call its kind (``source.connector``); None if none is known."""


@dataclass(frozen=True)
class ReadConnector:
    """A connector, as far as its file could be read."""

    name: str
    reading: Reading
    spec: ConnectorSpec | None
    """None if the file has faults."""
    policies: Mapping[str, Any]
    """Column policies that it sets for all of its tables."""
    target_schemas: TargetSchemas = field(default_factory=TargetSchemas)
    """Where its datasets and those of its tables are, unless a table sets its own."""
    table_properties: TableProperties = field(default_factory=TableProperties)
    """Those of its datasets, and of its tables' unless a table sets its own."""
    retention: Retention = field(default_factory=Retention)
    """Of its tables, unless a table sets its own."""
    kind: Kind | None = None
    """Its kind; None if that is a fault, so that no type can be read."""

    @property
    def has_partial_updates(self) -> bool:
        """True if an update may carry only the columns that it changes, whatever their types."""
        return self.kind is not None and self.reading.data.get("capture_mode") in self.kind.partial_modes

    @classmethod
    def absent(cls, name: str) -> "ReadConnector":
        """A connector without a file, so that its tables can still be checked; the folder's faults report it."""
        return cls(name, Reading(Document(name)), None, {})


def read_connector(
    name: str,
    reading: Reading,
    defaults: Mapping[str, Any],
    deployed: Mapping[str, str],
    kind_in_records: KindInRecords,
) -> ReadConnector:
    """The connector of a file that has been checked against its schema.

    Args:
        name: its name.
        reading: its file.
        defaults: the folder's defaults.
        deployed: layer -> schema, as the pipeline's configuration sets them.
        kind_in_records: for `kind: auto`.
    """
    kind = _kind(reading, kind_in_records)
    if kind:
        _check_modes(reading, kind)
    check_zone(reading, reading.data)
    _check_moments(reading)
    schemas = TargetSchemas()
    for place in (target_schemas_in(defaults), target_schemas_in(reading.data), deployed):
        schemas = schemas.over(place)
    check_properties(reading)
    properties = properties_in(defaults).over(properties_in(reading.data))
    retention = Retention().over(defaults).over(reading.data)
    of_datasets = {"target_schemas": schemas, "table_properties": properties, "retention": retention}
    spec = _spec(name, reading.data, of_datasets, kind) if reading.is_sound and kind else None
    return ReadConnector(name, reading, spec, policies_in(reading.data), schemas, properties, retention, kind)


def _kind(reading: Reading, kind_in_records: KindInRecords) -> Kind | None:
    """The kind that a file states, or that the connector's records name; None if there is none, which is reported."""
    stated = reading.document.data.get("kind", DEFAULT.name)
    if stated != AUTO:
        # A value that is no kind is a fault of the schema, which has removed it.
        return KINDS.get(stated) if isinstance(stated, str) else None
    prefix = reading.data.get("topic_prefix")
    found = kind_in_records(str(prefix)) if prefix else None
    if found and found in KINDS:
        return KINDS[found]
    if prefix and found is None:
        detail = "`kind: auto` is that of the connector's records, and there is none here yet that names one"
        fix = f"write the kind, such as `kind: {DEFAULT.name}`, or let the command see records (`check --records`)."
        reading.report(Fault(Condition.UNKNOWN_KIND, ("kind",), detail, fix))
    elif prefix:
        detail = f"the connector's records are of kind `{found}`; known kinds: {listed(list(KINDS))}"
        fix = "correct `topic_prefix`; for a fork of one of these connectors, write its kind."
        reading.report(
            Fault(Condition.UNKNOWN_KIND, ("kind",), detail, fix, value=found, near=near_match(str(found), KINDS))
        )
    return None


def _check_modes(reading: Reading, kind: Kind) -> None:
    """Report settings that connectors of this kind do not have, or not with this value."""
    fields = {field for _, field, _, _ in Formatter().parse(reading.data.get("topic_pattern", "")) if field}
    if unknown := fields - {"prefix", *kind.table_parts}:
        detail = f"`topic_pattern` has `{{{min(unknown)}}}`, which is not a part of a table's name in {kind.title}"
        fix = f"use those of its patterns: {listed(kind.topic_patterns)}."
        reading.report(Fault(Condition.BAD_VALUE, ("topic_pattern",), detail, fix))
    shape = reading.data.get("shape", "auto")
    if shape not in ("auto", *kind.shapes):
        detail = f"`shape` is `{shape}`, in which records of {kind.title} connectors are not read"
        fix = f"let the connector write another one, and state it: {listed(kind.shapes)}."
        reading.report(Fault(Condition.BAD_VALUE, ("shape",), detail, fix, value=shape))
    for name in [name for name in reading.data if name in MODES]:
        value, known = reading.data[name], kind.modes.get(name, ())
        if not known:
            detail = f"`{name}` is not a setting of {kind.title} connectors"
            fix = "remove it, or correct `kind:`."
            reading.report(Fault(Condition.MISPLACED_FIELD, (name,), detail, fix, of_key=True))
        elif value not in known:
            detail = f"`{name}` is `{value}`; {kind.title} connectors know {listed(known)}"
            near = near_match(value, known)
            reading.report(Fault(Condition.BAD_VALUE, (name,), detail, "use one of those.", value=value, near=near))


def topic_of(connector: ConnectorSpec, source: str) -> str:
    """The topic of a source table, by the connector's naming pattern; empty for a name that is not of its kind.

    >>> topic_of(ConnectorSpec("shop", "shopserver"), "shop.dbo.orders")
    'shopserver.shop.dbo.orders'
    """
    kind = kind_of(connector)
    return kind.topic(connector.topic_pattern or kind.topic_patterns[0], connector.topic_prefix, source)


def _spec(name: str, data: Mapping[str, Any], of_datasets: Mapping[str, Any], kind: Kind) -> ConnectorSpec:
    of_kind = {mode: kind.default_of(mode) for mode in kind.modes}
    plain = {field: value for field, value in data.items() if field not in _NOT_PLAIN}
    plain = of_kind | plain | {"kind": kind.name}
    topics = data.get("topics", {})
    prefix = data["topic_prefix"]
    return ConnectorSpec(
        name,
        **plain,
        restored_at=tuple(sorted(map(datetime.fromisoformat, data.get(_RESTORED_AT, ())))),
        schema_changes_topic=_topic(topics.get("schema_changes"), prefix),
        transactions_topic=_topic(topics.get("transactions"), f"{prefix}.transaction"),
        heartbeat_topic=_topic(topics.get("heartbeat"), f"__debezium-heartbeat.{prefix}"),
        notifications_topic=topics.get("notifications"),
        signals_topic=topics.get("signals"),
        **of_datasets,
    )


def _check_moments(reading: Reading) -> None:
    """Report a moment of the right form that no calendar has."""
    for number, text in enumerate(reading.data.get(_RESTORED_AT, ())):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            detail = f"`{_RESTORED_AT}` has `{text}`, a moment that no calendar has"
            fix = "write a date and time in UTC, such as 2026-05-01T12:00:00Z."
            reading.report(Fault(Condition.BAD_VALUE, (_RESTORED_AT, number), detail, fix, value=text))


def _topic(stated: str | bool | None, default_name: str) -> str | None:
    """A topic's name: as stated, or the connector's default name for `true`; None if it is not to be read."""
    if isinstance(stated, str):
        return stated
    return default_name if stated else None
