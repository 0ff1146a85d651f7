"""Data quality rules of a data flow as expectations of a table spec."""

import re
from collections.abc import Iterable, Iterator, Mapping

from cdc.errors import Condition
from cdc.interop import texts
from cdc.interop.onboarding import Onboarding, Part
from cdc.spec.model import Action

Expectations = Mapping[str, tuple[str, Action]]
"""Name -> condition and action."""
_ACTIONS: Mapping[str, Action] = {
    **{key: action for action, key in texts.KEYS.items()},
    "expect_all": "warn",
    "expect_all_or_drop": "drop",
    "expect_all_or_fail": "fail",
}
"""Key of a file of rules -> what happens to a row that violates one."""
_OF_RECORDS = re.compile(r"\b(_rescued_data|parsed_records|key|value|topic|partition|offset|headers)\b", re.IGNORECASE)
"""Columns of bronze that are no columns of a change."""


def expectations(onboarding: Onboarding, flow: Part, row_filter: str | None) -> Expectations:
    """The rules of silver, then those of bronze whose names silver does not have."""
    found: dict[str, tuple[str, Action]] = {}
    for layer in ("silver", "bronze"):
        part = onboarding.referred(flow, f"{layer}_data_quality_expectations_json_{onboarding.env}")
        if part:
            part.misspelt(_ACTIONS)
            _add(found, part, row_filter, in_bronze=layer == "bronze")
    return found


def _add(found: dict[str, tuple[str, Action]], part: Part, row_filter: str | None, *, in_bronze: bool) -> None:
    bad: dict[str, str] = {}
    for key, action in _ACTIONS.items():
        for name, sql in _rules(part, key):
            own = texts.condition_of(sql, action, row_filter)
            if (name, sql) == texts.NO_REJECT:
                continue
            if own is None and in_bronze and (column := _OF_RECORDS.search(sql)):
                detail = f"`{name}` is on `{column[1]}`, which is a column of records and not of changes"
                part.lost((key, name), detail, "leave it out; records that cannot be decoded are rejects here.")
            elif name in found:
                part.lost((key, name), f"there is another rule `{name}`, which is taken over", "rename one of them.")
            elif own is None and action == "quarantine":
                bad[name] = sql
            else:
                found[name] = (sql if own is None else own, action)
    if bad:
        found["_and_".join(bad)] = (_not_bad(bad.values()), "quarantine")


def _rules(part: Part, key: str) -> Iterator[tuple[str, str]]:
    """The rules of one key; of two keys for the same, sdp-meta uses the shorter one."""
    rules = part.part(key)
    shorter = key.replace("_all", "")
    if shorter != key and rules.data and part.data.get(shorter):
        part.lost(key, f"`{key}` has no effect beside `{shorter}` in sdp-meta", f"move its rules to `{shorter}`.")
        return
    for name in rules.data:
        if sql := rules.text(name):
            yield name, sql
        elif rules.data[name] in (None, ""):
            rules.report(Condition.BAD_VALUE, name, f"`{name}` has no condition", "write an SQL condition.")


def _not_bad(conditions: Iterable[str]) -> str:
    """The condition on good rows: sdp-meta's are on bad ones, which meet all of them."""
    return f"NOT coalesce({' AND '.join(f'({each})' for each in conditions)}, false)"
