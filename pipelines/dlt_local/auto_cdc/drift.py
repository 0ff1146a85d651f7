"""What must not change between updates of one target: keys, order, SCD type, tracked columns."""

from pathlib import Path
from typing import Any

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.delta.storage import read_json, write_json
from dlt_local.errors import DeclarationError, SourceLocation

_FILE = "declaration.json"


def check(args: ChangeArgs, folder: Path, location: SourceLocation) -> None:
    """Compare a flow with what the target's rows and state were made by.

    Raises:
        DeclarationError: applying it to them would mix two meanings in one table.
    """
    recorded = read_json(folder / _FILE)
    if recorded is None:
        return
    now = _described(args)
    for what, condition in (
        ("scd_type", "SCD_TYPE_DRIFT"),
        ("keys", "KEY_SCHEMA_DRIFT"),
        ("sequence_type", "SEQUENCING_TYPE_DRIFT"),
    ):
        if recorded[what] != now[what]:
            raise _drift(condition, what, recorded[what], now[what], args, location)
    follows_columns = recorded["tracks_by_default"] and now["tracks_by_default"]
    if args.scd_type == 2 and not follows_columns and recorded["tracked"] != now["tracked"]:
        raise _drift("TRACK_HISTORY_DRIFT", "tracked columns", recorded["tracked"], now["tracked"], args, location)
    if recorded["is_partial"] != now["is_partial"]:
        what = "ignore_null_updates or columns_to_update"
        raise _drift("IGNORE_NULL_UPDATES_DRIFT", what, recorded["is_partial"], now["is_partial"], args, location)


def record(args: ChangeArgs, folder: Path) -> None:
    """Remember by what the target is made, before its first row is written."""
    now = _described(args)
    if read_json(folder / _FILE) != now:
        write_json(folder / _FILE, now)


def _described(args: ChangeArgs) -> dict[str, Any]:
    types = {field.name: field.dataType.simpleString() for field in args.source_columns.fields}
    return {
        "scd_type": args.scd_type,
        "keys": sorted(f"{key.lower()} {types[key]}" for key in args.keys),
        "sequence_type": args.sequence_type.simpleString(),
        "tracked": sorted(name.lower() for name in args.tracked),
        "tracks_by_default": args.tracks_by_default,
        "is_partial": args.is_partial,
    }


def _drift(
    condition: str, what: str, was: object, now: object, args: ChangeArgs, location: SourceLocation
) -> DeclarationError:
    return DeclarationError(
        f"AUTOCDC_INVALID_STATE.{condition}",
        f"target {args.target} was made with {what} {was}, flow `{args.flow}` now has {now}",
        location,
        f"take the change back, or rebuild the target with --full-refresh {args.target}",
    )
