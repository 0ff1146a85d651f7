"""The tables of the benchmarks: an order of 12 columns, and one of 200."""

from collections.abc import Mapping

from tests.support.tables import table

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

NARROW = table(_TWELVE)
WIDE = table(_TWO_HUNDRED)
