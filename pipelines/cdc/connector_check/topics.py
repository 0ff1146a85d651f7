"""Settings that decide a record's topic and shape."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds import CLASS
from cdc.connector_check.kinds.rules import Rules
from cdc.spec.kinds import KINDS
from cdc.spec.reading import listed

UNWRAP = "ExtractNewRecordState"
ROUTER = "ByLogicalTableRouter"
_HARMLESS = (UNWRAP, ROUTER, "InsertHeader", "HeaderToValue", "predicates.HasHeaderKey")
_UNKNOWN = Rules("", ("source.ts_ms",), {}, {}, own=lambda _: iter(()))
"""Of a connector that is not known."""


def of_topics(config: Config, rules: Rules | None) -> Iterator[Advice]:
    """Advice on topics and the shape of records."""
    yield from _of_connector(config, rules)
    yield from _of_unwrapping(config, rules)
    yield from _of_routing(config)


def _of_connector(config: Config, rules: Rules | None) -> Iterator[Advice]:
    if rules is None:
        titles = listed([kind.title for kind in KINDS.values()])
        meaning = f"this project does not decode the records of this connector, but those of Debezium's for: {titles}."
        classes = listed([kind.connector_class for kind in KINDS.values()])
        yield Advice(Level.LOST, CLASS, config.shown(CLASS), meaning, f"`{CLASS}` is one of {classes}.")
    setting = config.first_set(("topic.prefix", "database.server.name")) or "topic.prefix"
    if not config.prefix:
        yield Advice(Level.LOST, setting, "not set", "the connector does not start without it.", "set it.")
    elif config.is_1x and rules and rules.old_topics:
        meaning = f"a 1.x connector: its topics are named {rules.old_topics}."
        yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
    setting = "topic.naming.strategy"
    if setting in config:
        meaning = (rules or _UNKNOWN).topics(config)
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, "`topic:` in each table spec.")


def _of_unwrapping(config: Config, rules: Rules | None) -> Iterator[Advice]:
    name = config.transform_of(UNWRAP)
    if name is None:
        return
    position = (rules or _UNKNOWN).position
    transform = f"transforms.{name}"
    if rules and "flattened" not in KINDS[rules.kind].shapes:
        meaning = "records that it flattens are not read: they have lost the types of their values."
        yield Advice(Level.LOST, f"{transform}.type", UNWRAP, meaning, "remove it.")
        return
    yield Advice(
        Level.NOTE,
        f"{transform}.type",
        UNWRAP,
        "flattened records are read if they carry the operation and the position.",
    )
    yield from _of_deletes(config, transform)
    added = config.items(f"{transform}.add.fields")
    # In the transformation's syntax: `source.ts_ms`, or `ts_ms` of the envelope, each with `:new_name` if renamed.
    stated = {field.partition(":")[0] for field in added}
    fields = stated | {f"source.{field}" for field in stated}
    lacking = [field for field in position if field not in (stated if field == "source.ts_ms" else fields)]
    setting = f"{transform}.add.fields"
    if lacking:
        meaning = f"without {', '.join(lacking)} a record has no position in the order and is rejected."
        yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=op,{','.join(position)}`.")
    elif any(":" in field for field in added):
        meaning = "renamed fields are not found."
        yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=op,{','.join(position)}`.")
    else:
        yield Advice(Level.GOOD, setting, config.shown(setting), "changes can be ordered.")


def _of_deletes(config: Config, transform: str) -> Iterator[Advice]:
    setting = config.first_set((f"{transform}.delete.tombstone.handling.mode", f"{transform}.delete.handling.mode"))
    setting = setting or f"{transform}.delete.tombstone.handling.mode"
    if config.mode(setting) in ("rewrite", "rewrite-with-tombstone"):
        yield Advice(Level.GOOD, setting, config.shown(setting), "deletes are separate records.")
    else:
        meaning = (
            "deletes are at best tombstones, which have no position in the order: deleted rows stay in the tables."
        )
        yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=rewrite`.")


def _of_routing(config: Config) -> Iterator[Advice]:
    for name in config.transforms():
        setting = f"transforms.{name}.type"
        kind = config.get(setting).rpartition(".")[2].rpartition("$")[0] or config.get(setting).rpartition(".")[2]
        if kind == ROUTER:
            yield from _of_logical_router(config, name, setting)
        elif kind in ("RegexRouter", "ContentBasedRouter", "TimestampRouter", "EventRouter"):
            meaning = "records are routed to topics that do not follow the connector's naming."
            fix = "`topic:` in each table spec, and `shared_topic: true` if several tables share it."
            yield Advice(Level.RISK, setting, kind, meaning, fix)
        elif kind not in _HARMLESS:
            meaning = "this transformation may drop or change records before they reach Kafka; it is not analyzed."
            yield Advice(
                Level.RISK,
                setting,
                kind or "not set",
                meaning,
                "remove it, so that records stay as the connector wrote them.",
            )


def _of_logical_router(config: Config, name: str, setting: str) -> Iterator[Advice]:
    field = config.get(f"transforms.{name}.key.field.name") or "__dbz__physicalTableIdentifier"
    if config.mode(f"transforms.{name}.key.enforce.uniqueness") == "false":
        meaning = "rows of different tables with the same key cannot be distinguished: they overwrite each other."
        uniqueness = f"transforms.{name}.key.enforce.uniqueness"
        yield Advice(Level.LOST, uniqueness, "false", meaning, f"`{uniqueness}=true`.")
    meaning = f"tables with the same columns share a topic; the record key's `{field}` distinguishes them."
    fix = f"`topic:` and `physical_table: {{column: shard, field: {field}}}` in the table spec."
    yield Advice(Level.NOTE, setting, ROUTER, meaning, fix)
