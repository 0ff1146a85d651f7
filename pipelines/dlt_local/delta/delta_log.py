"""What a Delta table's log says, read as the files that it is: no Spark job for a question of one number."""

import json
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

_FEW = 5
_LOOKED_BACK = 20
# Commits that leave a table's rows as they are.
_OF_NO_ROW = {"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "CLUSTER BY"}
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


def file_count(table: Path) -> int:
    """The number of the table's live data files."""
    return int(_checksum(table).get("numFiles", 0))


def row_count(table: Path) -> int | None:
    """How many rows the table has; None where that is not told beside the log (a table of many files)."""
    files = _checksum(table).get("allFiles")
    if files is None:
        return None
    statistics = [json.loads(each.get("stats") or "{}").get("numRecords") for each in files]
    if None in statistics:
        return None
    marked = sum((each.get("deletionVector") or {}).get("cardinality", 0) for each in files)
    return int(sum(statistics) - marked)


def partition_columns(table: Path) -> tuple[str, ...] | None:
    """The columns by which the table's files are divided; None where Delta wrote no checksum."""
    metadata = _checksum(table).get("metadata")
    return None if metadata is None else tuple(metadata.get("partitionColumns", ()))


def properties(table: Path) -> dict[str, str]:
    """The table's properties, and its comment as ``comment``."""
    metadata = _checksum(table).get("metadata", {})
    comment = {"comment": metadata["description"]} if metadata.get("description") else {}
    return {**metadata.get("configuration", {}), **comment}


def clustering_columns(table: Path) -> tuple[str, ...]:
    """The columns by which the table is clustered."""
    domains = {told["domain"]: told for told in _checksum(table).get("domainMetadata", ())}
    clustering = json.loads(domains.get("delta.clustering", {}).get("configuration", "{}"))
    return tuple(".".join(path) for path in clustering.get("clusteringColumns", ()))


def is_marked(table: Path, table_property: str, at: int | None = None) -> bool:
    """True where the table has a property set to ``true``, as of commit ``at`` or of the latest."""
    configuration = _checksum(table, at).get("metadata", {}).get("configuration", {})
    return str(configuration.get(table_property, "false")).lower() == "true"


def _checksum(table: Path, at: int | None = None) -> dict[str, Any]:
    """What Delta writes beside each commit: the table's metadata and totals as of it."""
    latest = version(table) if at is None else at
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


@dataclass(frozen=True)
class Commit:
    """A commit that added rows: when, and what is known of each new file."""

    at: datetime
    files: tuple[str, ...]
    statistics: tuple[dict[str, Any], ...]


def newest_commit_with_rows(table: Path) -> Commit | None:
    """The last commit that added data, among the last few; None where there is none."""
    latest = version(table)
    for commit in range(latest, max(latest - _LOOKED_BACK, -1), -1) if latest is not None else ():
        actions = _actions(table, commit)
        added = [action["add"] for action in actions if "add" in action and action["add"].get("dataChange")]
        if added:
            told: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
            at = datetime.fromtimestamp(told.get("timestamp", 0) / 1000, UTC)
            files = tuple(each["path"] for each in added)
            return Commit(at, files, tuple(json.loads(each.get("stats") or "{}") for each in added))
    return None


def table_id(table: Path) -> str | None:
    """The table's identity, which it loses when it is built anew."""
    told = _checksum(table).get("metadata", {}).get("id")
    return None if told is None else str(told)


def state(table: Path) -> str | None:
    """Which table it is and the latest commit that could change its rows, ``<id>@<number>``; None where either is not
    known.

    The number alone is not enough: a table that is built anew may come to the one that it had.
    """
    identity, latest = table_id(table), version(table)
    if identity is None or latest is None:
        return None
    while latest > 0 and _operation(table, latest) in _OF_NO_ROW:
        latest -= 1
    return f"{identity}@{latest}"


def _operation(table: Path, commit: int) -> str | None:
    """What a commit calls itself; it says so first, before its files, of which there can be many."""
    try:
        with (table / "_delta_log" / f"{commit:020d}.json").open(encoding="utf-8") as lines:
            told = json.loads(next(lines, "{}")).get("commitInfo", {})
    except FileNotFoundError:
        return None
    operation: str | None = told.get("operation")
    return operation


def files_added(table: Path, since: int) -> tuple[str, ...] | None:
    """The files added by the commits from ``since`` on; None where one of them took rows away, or is not there."""
    found = _file_changes(table, since)
    return None if found is None or found[1] else tuple(found[0])


def live_files(table: Path) -> tuple[str, ...] | None:
    """The files that the table is made of; None where the log lacks commits, or rows are only marked as gone."""
    found = _file_changes(table, 0)
    return None if found is None else tuple(found[0])


def _file_changes(table: Path, since: int) -> tuple[dict[str, None], bool] | None:
    """The files that commits added and did not remove again, and whether any was removed."""
    live: dict[str, None] = {}
    removed = False
    latest = version(table)
    for commit in range(since, -1 if latest is None else latest + 1):
        if not (table / "_delta_log" / f"{commit:020d}.json").exists():
            return None
        for action in _actions(table, commit):
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
                removed = True
            if "add" in action:
                if action["add"].get("deletionVector"):
                    return None
                live[action["add"]["path"]] = None
    return live, removed
