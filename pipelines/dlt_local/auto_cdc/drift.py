"""Drift: what must not change between updates of one target, because its rows and state depend on it."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.delta.storage import read_json, read_json_if_intact, write_json
from dlt_local.errors import DeclarationError, SourceLocation

_FILE = "declaration.json"


@dataclass(frozen=True)
class _Declaration:
    """What a target's rows were made with; the content of declaration.json."""

    scd_type: int
    keys: list[str]
    """Each with its type."""
    sequence_type: str
    tracked: list[str]
    tracks_by_default: bool
    is_partial: bool

    @classmethod
    def of(cls, args: ChangeArgs) -> "_Declaration":
        types = {field.name: field.dataType.simpleString() for field in args.source_columns.fields}
        return cls(
            scd_type=args.scd_type,
            keys=sorted(f"{key.lower()} {types[key]}" for key in args.keys),
            sequence_type=args.sequence_type.simpleString(),
            tracked=sorted(name.lower() for name in args.tracked),
            tracks_by_default=args.tracks_by_default,
            is_partial=args.is_partial,
        )


_FIELDS = tuple(each.name for each in fields(_Declaration))


def check(args: ChangeArgs, folder: Path, location: SourceLocation) -> None:
    """Compare a flow with the one that made the target's rows and state.

    Raises:
        DeclarationError: applying this flow to them would mix two meanings in one table.
    """
    # A damaged file is an error of this target alone, which its integrity check reports.
    stored = read_json_if_intact(folder / _FILE, *_FIELDS)
    if stored is None:
        return
    was, now = _Declaration(**stored), _Declaration.of(args)
    is_tracked_alike = was.tracked == now.tracked or (was.tracks_by_default and now.tracks_by_default)
    for condition, what, before, after in (
        ("SCD_TYPE_DRIFT", "scd_type", was.scd_type, now.scd_type),
        ("KEY_SCHEMA_DRIFT", "keys", was.keys, now.keys),
        ("SEQUENCING_TYPE_DRIFT", "sequence_type", was.sequence_type, now.sequence_type),
        ("TRACK_HISTORY_DRIFT", "tracked columns", was.tracked, now.tracked),
        ("IGNORE_NULL_UPDATES_DRIFT", "ignore_null_updates or columns_to_update", was.is_partial, now.is_partial),
    ):
        is_harmless = condition == "TRACK_HISTORY_DRIFT" and (args.scd_type == 1 or is_tracked_alike)
        if before != after and not is_harmless:
            raise DeclarationError(
                f"AUTOCDC_INVALID_STATE.{condition}",
                f"target {args.target} was built with {what} {before}, but flow `{args.flow}` now has {after}",
                location,
                f"undo the change, or rebuild the target with --rebuild {args.target}",
            )


def declared(folder: Path) -> None:
    """Check that the record of what a target was made with can be read.

    Raises:
        StorageFileDamaged: it cannot.
    """
    read_json(folder / _FILE, *_FIELDS)


def record(args: ChangeArgs, folder: Path) -> None:
    """Record what the target is made with, before its first row is written."""
    now = asdict(_Declaration.of(args))
    if read_json(folder / _FILE) != now:
        write_json(folder / _FILE, now)
