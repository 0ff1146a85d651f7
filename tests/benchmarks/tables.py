"""The tables of the benchmarks: orders with 12 columns and with 200."""

from collections.abc import Mapping
from typing import Literal

from tests.support.tables import table

from cdc import TableSpec

_TWELVE: Mapping[str, str] = {
    "id": "bigint not null",
    "customer_id": "int",
    "status": "varchar(20)",
    "note": "nvarchar(100)",
    "quantity": "smallint",
    "is_paid": "bit",
    "total": "decimal(12,2)",
    "price": "money",
    "created_at": "datetime2(7)",
    "updated_at": "datetime2(3)",
    "due": "date",
    "row_id": "uniqueidentifier",
}
_REST = [(name, type_) for name, type_ in _TWELVE.items() if name != "id"]
_TWO_HUNDRED = {"id": "bigint not null"} | {
    f"{name}_{number:03}": type_ for number in range(1, 200) for name, type_ in [_REST[number % len(_REST)]]
}

Width = Literal["narrow", "wide"]
NARROW = table(_TWELVE)
WIDE = table(_TWO_HUNDRED)
BY_WIDTH: Mapping[Width, TableSpec] = {"narrow": NARROW, "wide": WIDE}
