"""The connector spec that matches a connector's configuration, as YAML."""

import json
from collections.abc import Iterator
from typing import Any

from cdc.connector_check.config import DEFAULTS, Config
from cdc.connector_check.topics import UNWRAP
from cdc.spec.schema import field_schema

_MODES = {
    "time_precision_mode": "time.precision.mode",
    "decimal_handling_mode": "decimal.handling.mode",
    "binary_handling_mode": "binary.handling.mode",
    "decimal_format": "value.converter.decimal.format",
}


def fitting_spec(config: Config) -> str:
    """The connector's file for a conf folder, without fields that have their default."""
    lines = [f"topic_prefix: {_yaml(config.prefix or 'the-prefix')}", *_fields(config)]
    topics = [f"  {name}: {_yaml(topic)}" for name, topic in _topics(config)]
    return "\n".join([*lines, *(["topics:", *topics] if topics else [])]) + "\n"


def _fields(config: Config) -> Iterator[str]:
    if config.is_true("provide.transaction.metadata") and not config.transform_of(UNWRAP):
        yield "within_transaction: total_order"
    for field, setting in _MODES.items():
        mode = config.mode(setting)
        if mode != DEFAULTS[setting].lower() and mode in field_schema("connector", (field,))["enum"]:
            yield f"{field}: {mode}"
    if config.get("value.converter").endswith(".JsonConverter"):
        yield f"schemas: {'always' if config.is_true('value.converter.schemas.enable') else 'never'}"
    yield from _shape(config)
    if config.get("unavailable.value.placeholder") != DEFAULTS["unavailable.value.placeholder"]:
        yield f"placeholder: {_yaml(config.get('unavailable.value.placeholder'))}"
    if config.is_1x:
        yield 'topic_pattern: "{prefix}.{schema}.{table}"'
    elif (delimiter := config.get("topic.delimiter")) != ".":
        yield f"topic_pattern: {_yaml(delimiter.join(('{prefix}', '{database}', '{schema}', '{table}')))}"


def _shape(config: Config) -> Iterator[str]:
    name = config.transform_of(UNWRAP)
    if name is not None:
        yield "shape: flattened"
        prefix = f"transforms.{name}.add.fields.prefix"
        if prefix in config and config.get(prefix) != "__":
            yield f"flat_prefix: {_yaml(config.get(prefix))}"
    elif config.get("value.converter").endswith(".CloudEventsConverter"):
        yield "shape: cloudevents"
    elif config.get("value.converter").endswith(".JsonConverter"):
        yield "shape: envelope"


def _topics(config: Config) -> Iterator[tuple[str, str | bool]]:
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
        table = config.get("signal.data.collection")
        yield "signals", f"{config.prefix}.{table.partition('.')[2] if config.is_1x else table}"


def _yaml(value: Any) -> str:
    """A value in YAML, of which JSON is a subset; a string is quoted only if necessary."""
    if (
        isinstance(value, str)
        and value.replace("_", "").replace("-", "").replace(".", "").isalnum()
        and value[0].isalpha()
    ):
        return value
    return json.dumps(value, ensure_ascii=False)
