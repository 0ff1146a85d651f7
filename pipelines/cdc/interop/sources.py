"""Source tables by their topics: what a data flow reads, and the connector whose topics these are."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from cdc.errors import Condition, RunCondition
from cdc.interop.onboarding import Part, probably
from cdc.spec.connector import topic_of
from cdc.spec.kinds import DEFAULT
from cdc.spec.model import ConnectorSpec

PATTERNS = DEFAULT.topic_patterns
"""Imported tables are of connectors of the default kind: an onboarding file does not say of which they are."""
SUBSCRIBE, EVENT_HUB = "subscribe", "eventhub.name"
"""The fields that name the topic."""
_HOW = 'write `"source_system": "database.schema.table"` into the data flow, or give `--topic-prefix`.'


@dataclass(frozen=True)
class Topics:
    """What is known of the connector beforehand."""

    prefix: str | None = None
    database: str | None = None
    """Of topics that do not name it, as those of 1.x connectors."""


def topic(flow: Part, meant: Collection[str]) -> str | None:
    """The one topic that a data flow reads; None if it reads something else, which is reported.

    Args:
        flow: the data flow.
        meant: fields of it that are reported as misspelt.
    """
    stated = flow.text("source_format")
    details = flow.part("source_details")
    if stated is None:
        if "source_format" not in meant:
            _missing(flow, "source_format", '`"source_format": "kafka"`')
        return None
    fields = {"kafka": SUBSCRIBE, "eventhub": EVENT_HUB}
    if stated.lower() not in fields:
        detail = f"left out: it reads `{stated}`, and not the changes of a table from Kafka"
        flow.report(RunCondition.TABLE_NOT_IMPORTED, "source_format", detail, "keep this data flow in sdp-meta.")
        return None
    name = fields[stated.lower()]
    meant = details.misspelt([name, *(each for each in details.data if not probably(each, [name]))])
    topics = details.texts(name)
    if not topics and name in meant:
        return None
    if not topics:
        _missing(details, name, f'`"{name}": "shopserver.shop.dbo.orders"`')
        return None
    if len(topics) > 1:
        detail = f"left out: it reads {len(topics)} topics, and a table spec has one"
        details.report(RunCondition.TABLE_NOT_IMPORTED, name, detail, "write a data flow for each topic.")
        return None
    return topics[0]


def connector_of(name: str, flows: Iterable[tuple[Part, str]], known: Topics) -> ConnectorSpec:
    """The connector to which most topics belong, by the forms that topics of Debezium have."""
    found: Counter[tuple[str, str]] = Counter()
    for flow, of_flow in flows:
        found.update([form for form in [_form(flow, of_flow, known)] if form])
    (prefix, pattern), _ = found.most_common(1)[0] if found else ((known.prefix or "", PATTERNS[0]), 0)
    return ConnectorSpec(name, prefix, topic_pattern=pattern)


def source_of(flow: Part, of_flow: str, connector: ConnectorSpec, known: Topics) -> str | None:
    """The source table of a flow; None if nothing tells it, or if it is of another connector, which is reported."""
    prefix = f"{connector.topic_prefix}."
    if stated := _stated(flow):
        other = _form(flow, of_flow, Topics())
        if topic_of(connector, stated) == of_flow or other is None or f"{other[0]}." == prefix:
            return stated
    elif connector.topic_prefix and of_flow.startswith(prefix):
        return _by_topic(flow, of_flow, of_flow.removeprefix(prefix).split("."), known)
    elif not connector.topic_prefix:
        _unknown_source(flow, of_flow)
        return None
    detail = f"left out: the topic `{of_flow}` is not of the connector with the prefix `{connector.topic_prefix}`"
    fix = "import each connector on its own, with `--connector` and `--topic-prefix`."
    flow.report(RunCondition.TABLE_NOT_IMPORTED, ("source_details",), detail, fix)
    return None


def _by_topic(flow: Part, of_flow: str, parts: list[str], known: Topics) -> str | None:
    """The source table that the rest of a topic names, behind the connector's prefix."""
    if len(parts) == 3:
        return ".".join(parts)
    if len(parts) != 2:
        _unknown_source(flow, of_flow)
        return None
    if known.database:
        return ".".join([known.database, *parts])
    detail = f"the topic `{of_flow}` does not name the database"
    flow.report(Condition.BAD_TABLE_NAME, ("source_details",), detail, "add `--database NAME`.")
    return None


def _unknown_source(flow: Part, of_flow: str) -> None:
    detail = f"the topic `{of_flow}` does not tell the source table: database, schema and table"
    flow.report(Condition.BAD_TABLE_NAME, ("source_details",), detail, _HOW)


def own_topic(of_flow: str, source: str, connector: ConnectorSpec) -> str | None:
    """The topic, if it does not follow the connector's pattern."""
    return None if topic_of(connector, source) == of_flow else of_flow


def _form(flow: Part, of_flow: str, known: Topics) -> tuple[str, str] | None:
    """Prefix and pattern that a topic has; None if it has none that is known."""
    if stated := _stated(flow):
        database, schema, table = stated.split(".")
        for pattern in PATTERNS:
            ending = pattern.format(prefix="", database=database, schema=schema, table=table)
            if of_flow.endswith(ending) and known.prefix in (None, prefix := of_flow.removesuffix(ending)) and prefix:
                return prefix, pattern
        return None
    if known.prefix:
        count = of_flow.removeprefix(f"{known.prefix}.").count(".") if of_flow.startswith(f"{known.prefix}.") else 0
        return (known.prefix, PATTERNS[2 - count]) if count in (1, 2) else None
    parts = of_flow.split(".")
    if len(parts) > 3:
        return ".".join(parts[:-3]), PATTERNS[0]
    return (parts[0], PATTERNS[1]) if len(parts) == 3 else None


def _stated(flow: Part) -> str | None:
    """The source table, where the data flow names it: an export writes it there."""
    system = flow.text("source_system") or ""
    parts = system.split(".")
    return system if len(parts) == 3 and all(parts) else None


def _missing(part: Part, name: str, example: str) -> None:
    part.report(Condition.MISSING_FIELD, (), f"the data flow lacks `{name}`", f"add {example}.")
