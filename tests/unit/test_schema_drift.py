"""Source drift by schema changes: the same differences as `scaffold --diff` finds in them."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.tables import column, table

from cdc.schema_drift import schema_drift
from cdc.spec.kinds import DEFAULT

SCHEMA_CHANGES = (
    "table string, change string, key array<string>, columns array<struct<name: string, type: string, length: int,"
    " scale: int, position: int, nullable: boolean>>, _topic string, _partition int, _offset bigint,"
    " _recorded_at timestamp"
)
Described = dict[str, tuple[str, int | None, int | None, bool]]
ID = ("int identity", 10, 0, False)
TYPES = [
    ("bigint", ("int", 10, 0, True)),
    ("int", ("bigint", 19, 0, True)),
    ("tinyint", ("smallint", 5, 0, True)),
    ("nvarchar(max)", ("nvarchar", 80, None, True)),
    ("nvarchar(80)", ("nvarchar", 1_073_741_823, None, True)),
    ("nvarchar(80)", ("nvarchar", 81, None, True)),
    ("nvarchar(80)", ("varchar", 80, None, True)),
    ("nvarchar(max)", ("nvarchar", 1_073_741_823, None, True)),
    ("decimal(20,2)", ("decimal", 18, 2, True)),
    ("numeric(18,2)", ("decimal", 18, 2, True)),
    ("decimal(18,3)", ("decimal", 18, 2, True)),
    ("decimal(16,2)", ("decimal", 18, 2, True)),
    ("datetime2(7)", ("datetime2", 27, 7, True)),
    ("datetime2(7)", ("datetime2", 23, 3, True)),
    ("datetime", ("datetime2", 23, 3, True)),
    ("rowversion", ("timestamp", 8, None, True)),
    ("uniqueidentifier", ("uniqueidentifier", 36, None, True)),
    ("float", ("float", 53, None, True)),
    ("money", ("money", 19, 4, True)),
    ("bit", ("bit", 1, None, True)),
    ("varbinary(8)", ("binary", 8, None, True)),
    ("xml", ("xml", 0, None, True)),
]


def reported(
    source: str, columns: Described, key: tuple[str, ...] = ("id",), offset: int = 0, change: str = "ALTER"
) -> Any:
    described = [
        (name, type_, length, scale, position, nullable)
        for position, (name, (type_, length, scale, nullable)) in enumerate(columns.items())
    ]
    return (source, change, list(key), described, "shopserver", 0, offset, datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, list[tuple[Any, ...]]]:
    """The differences of each source table: kind, field, expected, found."""
    specs = [
        table({"id": "int not null", "a": type_}, source=f"shop.dbo.t{number}")
        for number, (type_, _) in enumerate(TYPES)
    ]
    changes = [reported(spec.source, {"id": ID, "a": source}) for spec, (_, source) in zip(specs, TYPES, strict=True)]
    orders = table(
        {
            "id": "int not null",
            "name": "nvarchar(5) not null",
            "old": "int",
            "kept": column("kept", "int", may_be_absent=True),
        },
        excluded=("secret",),
    )
    dropped = table({"id": "int not null"}, source="shop.dbo.dropped")
    silent = table({"id": "int not null"}, source="shop.dbo.silent")
    text: tuple[str, int, None, bool] = ("nvarchar", 5, None, True)
    columns: Described = {"id": ID, "name": text, "secret": text, "New Col": ("bit", 1, None, False)}
    changes += [
        reported(orders.source, columns, ("id", "name"), offset=7),
        reported(orders.source, {"id": ID, "earlier": text}, offset=3),
        reported(dropped.source, {}, offset=8, change="DROP"),
        reported("shop.dbo.new", {"id": ID, "name": text}, offset=9),
        reported("shop.dbo.gone", {}, offset=10, change="DROP"),
        reported("shop.dbo.dbz_signal", {"id": text, "type": text, "data": text}, offset=11),
        (None, None, None, None, "shopserver", 0, 12, None),
    ]
    frame = spark.createDataFrame(changes, SCHEMA_CHANGES)
    rows = schema_drift(frame, [*specs, orders, dropped, silent]).collect()
    result: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        result.setdefault(row.table, []).append((row.kind, row.field, row.expected, row.found, row.record))
    return result


def test_types_differ_as_scaffold_compares_them(found: dict[str, list[tuple[Any, ...]]]) -> None:
    differing = {number for number in range(len(TYPES)) if f"shop.dbo.t{number}" in found}
    expected = set()
    for number, (of_spec, (name, length, scale, optional)) in enumerate(TYPES):
        source = DEFAULT.described_type({"typeName": name, "length": length, "scale": scale, "optional": optional})
        if not DEFAULT.widths.holds(DEFAULT.parse_type(of_spec)[0], DEFAULT.parse_type(source)[0]):
            expected.add(number)
            shown = str(DEFAULT.parse_type(source)[0])
            assert found[f"shop.dbo.t{number}"][0][:4] == ("other type", "a", of_spec, shown)
    assert differing == expected


def test_each_kind_of_difference_is_found_in_the_last_schema(found: dict[str, list[tuple[Any, ...]]]) -> None:
    orders = [row[:4] for row in found["shop.dbo.orders"]]
    assert orders == [
        ("other nullability", "name", "nvarchar(5) not null", "nvarchar(5)"),
        ("column added", "New Col", None, "bit not null"),
        ("column gone", "old", "int", None),
        ("key changed", "", "[id]", "[id, name]"),
    ]
    assert {row[4] for row in found["shop.dbo.orders"]} == {"shopserver[0]@7"}
    assert found["shop.dbo.dropped"] == [("table dropped", "", None, None, "shopserver[0]@8")]
    assert found["shop.dbo.new"] == [("new table", "", None, "[id, name]", "shopserver[0]@9")]
    assert not {"shop.dbo.silent", "shop.dbo.gone", "shop.dbo.dbz_signal"} & set(found)
