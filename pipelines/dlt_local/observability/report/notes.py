"""Notes: what the rows of a table say about themselves, such as that their record is not as expected.

The table property `report.notes` holds JSON: ``{"of": "notes", "text": ["kind", "field"], "example": "record",
"order": ["at"], "hint": "..."}``. Column ``of`` has a list of structs, null for rows without a note; ``text`` are the
fields of such a struct that make a note, ``example`` the field that says where it is from. ``order`` are columns of the
table by which the first row with a note is found, and ``hint`` is what to do about notes.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

NOTES = "report.notes"
_SEPARATOR = ": "


def noted(files: tuple[Path, ...], declared: str) -> "Counter[str]":
    """How many rows of some data files have each note."""
    return Counter({text: row["count_all"] for text, row in _grouped(files, json.loads(declared)).items()})


def examples(files: tuple[Path, ...], declared: str) -> dict[str, str]:
    """The example of the first row with each note."""
    return {text: str(row["example_first"]) for text, row in _grouped(files, json.loads(declared)).items()}


def _grouped(files: tuple[Path, ...], asked: dict[str, Any]) -> dict[str, Any]:
    names = asked["text"]
    tables = [found for file in files if (found := _notes_in(file, asked)) is not None]
    if not tables:
        return {}
    ordered = pyarrow.concat_tables(tables).sort_by([(f"order_{name}", "ascending") for name in asked["order"]])
    groups = ordered.group_by(names, use_threads=False).aggregate([("example", "first"), ([], "count_all")])
    return {
        _SEPARATOR.join(str(row[name]) for name in names if row[name] is not None): row for row in groups.to_pylist()
    }


def _notes_in(file: Path, asked: dict[str, Any]) -> pyarrow.Table | None:
    """The notes of one file, one row each; None if it has none. Most files have none, so the list is read first."""
    compute: Any = pyarrow.compute
    with pyarrow.parquet.ParquetFile(file) as opened:
        # A file from before the column existed lacks it.
        if asked["of"] not in opened.schema_arrow.names:
            return None
        lists = opened.read(columns=[asked["of"]])
        if lists.column(0).null_count == lists.num_rows:
            return None
        order = opened.read(columns=asked["order"])
    column = lists.column(0).combine_chunks()
    notes, rows = compute.list_flatten(column), compute.list_parent_indices(column)
    fields = {name: compute.struct_field(notes, name) for name in asked["text"]}
    places = {f"order_{name}": order.column(name).take(rows) for name in asked["order"]}
    return pyarrow.table({**fields, "example": compute.struct_field(notes, asked["example"]), **places})
