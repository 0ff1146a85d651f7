"""Column policies that the table, the connector or defaults.yml may set as well; the nearest wins."""

import zoneinfo
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from cdc.errors import Condition, near_match
from cdc.spec.document import ValuePath
from cdc.spec.kinds import Kind
from cdc.spec.model import Missing, Overflow, SourceType, Unavailable
from cdc.spec.reading import Fault, Reading
from cdc.spec.schema import field_schema

POLICIES = ("unavailable", "large_nulls", "on_missing", "overflow", "datetime_zone")


def layered(*nearest_first: Mapping[str, Any]) -> ChainMap[str, Any]:
    """The policies of several places, over the schema's defaults."""
    defaults = {name: field_schema("table", (name,)).get("default") for name in POLICIES}
    return ChainMap(*(policies_in(place) for place in nearest_first), defaults)


def policies_in(place: Mapping[str, Any]) -> dict[str, Any]:
    """The policies that a file or a column sets itself."""
    return {name: place[name] for name in POLICIES if name in place}


@dataclass(frozen=True)
class Policies:
    """The policies of one column; the fields are those of ColumnSpec."""

    unavailable: Unavailable
    null_is_unchanged: bool
    on_missing: Missing
    overflow: Overflow
    zone: str | None


def resolved_policies(
    stated: Mapping[str, Any], column_type: SourceType, kind: Kind | None, *, nullable: bool
) -> Policies:
    """The policies of one column, as far as they apply to its type."""
    has_zone = kind is not None and column_type.name in kind.without_zone and stated["datetime_zone"] != "none"
    return Policies(
        unavailable=stated["unavailable"],
        null_is_unchanged=column_type.is_large and stated["large_nulls"] == "unchanged",
        on_missing=stated["on_missing"] or ("as_null" if nullable else "reject"),
        overflow=stated["overflow"],
        zone=stated["datetime_zone"] if has_zone else None,
    )


def check_zone(reading: Reading, place: Mapping[str, Any], path: ValuePath = ()) -> None:
    """Report a ``datetime_zone`` that is not a time zone."""
    zone = place.get("datetime_zone", "none")
    if zone != "none" and (known := _time_zones()) and zone not in known:
        reading.report(
            Fault(
                Condition.UNKNOWN_ZONE,
                (*path, "datetime_zone"),
                f"`datetime_zone` is `{zone}`, which is not a known time zone",
                "use an IANA name such as Europe/Berlin, or none.",
                value=zone,
                near=near_match(zone, known),
            )
        )


@cache
def _time_zones() -> tuple[str, ...]:
    """The zones in this machine's time zone data; empty if it has none."""
    return tuple(sorted(zoneinfo.available_timezones()))


def check_fits_type(
    reading: Reading, column: Mapping[str, Any], of_type: SourceType, path: ValuePath, kind: Kind
) -> None:
    """Report settings of a column that do not apply to its type; set for a whole table, they are just not used."""
    for name, fits, types in (
        ("large_nulls", of_type.is_large, kind.large),
        ("overflow", of_type.name in kind.overflowing, _listed(kind.overflowing)),
        ("datetime_zone", of_type.name in kind.without_zone, _listed(kind.without_zone)),
        ("keep_offset", of_type.name in kind.with_offset, _listed(kind.with_offset)),
    ):
        if name in column and not fits:
            reading.report(
                Fault(
                    Condition.MISPLACED_FIELD,
                    (*path, name),
                    f"`{name}` applies to {types} only; column `{path[-1]}` is {of_type}",
                    "remove it, or correct the column's type.",
                    of_key=True,
                )
            )


def _listed(types: tuple[str, ...]) -> str:
    """Types as part of a sentence: ``datetime, smalldatetime and datetime2``."""
    *first, last = types or ("no types",)
    return f"{', '.join(first)} and {last}" if first else last
