"""Settings that decide how exact values are."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Modes, Rules

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_CLOUD_EVENTS = "io.debezium.converters.CloudEventsConverter"


def of_values(config: Config, rules: Rules | None) -> Iterator[Advice]:
    """Advice on the values of columns."""
    for setting, modes in rules.modes.items() if rules else ():
        yield _of_mode(config, setting, modes)
    yield from _of_converter(config)
    yield from _of_changed_values(config)


def _of_mode(config: Config, setting: str, modes: Modes) -> Advice:
    mode = config.mode(setting)
    unknown = (Level.RISK, f"this mode is unknown to this project; it knows {', '.join(modes)}.", "use one of those.")
    level, meaning, fix = modes.get(mode, unknown)
    return Advice(level, setting, config.shown(setting), meaning, fix)


def _of_converter(config: Config) -> Iterator[Advice]:
    setting = "value.converter"
    converter = config.get(setting)
    if not converter:
        meaning = "the worker's converter applies, which is not in this file. It has to be the JSON converter."
        yield Advice(Level.RISK, setting, "not set", meaning, f"`{setting}={_JSON}`.")
    elif converter == _CLOUD_EVENTS:
        yield from _of_cloud_events(config)
        return
    elif converter != _JSON:
        meaning = "every record that is not JSON is rejected (BROKEN_JSON or NOT_UTF8)."
        yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}={_JSON}`.")
        return
    yield from _of_json(config)


def _of_json(config: Config) -> Iterator[Advice]:
    setting = "value.converter.replace.null.with.default"
    if config.is_true(setting):
        meaning = "a NULL in a column with a default is sent as the default, so the two cannot be distinguished."
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, f"`{setting}=false` (Kafka 3.7 or later).")
    else:
        yield Advice(Level.GOOD, setting, config.shown(setting), "NULL is sent as NULL.")
    setting = "value.converter.schemas.enable"
    if config.is_true(setting):
        meaning = "each record carries its schema, often ten times the row's size; units and scales come from the spec."
        yield Advice(Level.NOTE, setting, config.shown(setting), meaning, f"`{setting}=false` saves space.")
    else:
        yield Advice(Level.GOOD, setting, config.shown(setting), "small records; units and scales come from the spec.")
    setting = "value.converter.decimal.format"
    if config.mode(setting) == "numeric":
        yield Advice(Level.NOTE, setting, config.shown(setting), "decimals are sent as numbers and read exactly.")


def _of_cloud_events(config: Config) -> Iterator[Advice]:
    for setting in ("value.converter.serializer.type", "value.converter.data.serializer.type"):
        if config.mode(setting) != "json":
            meaning = "CloudEvents are supported in JSON only; these records are rejected."
            yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=json`.")
            return
    yield Advice(Level.NOTE, "value.converter", config.shown("value.converter"), "CloudEvents in JSON are supported.")


def _of_changed_values(config: Config) -> Iterator[Advice]:
    for setting in sorted(config.settings):
        if setting.startswith(("column.mask.", "column.truncate.")):
            meaning = "these columns contain masked or truncated values instead of the source's."
            yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
    if "converters" in config:
        meaning = "custom converters use their own formats; a value that does not fit the spec's type is rejected."
        yield Advice(
            Level.RISK, "converters", config.shown("converters"), meaning, "use the modes for temporal columns instead."
        )
    setting = "field.name.adjustment.mode"
    if config.mode(setting) != "none":
        meaning = (
            "column names that Avro does not allow are changed; `columns` and `key` of a spec need the changed names."
        )
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, f"`{setting}=none`; JSON allows every name.")
