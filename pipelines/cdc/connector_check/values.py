"""Settings that decide how exact values are."""

from collections.abc import Iterator, Mapping

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_CLOUD_EVENTS = "io.debezium.converters.CloudEventsConverter"
_Modes = Mapping[str, tuple[Level, str, str | None]]
_TEMPORAL: _Modes = {
    "adaptive": (
        Level.RISK,
        "a datetime2(7) is sent as nanoseconds, which cover the years 1677 to 2262 only. Since 3.6 other years are"
        " null; before, they are wrong numbers, of which 0001-01-01 and 9999-12-31 are repaired (`overflow`).",
        "`time.precision.mode=isostring` or `microseconds` (3.x) if a datetime2(7) has such years.",
    ),
    "adaptive_time_microseconds": (
        Level.RISK,
        "as adaptive (years outside 1677 to 2262 of a datetime2(7) are lost); times of day are cut to microseconds.",
        "`time.precision.mode=isostring` (3.x).",
    ),
    "connect": (
        Level.LOST,
        "times are cut to milliseconds: digits 4 to 7 of time and datetime2 are never sent.",
        "`time.precision.mode=isostring` (3.x), or adaptive.",
    ),
    "isostring": (Level.GOOD, "times are sent as text, with all seven digits, for every year.", None),
    "microseconds": (Level.GOOD, "every year is exact to the microsecond, like Spark's timestamps.", None),
    "nanoseconds": (
        Level.LOST,
        "every datetime and datetime2 outside the years 1677 to 2262 is null, such as 9999-12-31, the usual open end.",
        "`time.precision.mode=isostring` or `microseconds`.",
    ),
}
_DECIMAL: _Modes = {
    "precise": (Level.GOOD, "decimals are exact, with up to 38 digits; the scale comes from the spec.", None),
    "string": (Level.GOOD, "decimals are exact, with up to 38 digits.", None),
    "double": (
        Level.LOST,
        "decimal, numeric and money are rounded to 15 to 17 digits before they reach Kafka; a value that no longer"
        " fits its type is rejected.",
        "`decimal.handling.mode=precise` or `string`.",
    ),
}
_BINARY: _Modes = dict.fromkeys(
    ("bytes", "base64", "base64-url-safe", "hex"), (Level.GOOD, "bytes are exact in every mode.", None)
)


def of_values(config: Config) -> Iterator[Advice]:
    """Advice on the values of columns."""
    yield _of_mode(config, "time.precision.mode", _TEMPORAL)
    yield _of_mode(config, "decimal.handling.mode", _DECIMAL)
    yield _of_mode(config, "binary.handling.mode", _BINARY)
    yield from _of_converter(config)
    yield from _of_large_values(config)
    yield from _of_changed_values(config)


def _of_mode(config: Config, setting: str, modes: _Modes) -> Advice:
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


def _of_large_values(config: Config) -> Iterator[Advice]:
    setting = "unavailable.value.placeholder"
    meaning = (
        "for an unchanged text, ntext, image or xml column, an update carries this placeholder since 3.6 and null"
        " before; for an unchanged (max) column, null. Set `unavailable: merge` and `large_nulls: unchanged` in the"
        " spec to keep the previous value."
    )
    yield Advice(Level.NOTE, setting, config.shown(setting), meaning)


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
