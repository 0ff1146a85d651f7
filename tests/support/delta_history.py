"""The commitInfo of a Delta table's commits."""

import json
from pathlib import Path
from typing import Any


def commits(table: Path) -> list[dict[str, Any]]:
    """The commitInfo of each commit, oldest first."""
    infos = []
    for commit in sorted((table / "_delta_log").glob("*.json")):
        with commit.open(encoding="utf-8") as actions:
            infos.append(json.loads(next(actions))["commitInfo"])
    return infos
