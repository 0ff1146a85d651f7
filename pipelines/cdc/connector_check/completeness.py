"""Settings that decide which rows and changes reach Kafka at all."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Rules

_SNAPSHOTS = {
    **dict.fromkeys(
        ("initial", "always", "when_needed"),
        (Level.GOOD, "a snapshot reads every row before the first change; its reads sort before the changes.", None),
    ),
    **dict.fromkeys(
        ("no_data", "schema_only", "recovery", "schema_only_recovery"),
        (
            Level.LOST,
            "rows that are older than the connector and never change are missing from the tables.",
            "`snapshot.mode=initial`, or an incremental snapshot started by a signal.",
        ),
    ),
    "initial_only": (
        Level.LOST,
        "the connector stops after the snapshot and never sends changes.",
        "`snapshot.mode=initial`.",
    ),
    **dict.fromkeys(
        ("configuration_based", "custom"),
        (Level.NOTE, "other settings or code decide whether all rows are read.", None),
    ),
}
_FAILURES = {
    "fail": (Level.GOOD, "the connector stops on an error, so nothing is lost silently.", None),
    "warn": (Level.LOST, "{what} is lost, with only a line in the connector's log.", "`{setting}=fail`."),
    "skip": (Level.LOST, "{what} is silently lost.", "`{setting}=fail`."),
    "ignore": (Level.LOST, "{what} is silently lost.", "`{setting}=fail`."),
}
_FAILING = {
    "event.processing.failure.handling.mode": "an event that the connector cannot handle",
    "event.converting.failure.handling.mode": "a value that the connector cannot convert (it becomes null)",
}


def of_completeness(config: Config, rules: Rules | None) -> Iterator[Advice]:
    """Advice on which parts of the source are in the topics."""
    yield from _of_snapshot(config, rules)
    yield from _of_operations(config)
    yield from _of_failures(config)
    yield from _of_left_out(config)


def _of_snapshot(config: Config, rules: Rules | None) -> Iterator[Advice]:
    setting = "snapshot.mode"
    unknown = (Level.RISK, "this mode is unknown to this project.", "use `initial`.")
    modes = {**_SNAPSHOTS, **(rules.snapshots if rules else {})}
    level, meaning, fix = modes.get(config.mode(setting), unknown)
    yield Advice(level, setting, config.shown(setting), meaning, fix)
    setting = "snapshot.isolation.mode"
    if config.mode(setting) == "read_uncommitted":
        meaning = "a snapshot may read uncommitted rows, which are never removed."
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, f"`{setting}=snapshot`.")
    setting = "snapshot.select.statement.overrides"
    if setting in config:
        meaning = "rows that these statements exclude are missing from the tables until they change."
        yield Advice(Level.RISK, setting, config.shown(setting), meaning)


def _of_operations(config: Config) -> Iterator[Advice]:
    setting = "skipped.operations"
    operations = {"c": "inserts", "u": "updates", "d": "deletes"}
    if skipped := [operations[op] for op in config.items(setting) if op in operations]:
        meaning = f"{' and '.join(skipped)} are never sent."
        yield Advice(Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=none`.")


def _of_failures(config: Config) -> Iterator[Advice]:
    for setting, what in _FAILING.items():
        mode = config.mode(setting)
        if setting not in config and mode == "warn":
            # Most versions do not have this setting, so its default deserves no warning.
            continue
        level, meaning, fix = _FAILURES.get(mode, _FAILURES["skip"])
        yield Advice(
            level, setting, config.shown(setting), meaning.format(what=what), fix and fix.format(setting=setting)
        )


def _of_left_out(config: Config) -> Iterator[Advice]:
    for setting in ("column.exclude.list", "column.include.list"):
        if setting in config:
            meaning = "excluded columns are not in the records: leave them out of the spec too."
            yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
    for setting in ("table.include.list", "table.exclude.list"):
        if setting in config:
            meaning = "other tables have no topic; each captured table needs a spec: see `python -m cdc scaffold`."
            yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
