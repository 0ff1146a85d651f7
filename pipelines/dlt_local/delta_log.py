"""What a Delta table's log says, read as the files that it is: no Spark job for a question of one number."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

_FEW = 5
_COMMIT = re.compile(r"^(\d{20})\.json$")


def clear_half_made(table: Path) -> None:
    """Remove a folder in which a killed update had begun a table and committed nothing."""
    if table.exists() and not exists(table):
        shutil.rmtree(table)


def exists(table: Path) -> bool:
    """True where there is a Delta table with at least one commit."""
    return version(table) is not None


def version(table: Path) -> int | None:
    """The number of the table's latest commit, None where there is no table."""
    try:
        names = [entry.name for entry in (table / "_delta_log").iterdir()]
    except FileNotFoundError:
        return None
    return max((int(match[1]) for name in names if (match := _COMMIT.match(name))), default=None)


def has_rows(table: Path) -> bool:
    """False only where it is certain that nothing was ever added: a new table's few commits are looked through."""
    latest = version(table)
    if latest is None:
        return False
    if latest > _FEW:
        return True
    return any("add" in action for commit in range(latest + 1) for action in _actions(table, commit))


def schema(table: Path) -> StructType | None:
    """The table's schema as of its latest commit; None where Delta wrote no checksum beside it."""
    metadata = _checksum(table).get("metadata")
    return None if metadata is None else StructType.fromJson(json.loads(metadata["schemaString"]))


def size_in_bytes(table: Path) -> int:
    """The size of the table's live data files."""
    return int(_checksum(table).get("tableSizeBytes", 0))


def is_marked(table: Path, table_property: str) -> bool:
    """True where the table has a property set to ``true``."""
    configuration = _checksum(table).get("metadata", {}).get("configuration", {})
    return str(configuration.get(table_property, "false")).lower() == "true"


def _checksum(table: Path) -> dict[str, Any]:
    """What Delta writes beside each commit: the table's metadata and totals as of it."""
    latest = version(table)
    if latest is None:
        return {}
    try:
        told: dict[str, Any] = json.loads((table / "_delta_log" / f"{latest:020d}.crc").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return told


def operation_metrics(table: Path, commit: int) -> dict[str, int]:
    """What a commit says that it did: numTargetRowsInserted, numOutputRows, numOutputBytes and so on."""
    for action in _actions(table, commit):
        if "commitInfo" in action:
            told = action["commitInfo"].get("operationMetrics", {})
            return {name: int(number) for name, number in told.items() if str(number).lstrip("-").isdigit()}
    return {}


def _actions(table: Path, commit: int) -> list[dict[str, Any]]:
    text = (table / "_delta_log" / f"{commit:020d}.json").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]
