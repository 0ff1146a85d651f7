"""Settings that decide in which order changes can be put, and which key they have."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config


def of_order(config: Config) -> Iterator[Advice]:
    """What can be said of the order of changes."""
    yield from _of_query_mode(config)
    yield from _of_keys(config)
    yield from _of_tombstones(config)


def _of_query_mode(config: Config) -> Iterator[Advice]:
    setting, count = "data.query.mode", "provide.transaction.metadata"
    mode = config.mode(setting)
    said = config.said(setting) if mode else "not set, so direct from 3.4 on and function before"
    if mode == "function":
        meaning = "changes arrive and are ordered by LSN; the server does not promise that order inside a transaction."
        yield Advice(Level.RISK, setting, said, meaning, f"`{setting}=direct` (3.1 and newer), and `{count}=true`.")
    elif config.is_true(count):
        meaning = (
            "changes arrive in the server's order, and the connector counts them: `within_transaction: total_order`."
        )
        yield Advice(Level.GOOD, setting, said, meaning)
    else:
        meaning = (
            "changes arrive in the server's order, but inside a transaction their LSNs need not have it (`__$seqval`):"
            " two changes of one row in one transaction can be put the wrong way round. gold.<connector>_findings"
            " counts such inversions (`cdc.findings: true`)."
        )
        fix = f"`{count}=true`, and `within_transaction: total_order` in the connector spec."
        yield Advice(Level.RISK, setting, said, meaning, fix)
    size = "streaming.fetch.size"
    if mode != "function" and config.get(size) not in ("", "0"):
        meaning = (
            "in query mode direct, versions before July 2026 lose the events of deferred updates with it (dbz#2012)."
        )
        yield Advice(Level.LOST, size, config.said(size), meaning, f"take {size} out, or a version with the fix.")


def _of_keys(config: Config) -> Iterator[Advice]:
    setting = "message.key.columns"
    if setting in config:
        meaning = (
            "record keys are these columns. The pipeline takes a row's key from the row; give the spec's `key` the"
            " columns that identify a row at the source. If they change, a row's records may lie in two partitions,"
            " which the LSN still puts in order."
        )
        yield Advice(Level.NOTE, setting, config.said(setting), meaning)
    converter = "key.converter"
    meaning = "of records with a row the key is taken from the row, so any key converter will do."
    if config.transform_of("ByLogicalTableRouter"):
        meaning = "the router's field is in the record key alone, so keys have to be JSON."
        is_json = config.get(converter).endswith(".JsonConverter")
        fix = None if is_json else f"`{converter}=org.apache.kafka.connect.json.JsonConverter`."
        # Not set, the worker's converter counts, which may be JSON.
        level = Level.GOOD if is_json else Level.LOST if converter in config else Level.RISK
        yield Advice(level, converter, config.said(converter), meaning, fix)
    else:
        yield Advice(Level.GOOD, converter, config.said(converter), meaning)


def _of_tombstones(config: Config) -> Iterator[Advice]:
    setting = "tombstones.on.delete"
    if config.is_true(setting):
        meaning = "tombstones are counted and ignored: the delete before each of them says it already."
        yield Advice(Level.GOOD, setting, config.said(setting), meaning)
    else:
        meaning = "nothing is lost; but a compacted topic keeps the last state of deleted rows for ever."
        yield Advice(Level.NOTE, setting, config.said(setting), meaning)
