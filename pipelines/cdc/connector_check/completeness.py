"""Settings that decide which rows and changes there are at all."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config

_SNAPSHOTS = {
    **dict.fromkeys(
        ("initial", "always", "when_needed"),
        (Level.GOOD, "a snapshot reads every row, then changes follow; its reads sort before the changes.", None),
    ),
    **dict.fromkeys(
        ("no_data", "schema_only", "recovery", "schema_only_recovery"),
        (
            Level.LOST,
            "rows that were there before the connector and never change are in no table.",
            "`snapshot.mode=initial`, or an incremental snapshot by a signal.",
        ),
    ),
    "initial_only": (
        Level.LOST,
        "the connector ends after the snapshot: no change follows.",
        "`snapshot.mode=initial`.",
    ),
    **dict.fromkeys(
        ("configuration_based", "custom"),
        (Level.NOTE, "whether all rows are read is decided elsewhere.", None),
    ),
}
_FAILURES = {
    "fail": (Level.GOOD, "the connector stops at what it cannot handle: nothing is lost unseen.", None),
    "warn": (Level.LOST, "{what} is lost, with a line in the connector's log only.", "`{setting}=fail`."),
    "skip": (Level.LOST, "{what} is lost unseen.", "`{setting}=fail`."),
    "ignore": (Level.LOST, "{what} is lost unseen.", "`{setting}=fail`."),
}
_FAILING = {
    "event.processing.failure.handling.mode": "an event that the connector cannot handle",
    "event.converting.failure.handling.mode": "a value that the connector cannot convert (it becomes null)",
}


def of_completeness(config: Config) -> Iterator[Advice]:
    """What of the source there is in the topics."""
    yield from _of_snapshot(config)
    yield from _of_operations(config)
    yield from _of_failures(config)
    yield from _of_left_out(config)


def _of_snapshot(config: Config) -> Iterator[Advice]:
    setting = "snapshot.mode"
    unknown = (Level.RISK, "this project knows no such mode.", "take `initial`.")
    level, meaning, fix = _SNAPSHOTS.get(config.mode(setting), unknown)
    yield Advice(level, setting, config.said(setting), meaning, fix)
    setting = "snapshot.isolation.mode"
    if config.mode(setting) == "read_uncommitted":
        meaning = "a snapshot may read rows that were never committed, and nothing takes them back."
        yield Advice(Level.RISK, setting, config.said(setting), meaning, f"`{setting}=snapshot`.")
    setting = "snapshot.select.statement.overrides"
    if setting in config:
        meaning = "rows that these statements leave out are in no table until they change."
        yield Advice(Level.RISK, setting, config.said(setting), meaning)


def _of_operations(config: Config) -> Iterator[Advice]:
    setting = "skipped.operations"
    words = {"c": "inserts", "u": "updates", "d": "deletes"}
    if skipped := [words[op] for op in config.items(setting) if op in words]:
        meaning = f"{' and '.join(skipped)} never leave the connector."
        yield Advice(Level.LOST, setting, config.said(setting), meaning, f"`{setting}=none`.")


def _of_failures(config: Config) -> Iterator[Advice]:
    for setting, what in _FAILING.items():
        mode = config.mode(setting)
        if setting not in config and mode == "warn":
            # The default of a setting that most versions do not have.
            continue
        level, meaning, fix = _FAILURES.get(mode, _FAILURES["skip"])
        told = meaning.format(what=what)
        yield Advice(level, setting, config.said(setting), told, fix and fix.format(setting=setting))


def _of_left_out(config: Config) -> Iterator[Advice]:
    for setting in ("column.exclude.list", "column.include.list"):
        if setting in config:
            meaning = "columns that are left out are in no record: leave them out of the spec too."
            yield Advice(Level.NOTE, setting, config.said(setting), meaning)
    for setting in ("table.include.list", "table.exclude.list"):
        if setting in config:
            meaning = "other tables have no topic; each of these needs a spec, see `python -m cdc scaffold`."
            yield Advice(Level.NOTE, setting, config.said(setting), meaning)
