"""Unchanged values that are stored apart from their row (TOAST): what stands for each type, and what it becomes.

The captured row has a long value of each type. Updates change a number, then five values, then make NULL of two.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.decoding.postgresql.expected import Source, expected
from tests.decoding.test_postgresql_types import EVERY, as_frame, comparable, shown, types_table
from tests.support.tables import table
from tools.captures import Record
from tools.postgresql_connector.types import VERSIONS, Modes, Version, capture_file, columns, combinations, rows

from cdc import decode
from cdc.spec.model import TableSpec

TYPES = columns("toast")
TEXTS = {"c_text", "c_varchar", "c_citext", "c_xml", "c_json", "c_jsonb", "c_numrange"}
ARRAYS = {"a_text", "a_varchar", "a_json", "a_integer", "a_bigint", "a_uuid"}
MADE_NULL = ("c_json", "a_text")
"""A null in an update of these is read as NULL; in the other columns it stands for the unchanged value."""


def placeholders(source: Source) -> set[str]:
    """The columns for whose unchanged values the connector writes something; for the others it writes null."""
    modes, found = source.modes, set(TEXTS)
    if modes.binary in ("bytes", "hex") and not (source.is_old and modes.binary == "hex"):
        found.add("c_bytea")
    if not (source.is_old and modes.hstore == "map"):
        found.add("c_hstore")
    if modes.decimal == "string":
        found.add("c_numeric")
    if not source.is_old:
        found |= {*ARRAYS, "c_tsvector"}
        if modes.temporal not in ("connect", "isostring"):
            found.add("a_date")
        if modes.binary == "bytes":
            found.add("a_bytea")
        if modes.unknown == "true" and modes.binary in ("bytes", "hex"):
            found.add("c_polygon")
    return found


def spec_of(modes: Modes) -> TableSpec:
    """The table, without a numeric of 8000 digits where the mode cannot carry it, and a vector that 1.x cannot."""
    left_out = set() if modes.decimal == "string" else {"c_numeric"}
    if modes in combinations("1.9.7.Final") and modes.unknown == "true":
        left_out.add("c_vector")
    types = {name: type_ for name, type_ in TYPES.items() if name not in left_out}
    plain = table(types, connector=types_table(modes).connector, source="base.public.toast", name="toast")
    merging = (
        replace(each, unavailable="merge", null_is_unchanged=each.name not in MADE_NULL) if each.type.is_large else each
        for each in plain.columns
    )
    return replace(plain, columns=tuple(merging))


@pytest.mark.parametrize(
    "modes",
    [pytest.param(modes, marks=[pytest.mark.long] if number > 1 else []) for number, modes in enumerate(EVERY)],
    ids=lambda modes: modes.prefix,
)
def test_an_unchanged_value_is_the_previous_one(spark: SparkSession, modes: Modes) -> None:
    spec = spec_of(modes)
    runs = [(Source(version, modes), form) for version, form in captured(modes)]
    records = [record for _, form in runs for record in form]
    decoded = decode(as_frame(spark, records), spec)
    found = iter(
        decoded.select(
            "_partition", "_op", "_outcome", "_message", "_columns_to_update", F.struct(*shown(spec)).alias("row")
        )
        .orderBy("_partition")
        .collect()
    )
    faults = []
    for source, form in runs:
        state: dict[str, Any] = {}
        wanted: dict[str, Any] = {}
        before: dict[str, Any] = {}
        changed = [next(found) for _ in form][: len(rows("toast"))]
        for number, (got, now) in enumerate(zip(changed, rows("toast"), strict=True)):
            assert got._outcome == "change", (source, got._message)
            carried = set(got._columns_to_update)
            state |= {name: value for name, value in got.row.asDict().items() if name in carried}
            # What a version makes of a value depends on whether a snapshot or the log has it.
            values = expected(
                {**now, "id": "1" if number == 0 else "100"}, {c.name: TYPES[c.name] for c in spec.columns}, source
            )
            assert values is not None
            wanted |= {name: value for name, value in values.items() if now[name] != before.get(name, ...)}
            before = now
            if source.is_old and number:
                # 1.x writes null for an unchanged array of texts, which is no NULL unless the spec says so.
                wanted["a_text"] = None
            where = f"{source.version}, version {number}"
            faults += [
                f"{where}, {name}: {str(state[name])[:60]} in place of {str(wanted[name])[:60]}"
                for name in wanted
                if name != "id" and comparable(state[name], TYPES[name]) != comparable(wanted[name], TYPES[name])
            ]
        image = json.loads(form[1].value or b"")
        image = image.get("payload", image)["after"]
        standing = {
            name for name, value in image.items() if value is not None and name not in changed[1]._columns_to_update
        }
        assert standing == placeholders(source) & {c.name for c in spec.columns}, source
    assert not faults, "\n".join(faults[:20])


def captured(modes: Modes) -> Iterator[tuple[Version, list[Record]]]:
    """The records of each run in these modes."""
    for version in VERSIONS:
        for with_schema in (False, True):
            with gzip.open(capture_file(version, with_schema=with_schema), "rt", encoding="utf-8") as lines:
                topic = f"{modes.prefix}.public.toast"
                if records := [each for each in map(Record.from_line, lines) if each.topic == topic]:
                    yield version, records
