"""One AUTO CDC case: a flow, the batches that it meets, and the tables that must come of it.

A case is a JSON file; README.md beside this file says what its fields mean.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
SNAPSHOT_VERSION = "__snapshot_version"
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A case as its file has it: ``facts`` are the file's fields."""

    name: str
    facts: Mapping[str, Any]

    @cached_property
    def batches(self) -> list[Rows]:
        """Source rows, one list per pipeline update."""
        return list(self.facts["batches"])

    @property
    def is_snapshot(self) -> bool:
        """Each batch is one whole snapshot of the source."""
        return SNAPSHOT_VERSION in self.facts["types"]

    @property
    def has_many_flows(self) -> bool:
        """Batches come in turn from two flows, each with its own source."""
        return "multi-flow" in (self.facts.get("tags") or [])

    @property
    def failing_batch(self) -> int | None:
        """Index of the batch that must be refused."""
        if not self.facts.get("expect_error") and self.facts["scd_type"] != "bitemporal":
            return None
        # Bitemporal targets are refused when declared, whatever the case says of their rows.
        if self.facts["scd_type"] == "bitemporal":
            return 0
        stated = self.facts.get("expect_error_batch")
        return len(self.batches) - 1 if stated is None else int(stated)

    def settings(self, batch: int) -> dict[str, Any]:
        """The flow's arguments in the update of this batch."""
        return {**self.facts, **self._changed(batch)}

    def _changed(self, batch: int) -> Mapping[str, Any]:
        changes = self.facts.get("config_per_batch")
        return (changes[batch] or {}) if changes else {}

    def source_columns(self, batch: int) -> dict[str, str]:
        """Name and type of the columns that this batch's source has, in its order.

        Types stated for the batch are the source's schema. Without them, a column that no row of the batch
        has is a column that the source lacks; an empty batch has the schema of the one before.
        """
        types: dict[str, str] = {
            name: ddl for name, ddl in self.settings(batch)["types"].items() if name != SNAPSHOT_VERSION
        }
        if "types" in self._changed(batch):
            return types
        if not self.batches[batch]:
            return self.source_columns(batch - 1) if batch else types
        present = {name.casefold() for row in self.batches[batch] for name in row}
        return {name: ddl for name, ddl in types.items() if name.casefold() in present}

    def source_rows(self, batch: int) -> Rows:
        """The batch's rows, their columns named as the source names them."""
        exact = self.source_columns(batch)
        folded = {name.casefold(): name for name in exact}
        spelled = {name: name for row in self.batches[batch] for name in row}
        spelled |= {name: folded.get(name.casefold(), name) for name in spelled if name not in exact}
        return [{spelled[name]: value for name, value in row.items()} for row in self.batches[batch]]

    def last_reset(self, batch: int) -> int:
        """The batch with which the source began when this one came: the last full refresh, or the first."""
        resets = self.facts.get("full_refresh_before_batch") or []
        return max((index for index in resets if index <= batch), default=0)

    def snapshot_version(self, batch: int) -> Any:
        """The version of the snapshot that this batch is."""
        stated = self.facts.get("snapshot_versions")
        return stated[batch] if stated else self.batches[batch][0][SNAPSHOT_VERSION]

    def acceptable_after(self, batch: int) -> list[Rows] | None:
        """The tables that are right after this batch: any of them; None when the case states nothing."""
        steps = self.facts.get("expected_after")
        if steps and steps[batch] is not None:
            return [steps[batch]]
        if batch == len(self.batches) - 1 or batch == self.failing_batch:
            if self.facts.get("expected_any_of"):
                return list(self.facts["expected_any_of"])
            if self.facts.get("expected") is not None and self.facts["scd_type"] != "bitemporal":
                return [self.facts["expected"]]
        return None


def load(*folders: Path) -> list[Case]:
    """All cases of these folders, sorted by name."""
    paths = (path for folder in folders for path in folder.glob("*.json"))
    found = (json.loads(path.read_text()) for path in paths)
    return sorted((Case(facts["name"], facts) for facts in found if "batches" in facts), key=lambda c: c.name)


def folders() -> Iterator[Path]:
    """Where cases lie: CONFORMANCE_CASES (folders, separated as in PATH), else the two beside this file."""
    told = os.environ.get("CONFORMANCE_CASES")
    yield from map(Path, told.split(os.pathsep)) if told else (_HERE / "cases", _HERE / "own_cases")
