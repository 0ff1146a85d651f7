"""Settings of the SQL Server connector: its topics, the order of its changes, and how exact its values are."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Modes, Rules, delimited

_TEMPORAL: Modes = {
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
_DECIMAL: Modes = {
    "precise": (Level.GOOD, "decimals are exact, with up to 38 digits; the scale comes from the spec.", None),
    "string": (Level.GOOD, "decimals are exact, with up to 38 digits.", None),
    "double": (
        Level.LOST,
        "decimal, numeric and money are rounded to 15 to 17 digits before they reach Kafka; a value that no longer"
        " fits its type is rejected.",
        "`decimal.handling.mode=precise` or `string`.",
    ),
}
_BINARY: Modes = dict.fromkeys(
    ("bytes", "base64", "base64-url-safe", "hex"), (Level.GOOD, "bytes are exact in every mode.", None)
)


def _own(config: Config) -> Iterator[Advice]:
    yield from _of_query_mode(config)
    yield from _of_large_values(config)


def _of_query_mode(config: Config) -> Iterator[Advice]:
    setting, count = "data.query.mode", "provide.transaction.metadata"
    mode = config.mode(setting)
    value = config.shown(setting) if mode else "not set (default: direct since 3.4, function before)"
    if mode == "function":
        meaning = "changes arrive in LSN order, which the server does not guarantee to be right inside a transaction."
        yield Advice(Level.RISK, setting, value, meaning, f"`{setting}=direct` (3.1 or later), and `{count}=true`.")
    elif config.is_true(count):
        meaning = (
            "changes arrive in the server's order, and the connector counts them; `within_transaction: auto`, the"
            " default, orders by the count, and total_order rejects a change without one."
        )
        yield Advice(Level.GOOD, setting, value, meaning)
    else:
        meaning = (
            "changes arrive in the server's order, but inside a transaction their LSNs (`__$seqval`) may have another:"
            " two changes of one row in one transaction can end up in the wrong order. Each update counts such"
            " inversions, and gold.<connector>_findings has an example (`cdc.findings: true`)."
        )
        fix = (
            f"`{count}=true`; the pipeline then orders by the count. (`within_transaction: arrival` is right only while"
            " no record is delivered twice: a redelivered one undoes later changes and can bring back a deleted row.)"
        )
        yield Advice(Level.RISK, setting, value, meaning, fix)
    size = "streaming.fetch.size"
    if mode != "function" and config.get(size) not in ("", "0"):
        meaning = "in query mode direct, versions before July 2026 lose events of deferred updates with it (dbz#2012)."
        yield Advice(Level.LOST, size, config.shown(size), meaning, f"remove {size}, or use a version with the fix.")


def _of_large_values(config: Config) -> Iterator[Advice]:
    setting = "unavailable.value.placeholder"
    meaning = (
        "for an unchanged text, ntext, image or xml column, an update carries this placeholder since 3.6 and null"
        " before; for an unchanged (max) column, null. Set `unavailable: merge` and `large_nulls: unchanged` in the"
        " spec to keep the previous value."
    )
    yield Advice(Level.NOTE, setting, config.shown(setting), meaning)


def _pattern(config: Config) -> str | None:
    if config.is_1x:
        return "{prefix}.{schema}.{table}"
    return delimited("{database}", "{schema}", "{table}")(config)


def _signals(config: Config) -> str:
    table = config.get("signal.data.collection")
    return table.partition(".")[2] if config.is_1x else table


RULES = Rules(
    kind="sqlserver",
    position=("source.commit_lsn", "source.change_lsn", "source.event_serial_no", "source.ts_ms"),
    modes={"time.precision.mode": _TEMPORAL, "decimal.handling.mode": _DECIMAL, "binary.handling.mode": _BINARY},
    spec_fields={
        "time_precision_mode": "time.precision.mode",
        "decimal_handling_mode": "decimal.handling.mode",
        "binary_handling_mode": "binary.handling.mode",
    },
    own=_own,
    topics=lambda _: "topics may not be named <prefix>.<database>.<schema>.<table>.",
    pattern=_pattern,
    old_topics="<prefix>.<schema>.<table>, without the database",
    signals=_signals,
)
