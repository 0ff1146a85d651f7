"""The connector spec that matches a connector's configuration, as YAML."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from cdc.connector_check.config import DEFAULTS, Config
from cdc.connector_check.kinds import RULES, rules_of, with_defaults
from cdc.connector_check.kinds.rules import Rules
from cdc.connector_check.topics import UNWRAP
from cdc.spec.kinds import DEFAULT, KINDS
from cdc.spec.schema import field_schema

_FORMAT = {"decimal_format": "value.converter.decimal.format"}


def fitting_spec(config: Config) -> str:
    """The connector's file for a conf folder, without fields that have their default."""
    rules = rules_of(config) or RULES[DEFAULT.name]
    config = with_defaults(config, rules)
    of_kind = [] if rules.kind == DEFAULT.name else [f"kind: {rules.kind}"]
    lines = [f"topic_prefix: {_yaml(config.prefix or 'the-prefix')}", *of_kind, *_fields(config, rules)]
    topics = [f"  {name}: {_yaml(topic)}" for name, topic in _topics(config, rules)]
    return "\n".join([*lines, *(["topics:", *topics] if topics else [])]) + "\n"


def _fields(config: Config, rules: Rules) -> Iterator[str]:
    if rules.counts and config.is_true("provide.transaction.metadata") and not config.transform_of(UNWRAP):
        yield "within_transaction: total_order"
    modes = KINDS[rules.kind].modes
    for field, setting in {**rules.spec_fields, **_FORMAT}.items():
        mode = config.mode(setting)
        default = modes[field][0] if field in modes else config.defaults[setting].lower()
        if mode != default and mode in modes.get(field, field_schema("connector", (field,))["enum"]):
            yield f"{field}: {mode}"
    if config.get("value.converter").endswith(".JsonConverter"):
        yield f"schemas: {'always' if config.is_true('value.converter.schemas.enable') else 'never'}"
    yield from _shape(config, KINDS[rules.kind].shapes)
    if config.get("unavailable.value.placeholder") != DEFAULTS["unavailable.value.placeholder"]:
        yield f"placeholder: {_yaml(config.get('unavailable.value.placeholder'))}"
    if KINDS[rules.kind].merges_by_default:
        yield "unavailable: merge"
    if pattern := rules.pattern(config):
        yield f"topic_pattern: {_yaml(pattern)}"


def _shape(config: Config, known: Collection[str]) -> Iterator[str]:
    name = config.transform_of(UNWRAP)
    if name is not None and "flattened" in known:
        yield "shape: flattened"
        prefix = f"transforms.{name}.add.fields.prefix"
        if prefix in config and config.get(prefix) != "__":
            yield f"flat_prefix: {_yaml(config.get(prefix))}"
    elif config.get("value.converter").endswith(".CloudEventsConverter"):
        yield "shape: cloudevents"
    elif config.get("value.converter").endswith(".JsonConverter"):
        yield "shape: envelope"


def _topics(config: Config, rules: Rules) -> Iterator[tuple[str, str | bool]]:
    if config.is_true("include.schema.changes"):
        yield "schema_changes", True
    if config.is_true("provide.transaction.metadata"):
        suffix = config.get("topic.transaction")
        yield "transactions", True if suffix == "transaction" else f"{config.prefix}.{suffix}"
    if config.get("heartbeat.interval.ms") not in ("", "0"):
        prefix = config.get("topic.heartbeat.prefix")
        is_default = prefix == DEFAULTS["topic.heartbeat.prefix"]
        yield "heartbeat", True if is_default else f"{prefix}.{config.prefix}"
    if "sink" in config.items("notification.enabled.channels") and "notification.sink.topic.name" in config:
        yield "notifications", config.get("notification.sink.topic.name")
    if "signal.data.collection" in config:
        yield "signals", f"{config.prefix}.{rules.signals(config)}"


def _yaml(value: Any) -> str:
    """A value in YAML, of which JSON is a subset; a string is quoted only if necessary."""
    if (
        isinstance(value, str)
        and value.replace("_", "").replace("-", "").replace(".", "").isalnum()
        and value[0].isalpha()
    ):
        return value
    return json.dumps(value, ensure_ascii=False)
