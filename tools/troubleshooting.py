"""Writes docs/troubleshooting.md: an entry for each error condition and each reason of a reject.

Run it after adding one: ``python -m tools.troubleshooting``. When a condition comes and what to do about it is in the
code's own lists; the examples are the golden messages of the tests.
"""

from collections.abc import Mapping
from pathlib import Path

from cdc import conditions as cdc
from dlt_local.conditions import GROUPS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "troubleshooting.md"
START = "<!-- what follows is made by `python -m tools.troubleshooting` -->\n"
_MESSAGES = ROOT / "tests" / "support" / "messages"
_SPEC_FAULTS = ROOT / "tests" / "unit" / "spec_faults"
_REJECT_MESSAGES = ROOT / "tests" / "support" / "reject_messages.txt"
_REPORTED = "=== reported\n"
_SPECS, _SETTINGS, _REJECTS = "Specs", "Settings and captures", "Rejects"
_ORDER = (
    *("The machine and the command line", "The bundle", _SPECS, _SETTINGS, "Source files", "Queries and datasets"),
    *("AUTO CDC declarations", "While it runs", _REJECTS, "Kafka", "After a change of spec or source", "The storage"),
)
"""From before a run to after one."""


def page(present: str) -> str:
    """The page with its generated part as it should be."""
    sections = _sections()
    missing = sections.keys() ^ set(_ORDER)
    assert not missing, f"add to _ORDER of tools/troubleshooting.py, or remove there: {missing}"
    contents = [f"- [{heading}](#{heading.lower().replace(' ', '-')})" for heading in _ORDER]
    text = "\n".join([*contents, "", *(f"## {heading}\n\n{sections[heading]}" for heading in _ORDER)])
    return f"{present.partition(START)[0]}{START}\n{text.rstrip()}\n"


def _sections() -> Mapping[str, str]:
    engine = {
        heading: "".join(_entry(each.name, each.when, each.way_out, _golden(each.name)) for each in group)
        for heading, group in GROUPS.items()
    }
    specs = [_entry(each.name, each.value, way_out, _reported(each.name)) for each, way_out in cdc.SPECS.items()]
    runs = [_entry(each.name, each.value, way_out, _golden(each.name)) for each, way_out in cdc.RUNS.items()]
    rejects = [_entry(each.name, each.value, way_out, _of_reject(each.name)) for each, way_out in cdc.REJECTS.items()]
    note = (
        "The reason and message of each rejected record are in `silver.<table>_rejects`, and every update says how many"
        " there are. [rejects.md](rejects.md) has how they are decoded again after a fix.\n\n"
    )
    return {**engine, _SPECS: "".join(specs), _SETTINGS: "".join(runs), _REJECTS: note + "".join(rejects)}


def _entry(name: str, when: str, way_out: str, example: str) -> str:
    shown = f"```text\n{example}\n```\n\n" if example else ""
    return f"### {name}\n\n{when[0].upper()}{when[1:]}.\n\n{shown}{way_out}\n\n"


# A message that is missing is reported by the tests; until then its entry has none.


def _golden(condition: str) -> str:
    file = _MESSAGES / f"{condition}.txt"
    return file.read_text(encoding="utf-8").rstrip("\n") if file.exists() else ""


def _reported(condition: str) -> str:
    """The first message of the condition's case."""
    file = _SPEC_FAULTS / f"{condition.lower()}.txt"
    reported = file.read_text(encoding="utf-8").partition(_REPORTED)[2] if file.exists() else ""
    messages = reported.strip("\n").split("\n\n")
    return next((message for message in messages if message.startswith(f"{condition}  ")), "")


def _of_reject(reason: str) -> str:
    lines = _REJECT_MESSAGES.read_text(encoding="utf-8").splitlines()
    return next((line for line in lines if line.startswith(f"{reason}  ")), "")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
