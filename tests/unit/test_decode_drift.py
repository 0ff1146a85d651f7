"""What one record shows of source drift: each kind of it, and no value of any column."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.records import Record, Topic, frame
from tests.support.tables import column, table

from cdc import decode
from cdc.spec.difference_kinds import Change

GUIDE = Path(__file__).parents[2] / "docs" / "change-a-table.md"

ORDERS = table(
    {
        "id": "int not null",
        "customer": "nvarchar(20) not null",
        "total": "decimal(18,2)",
        "email": column("email", "date", mask="null"),
        "channel": column("channel", "int", may_be_absent=True),
    },
    excluded=("secret",),
)
orders = Topic(ORDERS.topic)
ROW = {"id": 1, "customer": "Ada", "total": "AMg=", "email": None, "channel": 2}
Differences = list[tuple[str, str | None, str | None, str | None]]


def row(**other: object) -> dict[str, Any]:
    return ROW | other


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in ROW.items() if name not in names}


NONE: Differences = []
CASES: dict[str, tuple[Record, Differences]] = {
    "as in the spec": (orders.create(**ROW), NONE),
    "fields in another order": (orders.create(**dict(reversed(ROW.items()))), NONE),
    "an unknown text": (
        orders.update(**row(phone="555-0100")),
        [("column added", "phone", None, "text of length 8")],
    ),
    "two unknown fields": (
        orders.read(**row(a=None, b=[1])),
        [("column added", "a", None, "null"), ("column added", "b", None, "object or list")],
    ),
    "an excluded field": (orders.create(**row(secret="x")), NONE),
    "a field less": (orders.create(**without("total")), [("column gone", "total", "decimal(18,2)", None)]),
    "two fields less": (
        orders.create(**without("total", "email")),
        [("column gone", "total", "decimal(18,2)", None), ("column gone", "email", "date", None)],
    ),
    "a field that may be absent": (orders.create(**without("channel")), NONE),
    "a NOT NULL field less": (
        orders.create(**without("customer")),
        [("column gone", "customer", "nvarchar(20) not null", None)],
    ),
    "a renamed field": (
        orders.create(id=1, customer="Ada", amount="AMg=", email=None, channel=2),
        [("column added", "amount", None, "text of length 4"), ("column gone", "total", "decimal(18,2)", None)],
    ),
    "null in a NOT NULL field": (
        orders.create(**row(customer=None)),
        [("other nullability", "customer", "nvarchar(20) not null", "null")],
    ),
    "a value of another type": (
        orders.create(**row(total="12.50 EUR")),
        [("other type", "total", "decimal(18,2)", "text of length 9")],
    ),
    "a masked value of another type": (orders.create(**row(email="a@b.c")), [("other type", "email", "date", None)]),
    "a key with another field": (
        orders.create(**ROW).with_key({"id": 1, "region": "EU"}),
        [("key changed", None, "[id]", "[id, region]")],
    ),
    "a key of another field": (
        orders.delete(**ROW).with_key({"number": 1}),
        [("key changed", None, "[id]", "[number]")],
    ),
    "a key with a router's field": (orders.create(**ROW).with_key({"__dbz__table": "x", "id": 1}), NONE),
    "a key written with spaces": (orders.create(**ROW).with_key_text('{ "id" : 1 }'), NONE),
    "a key with a schema block": (orders.create(**ROW).with_schema(), NONE),
    "another key with a schema block": (
        orders.create(**ROW).with_key({"id": 1, "region": "EU"}).with_schema(),
        [("key changed", None, "[id]", "[id, region]")],
    ),
    "a key that looks like another": (
        orders.create(**ROW).with_key_text('{"x":"\\"id\\":"}'),
        [("key changed", None, "[id]", "[x]")],
    ),
    "no key": (orders.create(**ROW).with_key(None), NONE),
    "a key that is no JSON": (orders.create(**ROW).with_key_text("1"), NONE),
    "a delete": (orders.delete(id=1), NONE),
    "a tombstone": (orders.tombstone(id=1), NONE),
    "damaged": (orders.create(**ROW).with_text('{"op":"c","after":{"id":1'), NONE),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, Differences]:
    decoded = decode(frame(spark, [record for record, _ in CASES.values()]), ORDERS).orderBy("_offset")
    rows = [each._drift or [] for each in decoded.select("_drift").collect()]
    assert all(each["record"].startswith(f"{ORDERS.topic}[0]@") for one in rows for each in one)
    return {case: [tuple(each)[:4] for each in one] for case, one in zip(CASES, rows, strict=True)}


@pytest.mark.parametrize("case", CASES)
def test_a_record_shows_what_differs_from_the_spec(found: dict[str, Differences], case: str) -> None:
    assert found[case] == CASES[case][1]


def test_records_of_another_table_in_a_shared_topic_show_nothing(spark: SparkSession) -> None:
    shared = table({"id": "int not null"}, shared_topic=True)
    other = orders.create(id=1, phone="555").with_source(db="shop", schema="dbo", table="invoices")
    (decoded,) = decode(frame(spark, [other]), shared).collect()
    assert (decoded._reason, decoded._drift) == ("other_table", None)


def test_the_guide_says_what_to_do_about_every_kind() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    assert [kind.value for kind in Change if f"| `{kind.value}` | " not in guide] == []
