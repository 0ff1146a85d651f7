"""Settings that decide how changes can be ordered, and which key they have."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Rules


def of_order(config: Config, rules: Rules | None) -> Iterator[Advice]:
    """Advice on the order of changes: what is the kind's own first."""
    if rules:
        yield from rules.own(config)
    yield from _of_keys(config, rules)
    yield from _of_tombstones(config)


def _of_keys(config: Config, rules: Rules | None) -> Iterator[Advice]:
    setting = "message.key.columns"
    if setting in config:
        meaning = (
            "record keys are these columns. The pipeline takes a row's key from the row, so list the columns that"
            " identify a row at the source in the spec's `key`. If they change, a row's records may be in two"
            " partitions; the position in the log still orders them."
        )
        yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
    converter = "key.converter"
    meaning = "the key is taken from the row, so any key converter works."
    of_router = config.transform_of("ByLogicalTableRouter")
    if of_router or (rules and rules.reads_record_keys):
        field = "router's field" if of_router else "key of the row in one and the same form"
        meaning = f"only the record key has the {field}, so keys have to be JSON."
        is_json = config.get(converter).endswith(".JsonConverter")
        fix = None if is_json else f"`{converter}=org.apache.kafka.connect.json.JsonConverter`."
        # If it is not set, the worker's converter applies, which may be JSON.
        level = Level.GOOD if is_json else Level.LOST if converter in config else Level.RISK
        yield Advice(level, converter, config.shown(converter), meaning, fix)
    else:
        yield Advice(Level.GOOD, converter, config.shown(converter), meaning)


def _of_tombstones(config: Config) -> Iterator[Advice]:
    setting = "tombstones.on.delete"
    if config.is_true(setting):
        meaning = "tombstones are counted and ignored; the delete before each of them is enough."
        yield Advice(Level.GOOD, setting, config.shown(setting), meaning)
    else:
        meaning = "nothing is lost, but a compacted topic keeps the last state of deleted rows forever."
        yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
