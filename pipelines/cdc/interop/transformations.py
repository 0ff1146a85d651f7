"""Silver transformations: which source column each target column is, as far as their expressions are columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from cdc.interop import texts
from cdc.interop.onboarding import Onboarding, Part

TRANSFORMATIONS = "transformations"
_COLUMN = r"(?:`(?:[^`]|``)+`|[A-Za-z_]\w*)"
_SELECTED = re.compile(rf"\s*((?:{_COLUMN}\.)*)({_COLUMN})(?:\s+as\s+({_COLUMN}))?\s*", re.IGNORECASE)
_IMAGES = ("after", "before")
"""The parts of Debezium's envelope that have the row."""


@dataclass(frozen=True)
class Selected:
    """What the transformation of a table says of its columns."""

    renames: Mapping[str, str] = field(default_factory=dict)
    """Source column -> target column, of those that differ."""

    def source(self, target: str) -> str:
        """The source column of a target column."""
        return next((source for source, renamed in self.renames.items() if renamed == target), target)


def selected(onboarding: Onboarding, flow: Part) -> Selected:
    """The columns that the transformation of a flow's silver table selects."""
    part = onboarding.referred(flow, f"silver_transformation_json_{onboarding.env}", TRANSFORMATIONS)
    table = flow.text("silver_table")
    for index, row in enumerate(part.data.get(TRANSFORMATIONS, ()) if part else ()):
        if part and isinstance(row, dict) and row.get("target_table") == table:
            return _read(Part(part.reading, (TRANSFORMATIONS, index), row))
    return Selected()


def _read(transformation: Part) -> Selected:
    renames: dict[str, str] = {}
    for index, expression in enumerate(transformation.texts("select_exp")):
        found = _SELECTED.fullmatch(expression)
        if expression.strip() == "*" or (found and not found[3]):
            continue
        if found and _is_of_row(found[1]):
            source, target = texts.column_name(found[2]), texts.column_name(found[3])
            if source != target:
                renames[source] = target
        else:
            fix = "name it in `computed:` of the table spec, in the columns of silver, unless changes have it anyway."
            transformation.lost(("select_exp", index), f"`{expression}` is not a column of the row", fix)
    for index, condition in enumerate(transformation.texts("where_clause")):
        if condition.strip() != texts.ONLY_CHANGES:
            fix = "add `filter:` to the table spec, if rows that do not meet it should leave the table."
            transformation.lost(("where_clause", index), f"`{condition}` decides which changes are read", fix)
    if transformation.data.get("target_partition_cols"):
        transformation.lost("target_partition_cols", "tables are clustered, not partitioned", "use `cluster_by:`.")
    transformation.misspelt(("target_table", "select_exp", "where_clause", "target_partition_cols"))
    return Selected(renames)


def _is_of_row(path: str) -> bool:
    """True for a column of the row itself: on its own, or inside of a row image."""
    parents = [texts.column_name(each) for each in re.findall(_COLUMN, path)]
    return not parents or parents[-1].lower() in _IMAGES
