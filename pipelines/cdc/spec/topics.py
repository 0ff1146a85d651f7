"""The topics that exist compared with those that a conf folder reads: each table's, and the connector's own."""

from collections.abc import Collection, Iterator

from cdc.debezium.events import event_kinds
from cdc.errors import Condition, Diagnostic, near_match
from cdc.spec.connector import ReadConnector, topic_of
from cdc.spec.load import Conf
from cdc.spec.model import ConnectorSpec
from cdc.spec.reading import Fault
from cdc.spec.table import ReadTable

PATTERNS = ("{prefix}.{database}.{schema}.{table}", "{prefix}.{schema}.{table}")
"""The naming patterns of connectors: from 2.0 on, and before."""


def topic_faults(conf: Conf, existing: Collection[str], where: str) -> Iterator[Diagnostic]:
    """Tables whose topic does not exist, and topics of the connectors that nothing reads.

    Args:
        conf: the folder as read.
        existing: the topics that exist.
        where: the place where they do, for messages: ``on broker localhost:9092``.
    """
    meant = set()
    for table in conf.read:
        if table.topic and table.topic not in existing:
            fault = _missing(table, table.topic, existing, where)
            meant.add(fault.near)
            yield table.reading.diagnostic(fault)
    read = {table.topic for table in conf.read} | meant
    for connector in conf.read_connectors:
        if connector.spec:
            read |= {kind.topic(connector.spec) for kind in event_kinds(connector.spec)}
            for topic in sorted(set(existing) - read):
                if owns(connector.spec.topic_prefix, topic):
                    yield connector.reading.diagnostic(_unread(connector, connector.spec, topic, where))


def owns(topic_prefix: str, topic: str) -> bool:
    """True if a topic's name says that it is of the connector with this prefix.

    >>> [owns("shop", topic) for topic in ("shop", "shop.dbo.orders", "shop2.x", "__debezium-heartbeat.shop")]
    [True, True, False, True]
    """
    rest = topic.removeprefix(topic_prefix)
    return topic == f"__debezium-heartbeat.{topic_prefix}" or rest == "" or (rest != topic and not rest[0].isalnum())


def own_topics(topic_prefix: str) -> dict[str, str]:
    """The default names of a connector's own topics, with the kind of each as in ``topics:``."""
    return {
        topic_prefix: "schema_changes",
        f"{topic_prefix}.transaction": "transactions",
        f"__debezium-heartbeat.{topic_prefix}": "heartbeat",
    }


def _missing(table: ReadTable, topic: str, existing: Collection[str], where: str) -> Fault:
    stated = "topic" in table.reading.data
    near, fix = near_match(topic, existing), "correct `table:`, or name the topic in `topic:`."
    same = next((each for each in existing if each.casefold() == topic.casefold()), None)
    if same:
        near, fix = same, "write the name in the source's letter case."
    elif (pattern := _other_pattern(table, existing)) and table.spec and not stated:
        near = topic_of(_with_pattern(table.spec.connector, pattern), table.spec.source)
        fix = f'set `topic_pattern: "{pattern}"` in the file of connector `{table.spec.connector.name}`.'
    elif stated:
        fix = "correct `topic:`."
    path = ("topic",) if stated else ("table",)
    detail = f"topic `{topic}` does not exist {where}"
    return Fault(Condition.MISSING_TOPIC, path, detail, fix, value=topic, near=near)


def _other_pattern(table: ReadTable, existing: Collection[str]) -> str | None:
    """The naming pattern of other versions by which the table's topic does exist."""
    spec = table.spec
    patterns = PATTERNS if spec else ()
    return next(
        (each for each in patterns if spec and topic_of(_with_pattern(spec.connector, each), spec.source) in existing),
        None,
    )


def _with_pattern(connector: ConnectorSpec, pattern: str) -> ConnectorSpec:
    return ConnectorSpec(connector.name, connector.topic_prefix, topic_pattern=pattern)


def _unread(connector: ReadConnector, spec: ConnectorSpec, topic: str, where: str) -> Fault:
    fix = (
        f"add the table (`python -m cdc scaffold --connector {spec.name} --capture FILE` writes its spec), or name the "
        "topic in the connector's `topics:`; if nobody needs it, leave it."
    )
    if kind := own_topics(spec.topic_prefix).get(topic):
        fix = f"add `topics: {{{kind}: true}}` to the connector if you need it."
    detail = f"topic `{topic}` exists {where} and nothing reads it"
    path = ("topic_prefix",)
    return Fault(Condition.UNREAD_TOPIC, path, detail, fix, value=topic, severity="warning")
