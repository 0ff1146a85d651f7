"""Settings of the MongoDB connector: what an update carries, the order of its changes, and what it leaves out."""

from collections.abc import Iterator

from cdc.connector_check.advice import Advice, Level
from cdc.connector_check.config import Config
from cdc.connector_check.kinds.rules import Modes, Rules, delimited

_CAPTURE, _FULL_UPDATE = "capture.mode", "capture.mode.full.update.type"
_PARTIAL = (
    Level.RISK,
    "an update carries only what it changes. Columns that it names are exact, but of a list or an object as one column,"
    " or of the whole document, it may tell a part only: such updates are rejected.",
    "`capture.mode=change_streams_update_full`.",
)
_FULL = (Level.GOOD, "an update carries the whole document.", None)
_MODES: Modes = {
    "change_streams_update_full": _FULL,
    "change_streams_update_full_with_pre_image": _FULL,
    "change_streams": _PARTIAL,
    "change_streams_with_pre_image": _PARTIAL,
}
_SNAPSHOT_AGAIN = (
    Level.RISK,
    "the reads of a later snapshot have no position in the log: they sort before all changes, so rows that have changed"
    " since, and whose changes the connector has missed, stay as they were.",
    "at each new snapshot, its moment in `restored_at` of the connector spec.",
)
_OLD_UNWRAP = "ExtractNewDocumentState"


def _own(config: Config) -> Iterator[Advice]:
    yield from _of_full_updates(config)
    yield from _of_transactions(config)
    yield from _of_filters(config)
    yield from _of_unwrapping(config)


def _of_full_updates(config: Config) -> Iterator[Advice]:
    if not config.mode(_CAPTURE).startswith("change_streams_update_full"):
        return
    value = config.shown(_FULL_UPDATE)
    if config.mode(_FULL_UPDATE) == "post_image":
        yield Advice(Level.GOOD, _FULL_UPDATE, value, "the document is as this very update left it.")
        return
    meaning = (
        "the document is looked up when the connector reads the update, so it may be a later one: rows end right, but"
        " history shows later values early. If it has been deleted by then, the update is rejected and its delete"
        " follows."
    )
    fix = f"`{_FULL_UPDATE}=post_image` (2.2 or later, with `changeStreamPreAndPostImages` of the collection)."
    yield Advice(Level.RISK, _FULL_UPDATE, value, meaning, fix)


def _of_transactions(config: Config) -> Iterator[Advice]:
    setting = "provide.transaction.metadata"
    if config.is_true(setting):
        yield Advice(Level.GOOD, setting, config.shown(setting), "the connector counts the changes of a transaction.")
    else:
        meaning = (
            "several changes of one document in one transaction are ordered by their arrival: rows end right, but a"
            " redelivery repeats their versions in history."
        )
        yield Advice(Level.RISK, setting, config.shown(setting), meaning, f"`{setting}=true`.")


def _of_filters(config: Config) -> Iterator[Advice]:
    for setting in ("field.exclude.list", "field.renames"):
        if setting in config:
            meaning = "these fields are not in the records under their names: leave them out of the spec too."
            yield Advice(Level.NOTE, setting, config.shown(setting), meaning)
    setting = "cursor.oversize.handling.mode"
    if config.mode(setting) == "skip":
        meaning = "changes of large documents are silently lost."
        yield Advice(
            Level.LOST, setting, config.shown(setting), meaning, f"`{setting}=split` (MongoDB 6.0.9 or later)."
        )


def _of_unwrapping(config: Config) -> Iterator[Advice]:
    if name := config.transform_of(_OLD_UNWRAP):
        meaning = "records that it flattens are not read: they have lost the types of extended JSON."
        fix = "remove it; the spec names columns by path."
        yield Advice(Level.LOST, f"transforms.{name}.type", _OLD_UNWRAP, meaning, fix)


RULES = Rules(
    kind="mongodb",
    position=("source.ord", "source.ts_ms"),
    modes={_CAPTURE: _MODES},
    spec_fields={"capture_mode": _CAPTURE},
    own=_own,
    topics=lambda _: "topics may not be named <prefix>.<database>.<collection>.",
    pattern=delimited("{database}", "{collection}"),
    snapshots=dict.fromkeys(("always", "when_needed"), _SNAPSHOT_AGAIN),
    defaults={_CAPTURE: "change_streams_update_full", _FULL_UPDATE: "lookup", "include.schema.changes": "false"},
    counts=False,
    reads_record_keys=True,
)
