"""Settings that the MariaDB and the MySQL connector share: the order of changes, truncates, how exact values are."""

from collections.abc import Callable, Iterator, Mapping

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Modes, delimited

_TEMPORAL: Modes = {
    "adaptive_time_microseconds": (
        Level.GOOD,
        "every time is exact to the microsecond, durations beyond a day and negative ones too.",
        None,
    ),
    "microseconds": (
        Level.GOOD,
        "every time is exact to the microsecond, durations beyond a day and negative ones too.",
        None,
    ),
    "connect": (
        Level.LOST,
        "times are cut to milliseconds, and a `time` that is negative or 24 hours and more is null.",
        "`time.precision.mode=adaptive_time_microseconds`, the default.",
    ),
    "isostring": (
        Level.LOST,
        "a `time` that is negative or 24 hours and more is null; dates and timestamps are exact.",
        "`time.precision.mode=adaptive_time_microseconds`, the default, if a `time` column holds durations.",
    ),
    "nanoseconds": (
        Level.LOST,
        "a `datetime` outside the years 1677 to 2262 is a wrong number, of which those of 0001-01-01 and 9999-12-31"
        " are repaired (`overflow`).",
        "`time.precision.mode=adaptive_time_microseconds`, the default, or `microseconds`.",
    ),
}
_DECIMAL: Modes = {
    "precise": (Level.GOOD, "decimals are exact, with up to 65 digits; the scale comes from the spec.", None),
    "string": (Level.GOOD, "decimals are exact, with up to 65 digits.", None),
    "double": (
        Level.LOST,
        "decimals are rounded to 15 to 17 digits before they reach Kafka; a value that no longer fits its type is"
        " rejected.",
        "`decimal.handling.mode=precise` or `string`.",
    ),
}
_BINARY: Modes = dict.fromkeys(
    ("bytes", "base64", "base64-url-safe", "hex"), (Level.GOOD, "bytes are exact in every mode.", None)
)
_UNSIGNED: Modes = {
    "long": (Level.GOOD, "a bigint unsigned from 2^63 on is sent as a negative number, and read as what it was.", None),
    "precise": (Level.GOOD, "a bigint unsigned is exact.", None),
}
MODES: Mapping[str, Modes] = {
    "time.precision.mode": _TEMPORAL,
    "decimal.handling.mode": _DECIMAL,
    "binary.handling.mode": _BINARY,
    "bigint.unsigned.handling.mode": _UNSIGNED,
}
SPEC_FIELDS: Mapping[str, str] = {
    "time_precision_mode": "time.precision.mode",
    "decimal_handling_mode": "decimal.handling.mode",
    "binary_handling_mode": "binary.handling.mode",
    "bigint_unsigned_handling_mode": "bigint.unsigned.handling.mode",
}
DEFAULTS: Mapping[str, str] = {
    "time.precision.mode": "adaptive_time_microseconds",
    "bigint.unsigned.handling.mode": "long",
    "inconsistent.schema.handling.mode": "fail",
}
POSITION = ("source.file", "source.pos", "source.row", "source.server_id", "source.gtid", "source.ts_ms")


def own(of_server: str) -> Callable[[Config], Iterator[Advice]]:
    """`Rules.own`: advice on the settings that only these two have, and a sentence on settings of a kind's server."""

    def advice(config: Config) -> Iterator[Advice]:
        yield from _of_servers(config, of_server)
        yield from _of_truncates(config)
        yield from _of_inconsistent_schemas(config)
        yield from _of_tinyint_1(config)

    return advice


def _of_servers(config: Config, of_server: str) -> Iterator[Advice]:
    setting = "database.hostname"
    meaning = (
        "file, position and row order every change of this one server. Another server's log has other files: after a"
        " failover, or `RESET MASTER`, write that moment under `restored_at` in the connector spec. GTIDs do not help:"
        f" the reads of a snapshot have none. {of_server}"
    )
    yield Advice(Level.NOTE, setting, config.shown(setting), meaning)


def _of_truncates(config: Config) -> Iterator[Advice]:
    setting = "skipped.operations"
    if "t" in config.items(setting):
        meaning = "a truncated table keeps its rows: the connector does not send truncates."
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, f"`{setting}=none` (2.0 or later).")


def _of_inconsistent_schemas(config: Config) -> Iterator[Advice]:
    setting = "inconsistent.schema.handling.mode"
    if config.mode(setting) != "fail":
        meaning = "changes of a table whose schema the connector does not know are lost, and partial rows"
        meaning += " (`binlog_row_image=minimal` in a session) with them."
        yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=fail`.")


def _of_tinyint_1(config: Config) -> Iterator[Advice]:
    for name in config.items("converters"):
        setting = f"{name}.type"
        if config.get(setting).endswith("TinyIntOneToBooleanConverter"):
            meaning = (
                "a tinyint(1) is true or false in records: write `boolean` as its type. Numbers other than 0 and 1 are"
                " lost, and of an unsigned one 128 and more are true in a snapshot and false in a change."
            )
            yield Advice(Level.NOTE, setting, config.shown(setting), meaning)


pattern = delimited("{database}", "{table}")
