"""Which changes of a column's type leave its stored rows right: by the plan, and by the engine; without Spark."""

import doctest
import json
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.sql.types import DecimalType, DoubleType, FloatType, IntegerType, LongType, ShortType, StructType
from tests.support.conf_folder import one_table

from cdc import definition
from cdc.plan.edits import Effect, plan
from dlt_local.delta import wider_types
from dlt_local.delta.wider_types import is_wider, widens
from dlt_local.updates import row_definitions
from dlt_local.updates.row_definitions import edits

AS_TEXT = "{topic_prefix: p, decimal_handling_mode: string}"
AS_NUMBER = "{topic_prefix: p, decimal_format: numeric}"
ROUNDED = "{topic_prefix: p, decimal_handling_mode: double, decimal_format: numeric}"
PLAIN = "{topic_prefix: p}"


def is_in_place(folder: Path, old: str, new: str, more: str = "", connector: str = PLAIN) -> bool:
    """What the plan says of an edit of column `x`; the engine must say the same of each dataset."""
    spec = "table: shop.dbo.orders\n{}\ncolumns:\n  id: int\n  x: {}\n"
    more = more if more.startswith("key:") else f"key: [id]\n{more}"
    before, after = (
        one_table(folder / name, spec.format(more, type_), connector=connector)
        for name, type_ in (("old", old), ("new", new))
    )
    stored = {**definition.definition(before), **definition.definition_of_versions(before)}
    is_refused = plan(after, stored).effect is Effect.REBUILD
    for properties in (definition.of_changes, definition.of_versions):
        was, now = properties(before), properties(after)
        parts, same = json.loads(now[definition.PROPERTY]), json.loads(now.get(definition.SAME, "{}"))
        assert bool(list(edits(json.loads(was[definition.PROPERTY]), parts, same))) == is_refused
    return not is_refused


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tinyint", "smallint"),
        ("tinyint", "bigint"),
        ("smallint", "int"),
        ("int", "bigint"),
        ("int not null", "bigint not null"),
        ("{type: int, rename: y}", "{type: bigint, rename: y}"),
        ("decimal(9,2)", "decimal(12,2)"),
        ("decimal(9,2)", "decimal(38,2)"),
        ("decimal(19,0)", "decimal(20,0)"),
        ("numeric(9,2)", "decimal(9,2)"),
        ("smallmoney", "money"),
        ("varchar(20)", "nvarchar(8)"),
        ("binary(2)", "varbinary(8000)"),
    ],
)
def test_wider_numbers_and_other_lengths_are_in_place(tmp_path: Path, old: str, new: str) -> None:
    assert is_in_place(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bigint", "int"),
        ("smallint", "tinyint"),
        ("decimal(12,2)", "decimal(9,2)"),
        ("decimal(20,2)", "decimal(19,2)"),
        ("decimal(9,2)", "decimal(11,4)"),
        ("int", "decimal(12,0)"),
        ("int", "float"),
        ("real", "float"),
        ("money", "decimal(19,4)"),
        ("date", "datetime2(7)"),
        ("datetime2(3)", "datetime2(7)"),
        ("nvarchar(20)", "nvarchar(max)"),
        ("int", "{type: bigint, rename: y}"),
        ("int", "{type: bigint, mask: x + 1}"),
        ("{type: int, mask: x + 1}", "{type: bigint, mask: x + 1}"),
        # What a mask has changed stays changed when it is taken away.
        ("{type: nvarchar(20), mask: sha256}", "nvarchar(20)"),
        ('{type: "decimal(9,2)", mask: "round(x, 2)"}', "decimal(12,2)"),
    ],
)
def test_every_other_change_needs_a_rebuild(tmp_path: Path, old: str, new: str) -> None:
    assert not is_in_place(tmp_path, old, new)


@pytest.mark.parametrize(
    ("connector", "old", "new", "expected"),
    [
        (AS_TEXT, "decimal(9,2)", "decimal(11,4)", True),
        (AS_NUMBER, "decimal(9,2)", "decimal(11,4)", True),
        (AS_NUMBER, "decimal(9,2)", "decimal(38,31)", True),
        (AS_TEXT, "decimal(9,2)", "decimal(10,4)", False),
        (AS_TEXT, "decimal(9,2)", "decimal(38,32)", False),
        (AS_TEXT, "decimal(9,2)", "decimal(12,1)", False),
        (ROUNDED, "decimal(9,2)", "decimal(11,4)", False),
        (ROUNDED, "decimal(9,2)", "decimal(11,2)", True),
    ],
)
def test_more_decimal_places_need_a_number_that_is_written_with_its_point(
    tmp_path: Path, connector: str, old: str, new: str, *, expected: bool
) -> None:
    assert is_in_place(tmp_path, old, new, connector=connector) is expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("key: [id, x]", False),
        ("key: [x]", False),
        ("filter: x > 1", False),
        ("filter: id > 1", True),
        ("computed: {y: hash(X)}", False),
        ("computed: {y: id * 2, xx: id + 1}", True),
        ("computed: {y: 'hash(id, *)'}", False),
        ("expectations: {a: {condition: x > 1, action: drop}}", False),
        ("expectations: {a: {condition: x > 1, action: quarantine}}", False),
        ("expectations: {a: x > 1, b: {condition: x < 9, action: fail}}", True),
        ("history: {track: [x]}", True),
        ("history: false", True),
        ("deletes: soft", True),
        ("into: {table: orders, source: EU-1, column: region}", False),
    ],
)
def test_a_column_that_something_else_depends_on_needs_a_rebuild(tmp_path: Path, more: str, *, expected: bool) -> None:
    assert is_in_place(tmp_path, "int", "bigint", more) is expected


def test_another_columns_mask_may_depend_on_the_type(tmp_path: Path) -> None:
    mask = '  z: {type: nvarchar(20), mask: "concat(z, typeof(x))"}\n'
    spec = "table: shop.dbo.orders\nkey: [id]\ncolumns:\n  id: int\n  x: {}\n" + mask
    before, after = (one_table(tmp_path / type_, spec.replace("{}", type_, 1)) for type_ in ("int", "bigint"))
    assert plan(after, definition.definition(before)).effect is Effect.REBUILD


def test_every_precision_up_to_the_new_one_is_narrower(tmp_path: Path) -> None:
    for precision in range(2, 39):
        table = one_table(tmp_path, f"table: a.b.c\nkey: [id]\ncolumns: {{id: int, x: 'decimal({precision},2)'}}\n")
        same = {"x": definition.same_rows(table)["x"]}
        after = {"x": f"decimal({precision},2)"}
        passes = [old for old in range(2, 39) if not list(edits({"x": f"decimal({old},2)"}, after, same))]
        assert passes == list(range(2, precision + 1))


@pytest.mark.parametrize("module", [wider_types, row_definitions], ids=lambda module: module.__name__)
def test_the_examples_hold(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


def test_types_that_a_stored_column_can_get() -> None:
    short, long, exact = IntegerType(), LongType(), DecimalType(9, 2)
    assert is_wider(long, short) and is_wider(short, ShortType()) and is_wider(DecimalType(11, 4), exact)
    refused = [(short, short), (short, long), (DecimalType(10, 4), exact), (DecimalType(12, 0), short)]
    assert not any(is_wider(new, old) for new, old in [*refused, (DoubleType(), FloatType()), (DoubleType(), short)])
    stored = StructType().add("Id", short).add("total", exact)
    assert widens(StructType().add("id", long), stored)
    assert not widens(StructType().add("id", short).add("new", long), stored)
