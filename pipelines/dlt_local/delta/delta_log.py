"""A Delta table's transaction log, read from its files: a Spark job would take longer than the answer is worth.

Numbered commits (`<version>.json`) list what changed; the checksum that Delta writes beside each (`<version>.crc`) has
the table's metadata and totals as of it. A function whose answer is in the checksum says what it returns without one.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql.types import StructType

_FEW = 5
_LOOKED_BACK = 20
# Operations that leave the rows of a table as they are.
_KEEPS_ROWS = {"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "CLUSTER BY"}
_COMMIT = re.compile(r"^(\d{20})\.json$")


def clear_half_made(table: Path) -> None:
    """Remove the folder of a table whose creation was interrupted before its first commit."""
    if table.exists() and not exists(table):
        shutil.rmtree(table)


def exists(table: Path) -> bool:
    """True if there is a Delta table with at least one commit."""
    return version(table) is not None


def version(table: Path) -> int | None:
    """The table's current version, which is the number of its latest commit; None if there is no table."""
    try:
        names = [entry.name for entry in (table / "_delta_log").iterdir()]
    except FileNotFoundError:
        return None
    return max((int(match[1]) for name in names if (match := _COMMIT.match(name))), default=None)


def table_id(table: Path) -> str | None:
    """The table's identity, which changes when it is dropped and created again; None without a checksum."""
    identity = _metadata(table).get("id")
    return None if identity is None else str(identity)


def identity(table: Path) -> str | None:
    """As `table_id`, also where the latest commits have no checksum: from the nearest earlier one, or from the log."""
    for commit in _latest_commits(table):
        found = _metadata(table, commit).get("id")
        if found is None:
            kept = _actions_if_kept(table, commit)
            found = next((action["metaData"]["id"] for action in kept if "metaData" in action), None)
        if found is not None:
            return str(found)
    return None


def state(table: Path) -> str | None:
    """``<id>@<version>``, with the version of the latest commit that could have changed rows; None without a checksum.

    The id is part of it because a table that is dropped and created again can reach the same version.
    """
    identity, latest = table_id(table), version(table)
    if identity is None or latest is None:
        return None
    while latest > 0 and _operation(table, latest) in _KEEPS_ROWS:
        latest -= 1
    return f"{identity}@{latest}"


def schema(table: Path, at: int | None = None) -> StructType | None:
    """The table's schema as of version ``at``, by default the latest; None without a checksum."""
    metadata = _metadata(table, at)
    return StructType.fromJson(json.loads(metadata["schemaString"])) if metadata else None


def properties(table: Path) -> dict[str, str]:
    """The table's properties, and its comment as ``comment``; empty without a checksum."""
    metadata = _metadata(table)
    comment = {"comment": metadata["description"]} if metadata.get("description") else {}
    return {**metadata.get("configuration", {}), **comment}


def is_marked(table: Path, table_property: str, at: int | None = None) -> bool:
    """True if a property is ``true`` as of version ``at``, by default the latest; False without a checksum."""
    configuration = _metadata(table, at).get("configuration", {})
    return str(configuration.get(table_property, "false")).lower() == "true"


def partition_columns(table: Path) -> tuple[str, ...] | None:
    """The columns by which the table is partitioned; None without a checksum."""
    metadata = _metadata(table)
    return tuple(metadata.get("partitionColumns", ())) if metadata else None


def clustering_columns(table: Path) -> tuple[str, ...]:
    """The columns by which the table is clustered; empty without a checksum."""
    domains = {domain["domain"]: domain for domain in _checksum(table).get("domainMetadata", ())}
    clustering = json.loads(domains.get("delta.clustering", {}).get("configuration", "{}"))
    return tuple(".".join(path) for path in clustering.get("clusteringColumns", ()))


def size_in_bytes(table: Path) -> int:
    """The total size of the table's live data files; 0 without a checksum."""
    return int(_checksum(table).get("tableSizeBytes", 0))


def transactions(table: Path) -> dict[str, int]:
    """The last version that each application id (``txnAppId``) has committed, as far as the latest commits tell."""
    found: dict[str, int] = {}
    for commit in _latest_commits(table):
        listed = _checksum(table, commit).get("setTransactions")
        done = [action["txn"] for action in _actions_if_kept(table, commit) if "txn" in action]
        for each in done if listed is None else listed:
            found.setdefault(each["appId"], int(each["version"]))
        if listed is not None:
            break
    return found


def file_count(table: Path) -> int:
    """The number of the table's live data files; 0 without a checksum."""
    return int(_checksum(table).get("numFiles", 0))


def row_count(table: Path) -> int | None:
    """The number of the table's rows; None if the checksum has no statistics, as in a table of many files."""
    files = _checksum(table).get("allFiles")
    if files is None:
        return None
    counts = [json.loads(file.get("stats") or "{}").get("numRecords") for file in files]
    if None in counts:
        return None
    deleted = sum((file.get("deletionVector") or {}).get("cardinality", 0) for file in files)
    return int(sum(counts) - deleted)


