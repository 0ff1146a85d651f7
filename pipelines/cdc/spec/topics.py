"""The topics that exist compared with those that a conf folder reads: each table's, and the connector's own."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from cdc.debezium.events import event_kinds
from cdc.errors import Condition, Diagnostic, near_match
from cdc.spec.connector import topic_of
from cdc.spec.kinds import kind_of
from cdc.spec.load import Conf
from cdc.spec.model import ConnectorSpec, TableSpec
from cdc.spec.reading import Fault
from cdc.spec.table import ReadTable


@dataclass(frozen=True)
class _Topics:
    existing: frozenset[str]
    unread: frozenset[str]
    """Those that no table reads."""
    where: str


def topic_faults(conf: Conf, existing: Collection[str], where: str) -> Iterator[Diagnostic]:
    """Tables whose topic does not exist, and topics of the connectors that nothing reads.

    Args:
        conf: the folder as read.
        existing: the topics that exist.
        where: the place where they do, for messages: ``on broker localhost:9092``.
    """
    read: set[str | None] = {table.topic for table in conf.read}
    topics = _Topics(frozenset(existing), frozenset(existing) - read, where)
    for table in conf.read:
        if table.topic and table.topic not in existing:
            fault = _missing(table, table.topic, topics)
            read.add(fault.near)
            yield table.reading.diagnostic(fault)
    for connector in conf.read_connectors:
        if connector.spec:
            read |= {kind.topic(connector.spec) for kind in event_kinds(connector.spec)}
            for topic in sorted(topics.existing - read):
                if owns(connector.spec.topic_prefix, topic):
                    yield connector.reading.diagnostic(_unread(connector.spec, topic, where))


def owns(topic_prefix: str, topic: str) -> bool:
    """True if a topic's name says that it is of the connector with this prefix.

    >>> [owns("shop", topic) for topic in ("shop", "shop.dbo.orders", "shop2.x", "__debezium-heartbeat.shop")]
    [True, True, False, True]
    """
    rest = topic.removeprefix(topic_prefix)
    return topic == f"__debezium-heartbeat.{topic_prefix}" or rest == "" or (rest != topic and not rest[0].isalnum())


def pattern_of(topic_prefix: str) -> str:
    """The topics that `owns` finds, as a regular expression.

    >>> [bool(re.fullmatch(pattern_of("a.b"), topic)) for topic in ("a.b", "a.b.dbo.orders", "a.b2.x", "axb.t")]
    [True, True, False, False]
    """
    return rf"(__debezium-heartbeat\.)?{re.escape(topic_prefix)}([^A-Za-z0-9].*)?"


def own_topics(topic_prefix: str) -> dict[str, str]:
    """The default names of a connector's own topics, with the kind of each as in ``topics:``."""
    return {
        topic_prefix: "schema_changes",
        f"{topic_prefix}.transaction": "transactions",
        f"__debezium-heartbeat.{topic_prefix}": "heartbeat",
    }


def _missing(table: ReadTable, topic: str, topics: _Topics) -> Fault:
    stated = "topic" in table.reading.data
    connector = table.spec.connector if table.spec else None
    near, fix = _near(topic, connector, topics), "correct `table:`, or name the topic in `topic:`."
    same = next((each for each in sorted(topics.unread) if each.casefold() == topic.casefold()), None)
    if same:
        near, fix = same, "write the name in the source's letter case."
    elif stated:
        fix = "correct `topic:`."
    elif table.spec and (pattern := _other_pattern(table.spec, topics)):
        near = topic_of(_with_pattern(table.spec.connector, pattern), table.spec.source)
        fix = f'set `topic_pattern: "{pattern}"` in the file of connector `{table.spec.connector.name}`.'
    elif connector and not any(owns(connector.topic_prefix, each) for each in topics.existing):
        fix = "correct `topic_prefix` in the connector's file; if the connector has not run yet, start it."
    detail = f"topic `{topic}` does not exist {topics.where}"
    path = ("topic",) if stated else ("table",)
    return Fault(Condition.MISSING_TOPIC, path, detail, fix, value=topic, near=near)


def _near(topic: str, connector: ConnectorSpec | None, topics: _Topics) -> str | None:
    """The topic that was probably meant: without the prefix, which they share and which would make any two alike."""
    prefix = f"{connector.topic_prefix}." if connector else ""
    by_name = {each.removeprefix(prefix): each for each in sorted(topics.unread)}
    return by_name.get(near_match(topic.removeprefix(prefix), by_name) or "")


def _other_pattern(table: TableSpec, topics: _Topics) -> str | None:
    """The naming pattern of other versions by which the table's topic does exist."""
    by_pattern = {
        each: topic_of(_with_pattern(table.connector, each), table.source)
        for each in kind_of(table.connector).topic_patterns
    }
    return next((pattern for pattern, topic in by_pattern.items() if topic in topics.unread), None)


def _with_pattern(connector: ConnectorSpec, pattern: str) -> ConnectorSpec:
    return ConnectorSpec(connector.name, connector.topic_prefix, kind=connector.kind, topic_pattern=pattern)


def _unread(spec: ConnectorSpec, topic: str, where: str) -> Fault:
    fix = (
        f"add the table (`python -m cdc scaffold --connector {spec.name} --capture FILE` writes its spec), or name the "
        "topic in the connector's `topics:`; if nobody needs it, leave it."
    )
    if kind := own_topics(spec.topic_prefix).get(topic):
        fix = f"add `topics: {{{kind}: true}}` to the connector if you need it."
    detail = f"topic `{topic}` exists {where} and nothing reads it"
    path = ("topic_prefix",)
    return Fault(Condition.UNREAD_TOPIC, path, detail, fix, value=topic, severity="warning")
