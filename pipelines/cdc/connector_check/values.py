"""Settings that decide what becomes of values."""

from collections.abc import Iterator, Mapping

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config

_JSON = "org.apache.kafka.connect.json.JsonConverter"
_CLOUD_EVENTS = "io.debezium.converters.CloudEventsConverter"
_Modes = Mapping[str, tuple[Level, str, str | None]]
_TEMPORAL: _Modes = {
    "adaptive": (
        Level.RISK,
        "datetime2(7) comes as nanoseconds, which reach from 1677 to 2262 only. From 3.6 on other years are null;"
        " before, they are a wrong number, of which 0001-01-01 and 9999-12-31 are repaired (`overflow`).",
        "`time.precision.mode=isostring` or `microseconds` (3.x) where a datetime2(7) has such years.",
    ),
    "adaptive_time_microseconds": (
        Level.RISK,
        "as adaptive (years outside 1677 to 2262 of a datetime2(7) are lost); times of day end at the microsecond.",
        "`time.precision.mode=isostring` (3.x).",
    ),
    "connect": (
        Level.LOST,
        "times are cut to milliseconds: digits 4 to 7 of time and datetime2 never leave the connector.",
        "`time.precision.mode=isostring` (3.x), or adaptive.",
    ),
    "isostring": (Level.GOOD, "times come as text, to the last of seven digits, in every year.", None),
    "microseconds": (Level.GOOD, "every year is carried, to the microsecond, as Spark's timestamps are.", None),
    "nanoseconds": (
        Level.LOST,
        "every datetime and datetime2 outside the years 1677 to 2262 is null: also 9999-12-31, the usual open end.",
        "`time.precision.mode=isostring` or `microseconds`.",
    ),
}
_DECIMAL: _Modes = {
    "precise": (Level.GOOD, "decimals are exact to the last of 38 digits; the scale is the spec's.", None),
    "string": (Level.GOOD, "decimals are exact to the last of 38 digits.", None),
    "double": (
        Level.LOST,
        "decimal, numeric and money are rounded to 15 to 17 digits before they reach Kafka; one that has outgrown its"
        " type by that is a reject.",
        "`decimal.handling.mode=precise` or `string`.",
    ),
}
_BINARY: _Modes = dict.fromkeys(
    ("bytes", "base64", "base64-url-safe", "hex"), (Level.GOOD, "bytes are exact in every mode.", None)
)


def of_values(config: Config) -> Iterator[Advice]:
    """What happens to the values of columns."""
    yield _of_mode(config, "time.precision.mode", _TEMPORAL)
    yield _of_mode(config, "decimal.handling.mode", _DECIMAL)
    yield _of_mode(config, "binary.handling.mode", _BINARY)
    yield from _of_converter(config)
    yield from _of_large_values(config)
    yield from _of_changed_values(config)


def _of_mode(config: Config, setting: str, modes: _Modes) -> Advice:
    mode = config.mode(setting)
    unknown = (Level.RISK, f"this project knows no such mode; it knows {', '.join(modes)}.", "take one of those.")
    level, meaning, fix = modes.get(mode, unknown)
    return Advice(level, setting, config.said(setting), meaning, fix)


def _of_converter(config: Config) -> Iterator[Advice]:
    setting = "value.converter"
    converter = config.get(setting)
    if not converter:
        meaning = "the worker's own converter counts, which this file does not tell. It has to be the JSON converter."
        yield Advice(Level.RISK, setting, "not set", meaning, f"`{setting}={_JSON}`.")
    elif converter == _CLOUD_EVENTS:
        yield from _of_cloud_events(config)
        return
    elif converter != _JSON:
        meaning = "records that are not JSON are rejected, every one (BROKEN_JSON or NOT_UTF8)."
        yield Advice(Level.LOST, setting, config.said(setting), meaning, f"`{setting}={_JSON}`.")
        return
    yield from _of_json(config)


def _of_json(config: Config) -> Iterator[Advice]:
    setting = "value.converter.replace.null.with.default"
    if config.is_true(setting):
        meaning = (
            "where a row has NULL in a column with a default, the record has the default: NULL cannot be told from it."
        )
        yield Advice(Level.RISK, setting, config.said(setting), meaning, f"`{setting}=false` (Kafka 3.7 and newer).")
    else:
        yield Advice(Level.GOOD, setting, config.said(setting), "a NULL stays a NULL.")
    setting = "value.converter.schemas.enable"
    if config.is_true(setting):
        meaning = "each record carries its schema, often ten times the row; the pipeline skips it, units and scales are"
        yield Advice(
            Level.NOTE, setting, config.said(setting), f"{meaning} the spec's.", f"`{setting}=false` saves space."
        )
    else:
        yield Advice(Level.GOOD, setting, config.said(setting), "small records; units and scales are the spec's.")
    setting = "value.converter.decimal.format"
    if config.mode(setting) == "numeric":
        yield Advice(Level.NOTE, setting, config.said(setting), "decimals come as numbers, and are read exactly.")


def _of_cloud_events(config: Config) -> Iterator[Advice]:
    for setting in ("value.converter.serializer.type", "value.converter.data.serializer.type"):
        if config.mode(setting) != "json":
            meaning = "CloudEvents are read in JSON only; these records are rejected."
            yield Advice(Level.LOST, setting, config.said(setting), meaning, f"`{setting}=json`.")
            return
    yield Advice(Level.NOTE, "value.converter", config.said("value.converter"), "CloudEvents in JSON are read.")


def _of_large_values(config: Config) -> Iterator[Advice]:
    setting = "unavailable.value.placeholder"
    meaning = (
        "an update that leaves a text, ntext, image or xml column as it was has this placeholder there from 3.6 on, and"
        " null before; a (max) column has null. Say `unavailable: merge` and `large_nulls: unchanged` in the spec to"
        " keep the previous value."
    )
    yield Advice(Level.NOTE, setting, config.said(setting), meaning)


def _of_changed_values(config: Config) -> Iterator[Advice]:
    for setting in sorted(config.settings):
        if setting.startswith(("column.mask.", "column.truncate.")):
            meaning = "those columns hold what the connector made of them, not what the source has."
            yield Advice(Level.NOTE, setting, config.said(setting), meaning)
    if "converters" in config:
        meaning = (
            "custom converters write values in forms of their own; one that the spec's type cannot be is rejected."
        )
        yield Advice(
            Level.RISK, "converters", config.said("converters"), meaning, "leave temporal columns to the modes."
        )
    setting = "field.name.adjustment.mode"
    if config.mode(setting) != "none":
        meaning = "column names that Avro refuses are changed; `columns` and `key` of a spec need the changed names."
        yield Advice(Level.RISK, setting, config.said(setting), meaning, f"`{setting}=none`: JSON needs no change.")