def _metadata(table: Path, at: int | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = _checksum(table, at).get("metadata", {})
    return metadata


def _checksum(table: Path, at: int | None = None) -> dict[str, Any]:
    commit = version(table) if at is None else at
    if commit is None:
        return {}
    file = _log_file(table, commit, "crc")
    try:
        status = file.stat()
    except FileNotFoundError:
        return {}
    return _parsed(file, (status.st_ino, status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=512)
def _parsed(file: Path, _status: tuple[int, int, int]) -> dict[str, Any]:
    """The content of a checksum, parsed once for the many that ask; Delta, too, does without one that is damaged."""
    try:
        checksum: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return checksum


@dataclass(frozen=True)
class Commit:
    """A commit that added rows."""

    at: datetime
    files: tuple[str, ...]
    """The added files, relative to the table."""
    statistics: tuple[dict[str, Any], ...]
    """Delta's statistics of each file; empty if it has none."""


def has_rows(table: Path) -> bool:
    """False only if no commit has added a file, which is checked for a table of few commits."""
    latest = version(table)
    if latest is None:
        return False
    if latest > _FEW:
        return True
    return any("add" in action for commit in range(latest + 1) for action in actions(table, commit))


def newest_commit_with_rows(table: Path) -> Commit | None:
    """The latest commit that added rows; None if the last twenty commits added none."""
    for commit in _latest_commits(table):
        done = actions(table, commit)
        added = [action["add"] for action in done if action.get("add", {}).get("dataChange")]
        if added:
            info: dict[str, Any] = next((action["commitInfo"] for action in done if "commitInfo" in action), {})
            return Commit(
                at=datetime.fromtimestamp(info.get("timestamp", 0) / 1000, UTC),
                files=tuple(file["path"] for file in added),
                statistics=tuple(json.loads(file.get("stats") or "{}") for file in added),
            )
    return None


def operation_metrics(table: Path, commit: int) -> dict[str, int]:
    """The metrics that a commit recorded: numTargetRowsInserted, numOutputRows, numOutputBytes and so on."""
    for action in actions(table, commit):
        if "commitInfo" in action:
            metrics = action["commitInfo"].get("operationMetrics", {})
            return {name: int(value) for name, value in metrics.items() if str(value).lstrip("-").isdigit()}
    return {}


def files_added(table: Path, since: int) -> tuple[str, ...] | None:
    """The files with the rows added from version ``since`` on; None if rows were removed or a commit is missing.

    A compacted file adds no rows, and the files that it replaces are listed: they exist until the next VACUUM.
    """
    added: list[str] = []
    latest = version(table)
    for commit in range(since, -1 if latest is None else latest + 1):
        if not _log_file(table, commit).exists():
            return None
        for action in actions(table, commit):
            add, remove = (action.get(kind, {}) for kind in ("add", "remove"))
            if remove.get("dataChange") or (add and add.get("deletionVector")):
                return None
            if add.get("dataChange"):
                added.append(add["path"])
    return tuple(added)


def plain_additions(table: Path, since: int, until: int) -> tuple[str, ...] | None:
    """The files with the rows that some commits added; None if they did more than add whole files of rows.

    Args:
        table: the table.
        since: the first commit.
        until: the last one.

    Returns:
        Paths relative to the table; None if a commit is missing, has removed rows or changed the table's metadata.
    """
    added: list[str] = []
    for commit in range(since, until + 1):
        if not _log_file(table, commit).exists():
            return None
        for action in actions(table, commit):
            add, remove = action.get("add", {}), action.get("remove", {})
            if remove.get("dataChange") or action.keys() & {"metaData", "protocol", "cdc"}:
                return None
            if add.get("dataChange"):
                if not _is_whole_file(add):
                    return None
                added.append(unquote(add["path"]))
    return tuple(added)


def listed_files(table: Path, at: int) -> tuple[str, ...] | None:
    """The table's data files as of a version, relative to it; None if its checksum does not list whole files."""
    files = listed_actions(table, at)
    return None if files is None else tuple(unquote(file["path"]) for file in files)


def listed_actions(table: Path, at: int) -> tuple[dict[str, Any], ...] | None:
    """As `listed_files`, each file with all that the log says of it (its action `add`)."""
    files = _checksum(table, at).get("allFiles")
    return None if files is None or not all(map(_is_whole_file, files)) else tuple(files)


def _is_whole_file(add: Mapping[str, Any]) -> bool:
    """True for a file of the table's own folder, none of whose rows are deleted."""
    return not add.get("deletionVector") and ":" not in add["path"] and not add["path"].startswith("/")


def live_files(table: Path) -> tuple[str, ...] | None:
    """The table's data files; None if the log is not complete or a file has a deletion vector."""
    live: dict[str, None] = {}
    latest = version(table)
    for commit in range(-1 if latest is None else latest + 1):
        if not _log_file(table, commit).exists():
            return None
        for action in actions(table, commit):
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
            if "add" in action:
                if action["add"].get("deletionVector"):
                    return None
                live[action["add"]["path"]] = None
    return tuple(live)


def _operation(table: Path, commit: int) -> str | None:
    line = header(table, commit)
    operation: str | None = None if line is None else json.loads(line).get("commitInfo", {}).get("operation")
    return operation


def header(table: Path, commit: int) -> str | None:
    """The line of a commit that says who made it, how and when; None if the log no longer has the commit."""
    # commitInfo is the first line; the lines of all the commit's files follow.
    try:
        with _log_file(table, commit).open(encoding="utf-8") as lines:
            return next(lines, "{}")
    except FileNotFoundError:
        return None


def actions(table: Path, commit: int) -> list[dict[str, Any]]:
    """What a commit says and does, one action per line of its file.

    Raises:
        FileNotFoundError: the log no longer has it.
    """
    text = _log_file(table, commit).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def _actions_if_kept(table: Path, commit: int) -> list[dict[str, Any]]:
    """As `actions`, but empty for a commit that the log no longer has."""
    return actions(table, commit) if _log_file(table, commit).exists() else []


def _latest_commits(table: Path) -> range:
    """The numbers of the last twenty commits, latest first."""
    latest = version(table)
    return range(0) if latest is None else range(latest, max(latest - _LOOKED_BACK, -1), -1)


def _log_file(table: Path, commit: int, suffix: str = "json") -> Path:
    return table / "_delta_log" / f"{commit:020d}.{suffix}"
