"""Settings of the Db2 connector: the order of its changes, and how exact its values are."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Modes, Rules, delimited

_TEMPORAL: Modes = {
    "adaptive": (
        Level.RISK,
        "a TIMESTAMP of 7 digits and more is sent as nanoseconds, which cover the years 1677 to 2262 only. Since 3.6"
        " other years are null; before, they are wrong numbers, of which 0001-01-01 and 9999-12-31 are repaired"
        " (`overflow`). A TIMESTAMP(6), the default, is exact.",
        "`time.precision.mode=isostring` or `microseconds` (3.x) if such a column has such years.",
    ),
    "adaptive_time_microseconds": (
        Level.RISK,
        "as adaptive: years outside 1677 to 2262 of a TIMESTAMP of 7 digits and more are lost.",
        "`time.precision.mode=isostring` (3.x).",
    ),
    "connect": (
        Level.LOST,
        "times are cut to milliseconds: digits 4 to 12 of a TIMESTAMP are never sent.",
        "`time.precision.mode=isostring` (3.x), or adaptive.",
    ),
    "isostring": (Level.GOOD, "times are sent as text, for every year.", None),
    "microseconds": (Level.GOOD, "every year is exact to the microsecond, like Spark's timestamps.", None),
    "nanoseconds": (
        Level.LOST,
        "every TIMESTAMP outside the years 1677 to 2262 is null, such as 9999-12-31, the usual open end.",
        "`time.precision.mode=isostring` or `microseconds`.",
    ),
}
_DECIMAL: Modes = {
    "precise": (
        Level.GOOD,
        "decimals are exact; a DECFLOAT of more than 38 digits before the point is rejected.",
        None,
    ),
    "string": (Level.GOOD, "decimals are exact, and so is every DECFLOAT.", None),
    "double": (
        Level.LOST,
        "decimal, numeric and decfloat are rounded to 15 to 17 digits before they reach Kafka; a value that no longer"
        " fits its type is rejected.",
        "`decimal.handling.mode=precise` or `string`.",
    ),
}


def _own(config: Config) -> Iterator[Advice]:
    setting = "db2.platform"
    if config.mode(setting) not in ("", "luw"):
        meaning = "records of Db2 for z/OS have not been tried with this project."
        yield Advice(Level.RISK, setting, config.shown(setting), meaning)
    setting = "connector.class"
    meaning = (
        "changes are ordered by their LSNs, in the order in which the server logged them. `source.ts_ms` is the time at"
        " which the connector read a change, not that of its commit: `valid_from` in gold is that time too."
    )
    yield Advice(Level.NOTE, setting, config.shown(setting), meaning)


RULES = Rules(
    kind="db2",
    position=("source.commit_lsn", "source.change_lsn", "source.ts_ms"),
    modes={"time.precision.mode": _TEMPORAL, "decimal.handling.mode": _DECIMAL},
    spec_fields={"time_precision_mode": "time.precision.mode", "decimal_handling_mode": "decimal.handling.mode"},
    own=_own,
    topics=lambda _: "topics may not be named <prefix>.<schema>.<table>.",
    pattern=delimited("{schema}", "{table}"),
    counts=False,
    signals=lambda config: config.get("signal.data.collection").partition(".")[2],
)
