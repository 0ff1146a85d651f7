"""Build table specs in one line: ``table({"id": "int not null", "total": "decimal(18,2)"})``."""

from collections.abc import Mapping
from typing import Any

from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec
from cdc.spec.sqlserver_types import parse_type

CONNECTOR = ConnectorSpec(name="shop", topic_prefix="server1")


def table(columns: Mapping[str, str | ColumnSpec], *, connector: ConnectorSpec = CONNECTOR, **spec: Any) -> TableSpec:
    """The table shop.dbo.orders with key ``id``; ``spec`` overrides any field."""
    defaults = {"source": "shop.dbo.orders", "name": "orders", "topic": "server1.shop.dbo.orders", "key": ("id",)}
    specs = (column(name, ddl) if isinstance(ddl, str) else ddl for name, ddl in columns.items())
    return TableSpec(connector=connector, columns=tuple(specs), **{**defaults, **spec})


def column(name: str, type_: str, **spec: Any) -> ColumnSpec:
    """A column declared as in DDL: ``column("total", "decimal(18,2) not null", target="amount")``."""
    parsed, nullable = parse_type(type_)
    return ColumnSpec(**{"name": name, "type": parsed, "target": name, "nullable": nullable is not False, **spec})
