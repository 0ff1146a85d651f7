"""Pack cases that differ only in their rows into one flow, each case with its own range of keys.

Events of one key never affect another, so a pack costs one flow and tests as much as its members would alone.
CONFORMANCE_ALONE=1 runs every case alone.
"""

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.conformance.case import Case, Rows
from tests.conformance.runner import Outcome

_RANGE = 1000
"""Keys of the n-th case of a pack start at n times this."""
_SHARED = (
    "keys",
    "sequence_by",
    "apply_as_deletes",
    "scd_type",
    "column_list",
    "except_column_list",
    "ignore_null_updates",
    "track_history_column_list",
    "track_history_except_column_list",
    "columns_to_update",
    "where",
)
_ALONE = (
    "apply_as_truncates",
    "expect_error",
    "full_refresh_before_batch",
    "replay_last_batch",
    "config_per_batch",
    "spark_conf",
    "table_properties",
    "pause_before_batch",
    "once",
)
"""Fields about whole updates or the whole target, which cannot be shared."""


@dataclass(frozen=True)
class Pack(Case):
    """Several cases in one."""

    members: Sequence[Case] = ()

    def acceptable_after(self, batch: int) -> list[Rows] | None:
        """Any table, as only the members state theirs; None if no member states one."""
        return [] if any(_states(case, batch) for case in self.members) else None

    def rows_of(self, member: int, table: Rows) -> Rows:
        """A member's rows of the pack's table, with the member's own keys."""
        [key] = self.facts["keys"]
        return [row | {key: row[key] % _RANGE} for row in table if row[key] // _RANGE == member]


def packed(cases: Sequence[Case]) -> list[Case]:
    """The same cases, with those that can share a flow packed."""
    by_flow: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_flow[signature(case)].append(case)
    return [members[0] if len(members) == 1 else _pack(members) for members in by_flow.values()]


def unpacked(cases: Sequence[Case], outcomes: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """The outcome of every case, with packs split into their members."""
    single: dict[str, Outcome] = {}
    for case in cases:
        outcome = outcomes[case.name]
        if not isinstance(case, Pack):
            single[case.name] = outcome
            continue
        for number, member in enumerate(case.members):
            tables = {
                batch: case.rows_of(number, table) for batch, table in outcome.tables.items() if _states(member, batch)
            }
            single[member.name] = Outcome(tables, crash=outcome.crash)
    return single


def _pack(members: Sequence[Case]) -> Pack:
    [key] = members[0].facts["keys"]
    length = max(len(case.batches) for case in members)
    batches: list[Rows] = [[] for _ in range(length)]
    for number, case in enumerate(members):
        for batch, rows in zip(batches, case.batches, strict=False):
            batch += [row | {key: row[key] + number * _RANGE} for row in rows]
    name = f"pack_of_{len(members)}_with_{members[0].name}"
    facts: Mapping[str, Any] = {**members[0].facts, "name": name, "batches": batches}
    return Pack(name, facts, members=tuple(members))


def signature(case: Case) -> str:
    """A text that is equal for cases that can share a flow."""
    if os.environ.get("CONFORMANCE_ALONE") or not _can_share(case):
        return case.name
    types = list(case.facts["types"].items())
    return json.dumps([types, [case.facts.get(name) for name in _SHARED]])


def _can_share(case: Case) -> bool:
    keys = case.facts["keys"]
    types = case.facts["types"]
    if any(case.facts.get(name) for name in _ALONE) or case.has_many_flows or case.is_snapshot:
        return False
    if case.failing_batch is not None or len(keys) != 1 or types.get(keys[0]) not in ("INT", "BIGINT"):
        return False
    # A case with an empty batch, or one that lacks a column, tests exactly that.
    has_all = all(rows and all(row.keys() == types.keys() for row in rows) for rows in case.batches)
    return has_all and all(0 <= row[keys[0]] < _RANGE for rows in case.batches for row in rows)


def _states(case: Case, batch: int) -> bool:
    return batch < len(case.batches) and case.acceptable_after(batch) is not None
