"""TableSpecs from a conf folder, or all of its faults at once."""

import copy
import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from cdc.errors import Diagnostic, SpecError, in_reading_order
from cdc.spec.columns import repair_unquoted_commas
from cdc.spec.connector import KindInRecords, ReadConnector, read_connector
from cdc.spec.document import Document, read_document
from cdc.spec.durations import check_retention
from cdc.spec.folder import ConfFolder, find_files, folder_faults
from cdc.spec.model import ConnectorSpec, TableSpec
from cdc.spec.policies import check_zone
from cdc.spec.reading import Reading
from cdc.spec.rules import check_tables
from cdc.spec.schema import FileKind
from cdc.spec.schema_faults import check_against_schema
from cdc.spec.secret_faults import refuse_secrets
from cdc.spec.split_sql import repair_split_sql
from cdc.spec.table import ReadTable, read_table
from cdc.spec.table_properties import check_properties


class SpecWarning(UserWarning):
    """Something in a conf folder that works but may not be intended."""


@dataclass(frozen=True, eq=False)
class Conf:
    """The specs of a conf folder and its faults."""

    connectors: tuple[ConnectorSpec, ...]
    """Those without faults, by name."""
    tables: tuple[TableSpec, ...]
    """Those without faults, by connector and name."""
    faults: tuple[Diagnostic, ...]
    warnings: tuple[Diagnostic, ...]
    read: tuple[ReadTable, ...] = ()
    """Every table's file as read, with the place of each value."""
    read_connectors: tuple[ReadConnector, ...] = ()
    defaults: Reading | None = None
    deployed: Mapping[str, str] = field(default_factory=dict)
    """Layer -> schema, as the pipeline's configuration sets them."""


def load_conf(
    conf_dir: str | Path,
    connector: str | None = None,
    deployed: Mapping[str, str] | None = None,
    kind_in_records: KindInRecords | None = None,
) -> Conf:
    """A conf folder, or one connector's part of it, without faults; its warnings are given as Python's.

    ``deployed`` has the schemas that the pipeline's configuration sets, by layer; ``kind_in_records`` is what finds the
    kind of a connector with `kind: auto`.

    Raises:
        SpecError: with every fault of the files read.
    """
    # Every source file of a pipeline loads the specs: read unchanged files only once.
    schemas = tuple(sorted((deployed or {}).items()))
    conf = _read_once(str(conf_dir), connector, schemas, kind_in_records, _state_of(Path(conf_dir)))
    if conf.faults:
        # Not remembered: the kind of a connector may be a fault only as long as there is no record of it.
        _read_once.cache_clear()
        raise SpecError(conf.faults)
    for found in conf.warnings:
        warnings.warn(str(found), SpecWarning, stacklevel=1)
    return conf


def load_tables(conf_dir: str | Path, connector: str | None = None) -> tuple[TableSpec, ...]:
    """Table specs of a conf folder, or of one of its connectors, ordered by connector and name.

    Raises:
        SpecError: with every fault of the files read.
    """
    return load_conf(conf_dir, connector).tables


@lru_cache(maxsize=4)
def _read_once(
    conf_dir: str,
    connector: str | None,
    deployed: tuple[tuple[str, str], ...],
    kind_in_records: KindInRecords | None,
    state: frozenset[tuple[str, int, int]],
) -> Conf:
    return read_conf(conf_dir, connector, deployed=dict(deployed), kind_in_records=kind_in_records)


def _state_of(folder: Path) -> frozenset[tuple[str, int, int]]:
    """Path, modification time and size of each file; a different state invalidates the cache."""
    states = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return frozenset((str(path), stat.st_mtime_ns, stat.st_size) for path, stat in states)


Check = Callable[[Sequence[ReadTable]], None]
"""A check of all tables, which reports to their readings."""


def read_conf(
    conf_dir: str | Path,
    connector: str | None = None,
    checks: Sequence[Check] = (),
    deployed: Mapping[str, str] | None = None,
    kind_in_records: KindInRecords | None = None,
) -> Conf:
    """A conf folder, or one connector's part of it, with its faults; nothing is raised.

    Args:
        conf_dir: the folder.
        connector: the one connector to read; an empty text, which a pipeline's configuration may contain, means all.
        checks: beside those that every reader of the folder needs.
        deployed: layer -> schema, as the pipeline's configuration sets them (`deployed_schemas`).
        kind_in_records: finds the kind of a connector with `kind: auto`; without it, such a connector has a fault.
    """
    connector, deployed = connector or None, deployed or {}
    folder = find_files(Path(conf_dir), connector)
    defaults = _defaults(folder)
    connectors = {
        name: read_connector(name, _read(path, "connector"), defaults.data, deployed, kind_in_records or _no_records)
        for name, path in folder.connectors.items()
    }
    tables = [
        read_table(_read(path, "table"), connectors.get(name) or ReadConnector.absent(name), defaults.data)
        for name, paths in folder.tables.items()
        for path in paths
    ]
    check_tables(tables, [each.spec for each in connectors.values() if each.spec])
    for check in checks:
        check(tables)
    readings = [defaults, *(each.reading for each in connectors.values()), *(each.reading for each in tables)]
    found = [*folder_faults(folder, connector), *(fault for reading in readings for fault in reading.faults)]
    return Conf(
        connectors=tuple(each.spec for each in connectors.values() if each.spec),
        tables=_in_order(tables),
        faults=in_reading_order(fault for fault in found if fault.severity == "error"),
        warnings=in_reading_order(fault for fault in found if fault.severity == "warning"),
        read=tuple(tables),
        read_connectors=tuple(connectors.values()),
        defaults=defaults,
        deployed=deployed,
    )


def _no_records(topic_prefix: str) -> None:
    """No record of any connector is known."""


def _defaults(folder: ConfFolder) -> Reading:
    """The folder's defaults; empty if there is no such file."""
    if folder.defaults is None:
        return Reading(Document((folder.root / "defaults.yml").as_posix()))
    reading = _read(folder.defaults, "defaults")
    check_zone(reading, reading.data)
    check_retention(reading, {})
    check_properties(reading)
    return reading


_CHECKS: Mapping[FileKind, tuple[Callable[[Reading], None], ...]] = {
    "table": (refuse_secrets, repair_unquoted_commas, repair_split_sql),
    "connector": (refuse_secrets,),
    "defaults": (refuse_secrets,),
}
"""Checks that run before the schema's: secrets first, so that no later message can show them; then types and SQL that
YAML split at a comma, because the schema would reject both parts."""


def _read(path: Path, kind: FileKind) -> Reading:
    """One file, without the values that its schema rejects."""
    faults: list[Diagnostic] = []
    document = read_document(path, path.as_posix(), faults)
    table: Any = document.data.get("table") if kind == "table" else None
    reading = Reading(document, copy.deepcopy(document.data), faults, table if isinstance(table, str) else None)
    if document.readable:
        reading.faults[:] = [dataclasses.replace(fault, table=reading.table) for fault in faults]
        for check in _CHECKS[kind]:
            check(reading)
        check_against_schema(reading, kind)
    return reading


def _in_order(tables: list[ReadTable]) -> tuple[TableSpec, ...]:
    sound = [table.spec for table in tables if table.spec and table.reading.is_sound]
    return tuple(sorted(sound, key=lambda table: (table.connector.name, table.name)))
