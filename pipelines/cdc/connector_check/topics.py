"""Settings that decide which topic a record is in, and which shape it has there."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config

SQL_SERVER = "io.debezium.connector.sqlserver.SqlServerConnector"
UNWRAP = "ExtractNewRecordState"
ROUTER = "ByLogicalTableRouter"
_HARMLESS = (UNWRAP, ROUTER, "InsertHeader", "HeaderToValue", "predicates.HasHeaderKey")
_POSITION = ("source.commit_lsn", "source.change_lsn", "source.event_serial_no", "source.ts_ms")


def of_topics(config: Config) -> Iterator[Advice]:
    """Where records are, and in which shape."""
    yield from _of_connector(config)
    yield from _of_unwrapping(config)
    yield from _of_routing(config)


def _of_connector(config: Config) -> Iterator[Advice]:
    said = config.said("connector.class")
    if config.get("connector.class") != SQL_SERVER:
        meaning = "this project decodes the records of Debezium's SQL Server connector."
        yield Advice(Level.LOST, "connector.class", said, meaning, f"`connector.class={SQL_SERVER}`.")
    setting = config.first_set(("topic.prefix", "database.server.name")) or "topic.prefix"
    if not config.prefix:
        yield Advice(Level.LOST, setting, "not set", "the connector does not start without it.", "name one.")
    elif config.is_1x:
        meaning = "a connector of 1.x: its topics are named <prefix>.<schema>.<table>, without the database."
        yield Advice(Level.NOTE, setting, config.said(setting), meaning)
    setting = "topic.naming.strategy"
    if setting in config:
        meaning = "topics may be named in another way than <prefix>.<database>.<schema>.<table>."
        yield Advice(Level.RISK, setting, config.said(setting), meaning, "`topic:` in each table spec.")


def _of_unwrapping(config: Config) -> Iterator[Advice]:
    name = config.transform_of(UNWRAP)
    if name is None:
        return
    own = f"transforms.{name}"
    yield Advice(Level.NOTE, f"{own}.type", UNWRAP, "flattened records are read, as far as they tell what they are.")
    yield from _of_deletes(config, own)
    added = config.items(f"{own}.add.fields")
    # As the transformation takes them: `source.ts_ms`, or `ts_ms` of the envelope, and new names behind a colon.
    told = {field.partition(":")[0] for field in added}
    fields = told | {f"source.{field}" for field in told}
    lacking = [field for field in _POSITION if field not in (told if field == "source.ts_ms" else fields)]
    setting = f"{own}.add.fields"
    if lacking:
        meaning = f"without {', '.join(lacking)} a record has no place in the order, and is rejected."
        yield Advice(Level.LOST, setting, config.said(setting), meaning, f"`{setting}=op,{','.join(_POSITION)}`.")
    elif any(":" in field for field in added):
        meaning = "fields under new names are not found."
        yield Advice(Level.LOST, setting, config.said(setting), meaning, f"`{setting}=op,{','.join(_POSITION)}`.")
    else:
        yield Advice(Level.GOOD, setting, config.said(setting), "changes can be put in order.")


def _of_deletes(config: Config, own: str) -> Iterator[Advice]:
    setting = config.first_set((f"{own}.delete.tombstone.handling.mode", f"{own}.delete.handling.mode"))
    setting = setting or f"{own}.delete.tombstone.handling.mode"
    if config.mode(setting) in ("rewrite", "rewrite-with-tombstone"):
        yield Advice(Level.GOOD, setting, config.said(setting), "deletes are records of their own.")
    else:
        meaning = "deletes are at most tombstones, which have no place in the order: deleted rows stay in the tables."
        yield Advice(Level.LOST, setting, config.said(setting), meaning, f"`{setting}=rewrite`.")


def _of_routing(config: Config) -> Iterator[Advice]:
    for name in config.transforms():
        setting = f"transforms.{name}.type"
        kind = config.get(setting).rpartition(".")[2].rpartition("$")[0] or config.get(setting).rpartition(".")[2]
        if kind == ROUTER:
            yield from _of_logical_router(config, name, setting)
        elif kind in ("RegexRouter", "ContentBasedRouter", "TimestampRouter", "EventRouter"):
            meaning = "records are led into other topics than the connector's own naming says."
            fix = "`topic:` in each table spec; where several tables share one, `shared_topic: true` too."
            yield Advice(Level.RISK, setting, kind, meaning, fix)
        elif kind not in _HARMLESS:
            meaning = "this transformation may drop or change records before they reach Kafka; it is not looked into."
            yield Advice(Level.RISK, setting, kind or "not set", meaning, "leave records as the connector makes them.")


def _of_logical_router(config: Config, name: str, setting: str) -> Iterator[Advice]:
    field = config.get(f"transforms.{name}.key.field.name") or "__dbz__physicalTableIdentifier"
    if config.mode(f"transforms.{name}.key.enforce.uniqueness") == "false":
        meaning = "rows of different tables with one key cannot be told apart: they overwrite each other."
        own = f"transforms.{name}.key.enforce.uniqueness"
        yield Advice(Level.LOST, own, "false", meaning, f"`{own}=true`.")
    meaning = f"tables of one shape share a topic; the record key's `{field}` tells them apart."
    fix = f"`topic:` and `physical_table: {{column: shard, field: {field}}}` in the table spec."
    yield Advice(Level.NOTE, setting, ROUTER, meaning, fix)
