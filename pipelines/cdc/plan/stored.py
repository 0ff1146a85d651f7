"""Stored definitions: read from the log files of Delta tables, without Spark.

A Delta table's log has a numbered commit file for each version, and beside most of them a checksum with the table's
properties and totals as of that version.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cdc import names
from cdc.definition import PROPERTY, SOURCES, Parts, definition_of_versions
from cdc.spec.model import TableSpec


@dataclass(frozen=True)
class Source:
    """What a rebuild can read: the records that bronze has."""

    records: int | None
    """None where the log has no totals."""
    since: datetime | None
    """The oldest record's timestamp; None where the log does not say."""


def stored_definition(storage: Path, table: TableSpec) -> Parts | None:
    """The definition that a table's rows were built by; None if it has no rows in this storage.

    Args:
        storage: the folder whose ``tables`` folder has the Delta tables by schema and name.
        table: its spec.
    """
    of_changes, of_versions = (
        json.loads(stored_properties(folder_of(storage, dataset)).get(PROPERTY, "{}"))
        for dataset in (names.changes_dataset(table), names.versions_dataset(table))
    )
    if table.into:
        # The target may have rows of other tables only; their columns are in their own definitions.
        own = definition_of_versions(table)
        of_versions = {part: text for part, text in of_versions.items() if part in own and of_changes}
    found: dict[str, Any] = {**of_changes, **of_versions}
    return found or None


def decoded_definition(storage: Path, table: TableSpec) -> Parts | None:
    """The definition that a table's records were decoded by last; None if they never were.

    It differs from that of the changes after an update of some datasets only.
    """
    # The engine keeps private tables apart from those that users read.
    log = folder_of(storage, names.decoded_dataset(table), under="system/private")
    found: Parts = json.loads(stored_properties(log).get(PROPERTY, "{}"))
    return found or None


def stored_sources(storage: Path, dataset: str) -> dict[str, str]:
    """The sources that flowed into a target when it was written last, each with its table; empty for one table's."""
    sources: dict[str, str] = json.loads(stored_properties(folder_of(storage, dataset)).get(SOURCES, "{}"))
    return sources


def source(storage: Path, table: TableSpec) -> Source:
    """The records from which a table can be rebuilt."""
    files = _last_checksum(folder_of(storage, names.records_dataset(table))).get("allFiles")
    if files is None:
        return Source(None, None)
    statistics = [json.loads(file.get("stats") or "{}") for file in files]
    oldest = [each["minValues"]["timestamp"] for each in statistics if "timestamp" in each.get("minValues", {})]
    since = min(map(datetime.fromisoformat, oldest)) if len(oldest) == len(files) and oldest else None
    return Source(sum(each.get("numRecords", 0) for each in statistics), since)


def folder_of(storage: Path, dataset: str, under: str = "tables") -> Path:
    """The folder of the log of a published dataset."""
    # A storage folder has no catalogs.
    schema, name = dataset.split(".")[-2:]
    return storage / under / schema / name / "_delta_log"


def stored_properties(log: Path) -> dict[str, str]:
    """The properties of the Delta table with this log; empty if there is no table."""
    checksum = _last_checksum(log)
    if checksum:
        properties: dict[str, str] = checksum["metadata"].get("configuration", {})
        return properties
    for commit in sorted(log.glob("*.json"), reverse=True):
        for line in commit.read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            if "metaData" in action:
                return dict(action["metaData"].get("configuration", {}))
    return {}


def _last_checksum(log: Path) -> dict[str, Any]:
    commits = sorted(log.glob("*.json"))
    checksum = commits[-1].with_suffix(".crc") if commits else None
    if checksum is None or not checksum.exists():
        return {}
    content: dict[str, Any] = json.loads(checksum.read_text(encoding="utf-8"))
    return content
