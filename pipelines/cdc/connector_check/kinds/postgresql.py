"""Settings of the PostgreSQL connector: the order of its changes, what its log lacks, and how exact its values are."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Modes, Rules, delimited

_TEMPORAL: Modes = {
    "adaptive": (
        Level.GOOD,
        "every year that Spark has is exact to the microsecond, as the server has it.",
        None,
    ),
    "adaptive_time_microseconds": (Level.GOOD, "as adaptive, and times of day are always in microseconds.", None),
    "connect": (
        Level.LOST,
        "times are cut to milliseconds: digits 4 to 6 of time and timestamp are never sent.",
        "`time.precision.mode=adaptive`.",
    ),
    "isostring": (
        Level.NOTE,
        "times are sent as text, for every year; 24:00:00, the end of a day, becomes 00:00:00.",
        None,
    ),
    "microseconds": (Level.GOOD, "every year is exact to the microsecond.", None),
    "nanoseconds": (
        Level.LOST,
        "every timestamp outside the years 1677 to 2262 is null, infinity included.",
        "`time.precision.mode=adaptive`.",
    ),
}
_DECIMAL: Modes = {
    "precise": (
        Level.RISK,
        "numeric(p,s) is exact, but NaN and infinity are sent as null, a numeric without a precision is read up to 38"
        " digits (one with more is rejected), and one that an update left unchanged and that is stored apart from its"
        " row is sent as null (`large_nulls: unchanged`).",
        "`decimal.handling.mode=string` if a table has a numeric without a precision.",
    ),
    "string": (Level.GOOD, "numbers are exact, of any number of digits, and NaN is one.", None),
    "double": (
        Level.LOST,
        "numeric and money are rounded to 15 to 17 digits before they reach Kafka; a value that no longer fits its type"
        " is rejected.",
        "`decimal.handling.mode=string` or `precise`.",
    ),
}
_BINARY: Modes = {
    **dict.fromkeys(("bytes", "hex"), (Level.GOOD, "bytes are exact.", None)),
    **dict.fromkeys(
        ("base64", "base64-url-safe"),
        (
            Level.RISK,
            "bytes are exact, but an unchanged bytea that is stored apart from its row is sent as null in place of the"
            " placeholder.",
            "`binary.handling.mode=bytes`, or `large_nulls: unchanged` in the spec.",
        ),
    ),
}
_INTERVAL: Modes = {
    "numeric": (
        Level.LOST,
        "an interval is sent as microseconds, with 30.4375 days a month: months and days cannot be told apart.",
        "`interval.handling.mode=string` if a table has an interval with months or years.",
    ),
    "string": (Level.GOOD, "intervals are sent as ISO 8601 durations, part by part.", None),
}
_HSTORE: Modes = dict.fromkeys(("json", "map"), (Level.GOOD, "an hstore is sent with all of its pairs.", None))


def _own(config: Config) -> Iterator[Advice]:
    yield from _of_plugin(config)
    yield from _of_unavailable_values(config)
    yield from _of_truncates(config)


def _of_plugin(config: Config) -> Iterator[Advice]:
    setting = "plugin.name"
    plugin = config.get(setting)
    if plugin != "pgoutput":
        meaning = "the decoder was tested with pgoutput, which is part of the server, and not with this plugin."
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, f"`{setting}=pgoutput`.")
    else:
        meaning = "whole transactions arrive in the order of their commits, and are ordered by it (`source.sequence`)."
        yield Advice(Level.GOOD, setting, config.shown(setting), meaning)


def _of_unavailable_values(config: Config) -> Iterator[Advice]:
    setting = "unavailable.value.placeholder"
    meaning = (
        "for an unchanged value that is stored apart from its row (TOAST), an update carries this placeholder, for some"
        " types and versions null (numeric, geometry, most arrays). `unavailable: merge` and, for such types,"
        " `large_nulls: unchanged` in the spec keep the previous value; without them it is null. After a change of the"
        " key there is no previous value: only REPLICA IDENTITY FULL has it."
    )
    yield Advice(Level.NOTE, setting, config.shown(setting), meaning)


def _of_truncates(config: Config) -> Iterator[Advice]:
    setting = "skipped.operations"
    skipped = config.get(setting)
    if skipped == "" or "t" in skipped:
        meaning = "a TRUNCATE is not sent, and its rows stay in silver and gold."
        yield Advice(
            Level.RISK,
            setting,
            config.shown(setting),
            meaning,
            f"`{setting}=none` (1.x: `truncate.handling.mode=include`).",
        )


RULES = Rules(
    kind="postgresql",
    position=("source.lsn", "source.sequence", "source.snapshot", "source.ts_ms"),
    modes={
        "time.precision.mode": _TEMPORAL,
        "decimal.handling.mode": _DECIMAL,
        "binary.handling.mode": _BINARY,
        "interval.handling.mode": _INTERVAL,
        "hstore.handling.mode": _HSTORE,
    },
    spec_fields={
        "time_precision_mode": "time.precision.mode",
        "decimal_handling_mode": "decimal.handling.mode",
        "binary_handling_mode": "binary.handling.mode",
        "interval_handling_mode": "interval.handling.mode",
        "hstore_handling_mode": "hstore.handling.mode",
    },
    own=_own,
    topics=lambda _: "topics may not be named <prefix>.<schema>.<table>.",
    pattern=delimited("{schema}", "{table}"),
    snapshots={
        "never": (
            Level.LOST,
            "rows from before the slot was created, and never changed since, are missing from the tables.",
            "`snapshot.mode=initial`.",
        ),
        **dict.fromkeys(
            ("always", "when_needed"),
            (
                Level.NOTE,
                "a snapshot while other snapshots' rows are there already does not find the rows that were deleted in"
                " between: they stay, unless their deletes are still in the slot.",
                None,
            ),
        ),
    },
    defaults={
        "plugin.name": "decoderbufs",
        "interval.handling.mode": "numeric",
        "hstore.handling.mode": "json",
        "include.schema.changes": "false",
    },
    counts=False,
)
