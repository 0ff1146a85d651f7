"""One AUTO CDC case: a flow, its batches of source rows, and the tables that they must lead to.

A case is a JSON file; README.md in this folder explains its fields.
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
    """A case: ``facts`` are the fields of its file."""

    name: str
    facts: Mapping[str, Any]

    @cached_property
    def batches(self) -> list[Rows]:
        """Source rows, one list per pipeline update."""
        return list(self.facts["batches"])

    @property
    def is_snapshot(self) -> bool:
        """Whether each batch is a complete snapshot of the source."""
        return SNAPSHOT_VERSION in self.facts["types"]

    @property
    def has_many_flows(self) -> bool:
        """Whether batches alternate between two flows, each with its own source."""
        return "multi-flow" in (self.facts.get("tags") or [])

    @property
    def failing_batch(self) -> int | None:
        """Index of the batch that must be refused, if any."""
        if not self.facts.get("expect_error") and self.facts["scd_type"] != "bitemporal":
            return None
        # Bitemporal targets are refused when declared, whatever rows the case states.
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
        """Name and type of the source's columns in this batch, in the source's order.

        If the case states types for the batch, they are the source's schema. Otherwise the source lacks the columns
        that appear in no row of the batch; an empty batch has the schema of the batch before.
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
        """The batch's rows, with columns in the source's spelling."""
        exact = self.source_columns(batch)
        folded = {name.casefold(): name for name in exact}
        spelled = {name: name for row in self.batches[batch] for name in row}
        spelled |= {name: folded.get(name.casefold(), name) for name in spelled if name not in exact}
        return [{spelled[name]: value for name, value in row.items()} for row in self.batches[batch]]

    def last_reset(self, batch: int) -> int:
        """The first batch that the source still holds in this one: that of the last full refresh, or batch 0."""
        resets = self.facts.get("full_refresh_before_batch") or []
        return max((index for index in resets if index <= batch), default=0)

    def snapshot_version(self, batch: int) -> Any:
        """The version of this batch's snapshot."""
        stated = self.facts.get("snapshot_versions")
        return stated[batch] if stated else self.batches[batch][0][SNAPSHOT_VERSION]

    def acceptable_after(self, batch: int) -> list[Rows] | None:
        """The tables of which any is right after this batch; None if the case states none."""
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
    cases = (json.loads(path.read_text()) for path in paths)
    return sorted((Case(facts["name"], facts) for facts in cases if "batches" in facts), key=lambda c: c.name)


def folders() -> Iterator[Path]:
    """Folders of cases: those in CONFORMANCE_CASES (separated as in PATH), else the two in this folder."""
    chosen = os.environ.get("CONFORMANCE_CASES")
    yield from map(Path, chosen.split(os.pathsep)) if chosen else (_HERE / "cases", _HERE / "own_cases")
