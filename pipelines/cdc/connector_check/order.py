"""Settings that decide how changes can be ordered, and which key they have."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config


def of_order(config: Config) -> Iterator[Advice]:
    """Advice on the order of changes."""
    yield from _of_query_mode(config)
    yield from _of_keys(config)
    yield from _of_tombstones(config)


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


def _of_keys(config: Config) -> Iterator[Advice]:
    setting = "message.key.columns"
    if setting in config:
        meaning = (
            "record keys are these columns. The pipeline takes a row's key from the row, so list the columns that"
            " identify a row at the source in the spec's `key`. If they change, a row's records may be in two"
            " partitions; the LSN still orders them."
        )
        yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
    converter = "key.converter"
    meaning = "the key is taken from the row, so any key converter works."
    if config.transform_of("ByLogicalTableRouter"):
        meaning = "only the record key has the router's field, so keys have to be JSON."
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
