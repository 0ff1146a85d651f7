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
from cdc.definition import PROPERTY, Parts
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
    found: dict[str, Any] = {}
    for dataset in (names.changes_dataset(table), names.versions_dataset(table)):
        found |= json.loads(_properties(_folder(storage, dataset)).get(PROPERTY, "{}"))
    return found or None


def source(storage: Path, table: TableSpec) -> Source:
    """The records from which a table can be rebuilt."""
    files = _last_checksum(_folder(storage, names.records_dataset(table))).get("allFiles")
    if files is None:
        return Source(None, None)
    statistics = [json.loads(file.get("stats") or "{}") for file in files]
    oldest = [each["minValues"]["timestamp"] for each in statistics if "timestamp" in each.get("minValues", {})]
    since = min(map(datetime.fromisoformat, oldest)) if len(oldest) == len(files) and oldest else None
    return Source(sum(each.get("numRecords", 0) for each in statistics), since)


def _folder(storage: Path, dataset: str) -> Path:
    schema, _, name = dataset.partition(".")
    return storage / "tables" / schema / name / "_delta_log"


def _properties(log: Path) -> dict[str, str]:
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
