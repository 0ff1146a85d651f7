"""What a Delta table's commits say that they are."""

import json
from pathlib import Path
from typing import Any


def commits(table: Path) -> list[dict[str, Any]]:
    """The commitInfo of each commit, in their order."""
    told = []
    for commit in sorted((table / "_delta_log").glob("*.json")):
        with commit.open(encoding="utf-8") as actions:
            told.append(json.loads(next(actions))["commitInfo"])
    return told
