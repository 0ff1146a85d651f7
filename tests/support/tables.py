"""Build table specs in one line: ``table({"id": "int not null", "total": "decimal(18,2)"})``."""

from collections.abc import Mapping
from typing import Any

from cdc.spec.kinds import DEFAULT, Kind, kind_of
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec

CONNECTOR = ConnectorSpec(name="shop", topic_prefix="server1")


def table(columns: Mapping[str, str | ColumnSpec], *, connector: ConnectorSpec = CONNECTOR, **spec: Any) -> TableSpec:
    """The table shop.dbo.orders with key ``id``; ``spec`` overrides any field."""
    defaults = {"source": "shop.dbo.orders", "name": "orders", "topic": "server1.shop.dbo.orders", "key": ("id",)}
    specs = (column(name, ddl, kind_of(connector)) if isinstance(ddl, str) else ddl for name, ddl in columns.items())
    return TableSpec(connector=connector, columns=tuple(specs), **{**defaults, **spec})


def column(name: str, type_: str, kind: Kind = DEFAULT, **spec: Any) -> ColumnSpec:
    """A column declared as in DDL: ``column("total", "decimal(18,2) not null", target="amount")``."""
    parsed, nullable = kind.parse_type(type_)
    return ColumnSpec(**{"name": name, "type": parsed, "target": name, "nullable": nullable is not False, **spec})


def kind_table(columns: Mapping[str, str], *, connector: ConnectorSpec, source: str, name: str) -> TableSpec:
    """A table of a connector of any kind, with key ``id``."""
    kind = kind_of(connector)
    specs = []
    for each, ddl in columns.items():
        parsed, nullable = kind.parse_type(ddl)
        specs.append(ColumnSpec(each, parsed, each, nullable=nullable is not False))
    topic = kind.topic(kind.topic_patterns[0], connector.topic_prefix, source)
    return TableSpec(connector=connector, columns=tuple(specs), source=source, name=name, topic=topic, key=("id",))
