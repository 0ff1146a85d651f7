"""The effective spec of a table: every value, and where it comes from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdc import names
from cdc.spec.columns import excluded_columns
from cdc.spec.deployment import PREFIX
from cdc.spec.kinds import MODES, Kind, kind_of
from cdc.spec.layers import LAYERS
from cdc.spec.load import Conf
from cdc.spec.model import ColumnSpec, TableSpec
from cdc.spec.policies import POLICIES
from cdc.spec.reading import Reading
from cdc.spec.retention import FOREVER, KEPT
from cdc.spec.schema import resolved, schema
from cdc.spec.table import ReadTable
from cdc.spec.table_properties import place_of

BUILT_IN = "built-in default"


@dataclass(frozen=True)
class Setting:
    """One value of a spec."""

    field: str
    """``history``, ``columns.total.on_missing``, ``connector.shape``."""
    value: Any
    origin: str
    """file:line:column, `built-in default`, or what the value follows from."""


def effective(conf: Conf, table: ReadTable) -> tuple[Setting, ...]:
    """The settings of a table without faults: its own, its columns', its connector's."""
    return tuple(_Effective(conf, table).settings())


class _Effective:
    """The files that can set a table's values, nearest first."""

    def __init__(self, conf: Conf, table: ReadTable) -> None:
        assert table.spec is not None and conf.defaults is not None
        self.spec: TableSpec = table.spec
        self.table, self.defaults = table.reading, conf.defaults
        by_name = {each.name: each.reading for each in conf.read_connectors}
        self.deployed = conf.deployed
        self.connector: Reading = by_name[self.spec.connector.name]

    def settings(self) -> Iterator[Setting]:
        for field, part in schema("table")["properties"].items():
            if field == "target_schemas":
                yield from self._target_schemas()
            elif field == "table_properties":
                yield from self._table_properties()
            elif field == "retention":
                yield from self._retention()
            elif field != "columns" and (found := self._of_table(field, resolved(part))):
                yield found
        for column in self.spec.columns:
            if not (column.key_only or column.is_whole) and column.constant is None:
                yield from self._of_column(column)
        for name in excluded_columns(self.table):
            yield Setting(f"columns.{name}.exclude", True, self._place(self.table, "columns", name))
        yield Setting("connector", self.spec.connector.name, self.connector.document.file)
        for field, part in schema("connector")["properties"].items():
            if field in (*POLICIES, "target_schemas", "table_properties", "retention"):
                continue
            if field not in MODES or field in kind_of(self.spec.connector).modes:
                yield self._of_connector(field, resolved(part))

    def _of_table(self, field: str, part: Mapping[str, Any]) -> Setting | None:
        """A field of the table; None if it is not set and has no default."""
        if field in POLICIES:
            readings = self._nearest_first()
        else:
            readings = (self.table, self.defaults)
        for reading in readings:
            if field in reading.data:
                return Setting(field, reading.data[field], self._place(reading, field))
        if derived := self._derived(field):
            return derived
        return Setting(field, part["default"], BUILT_IN) if "default" in part else None

    def _target_schemas(self) -> Iterator[Setting]:
        for layer in LAYERS:
            path = ("target_schemas", layer)
            places = [reading for reading in self._nearest_first() if layer in reading.data.get(path[0], {})]
            if layer in self.deployed and self.table not in places:
                origin = f"{PREFIX}{layer}"
            else:
                origin = self._place(places[0], *path) if places else BUILT_IN
            yield Setting(".".join(path), getattr(self.spec.target_schemas, layer), origin)

    def _retention(self) -> Iterator[Setting]:
        for what in KEPT:
            path = ("retention", what)
            places = [reading for reading in self._nearest_first() if what in reading.data.get(path[0], {})]
            value = places[0].data[path[0]][what] if places else FOREVER
            yield Setting(".".join(path), value, self._place(places[0], *path) if places else BUILT_IN)

    def _table_properties(self) -> Iterator[Setting]:
        for layer in LAYERS:
            for name, value in self.spec.table_properties.of(layer).items():
                found = ((reading, place_of(reading, layer, name)) for reading in self._nearest_first())
                reading, path = next((reading, path) for reading, path in found if path)
                yield Setting(f"table_properties.{layer}.{name}", value, self._place(reading, *map(str, path)))

    def _nearest_first(self) -> tuple[Reading, ...]:
        return (self.table, self.connector, self.defaults)

    def _derived(self, field: str) -> Setting | None:
        """A field whose default follows from others."""
        spec = self.spec
        if field == "name":
            return Setting(field, spec.name, "from `into`" if spec.into else "from `table`")
        if field == "topic":
            return Setting(field, spec.topic, "by the connector's `topic_pattern`")
        if field == "gold" and not spec.append_only:
            tables = {"table": names.rows_dataset(spec)} | (
                {"history": names.history_dataset(spec)} if spec.history else {}
            )
            return Setting(
                field,
                {key: name.rpartition(".")[2] for key, name in tables.items()},
                "from `into`" if spec.into else "from `name`",
            )
        return None

    def _of_column(self, column: ColumnSpec) -> Iterator[Setting]:
        prefix = f"columns.{column.name}"
        stated = self.table.data["columns"][column.name]
        settings = {"type": stated} if isinstance(stated, str) else stated
        for field, value in settings.items():
            path = ("columns", column.name) if isinstance(stated, str) else ("columns", column.name, field)
            yield Setting(f"{prefix}.{field}", value, self._place(self.table, *path))
        if column.target in self.spec.key and "nullable" not in settings:
            yield Setting(f"{prefix}.nullable", False, "from `key`")
        for field, value in _policies(column, kind_of(self.spec.connector)).items():
            if field not in settings:
                yield Setting(f"{prefix}.{field}", value, self._of_policy(field, column))

    def _of_policy(self, field: str, column: ColumnSpec) -> str:
        for reading in self._nearest_first():
            if field in reading.data:
                return self._place(reading, field)
        reason = "" if field != "on_missing" else ", nullable" if column.nullable else ", not null"
        return f"{BUILT_IN}{reason}"

    def _of_connector(self, field: str, part: Mapping[str, Any]) -> Setting:
        if field in self.connector.data:
            return Setting(f"connector.{field}", self.connector.data[field], self._place(self.connector, field))
        kind = kind_of(self.spec.connector)
        of_kind = {"kind": kind.name, "topic_pattern": kind.topic_patterns[0]}
        default = of_kind.get(field, kind.default_of(field) or part.get("default"))
        return Setting(f"connector.{field}", default, BUILT_IN)

    def _place(self, reading: Reading, *path: str) -> str:
        return str(reading.document.place(path))


def _policies(column: ColumnSpec, kind: Kind) -> dict[str, Any]:
    """The policies that apply to a column's type, as a spec writes them."""
    found: dict[str, Any] = {"on_missing": column.on_missing}
    if column.type.is_large:
        found |= {
            "unavailable": column.unavailable,
            "large_nulls": "unchanged" if column.null_is_unchanged else "as_null",
        }
    if column.type.name in kind.overflowing:
        found["overflow"] = column.overflow
    if column.type.name in kind.without_zone:
        found["datetime_zone"] = column.zone or "none"
    return found
