"""sdp-meta's onboarding file and those that it refers to, as values with their places."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cdc.errors import Condition, Diagnostic, RunCondition, near_match
from cdc.spec.document import Document, ValuePath, read_document
from cdc.spec.reading import Fault, Reading, listed, shown_value

ROWS = "rows"
"""The field under which a document has the list that its file is."""
_ENV = re.compile(r"(?:bronze|silver)_database_(?!quarantine_)(\w+)")


@dataclass(frozen=True)
class Part:
    """A mapping in one of the files: a data flow, or something inside it."""

    reading: Reading
    path: ValuePath
    data: Mapping[str, Any]

    def report(self, condition: Condition | RunCondition, at: str | ValuePath, detail: str, fix: str) -> None:
        """Report a fault at a field; that something is not imported is a warning."""
        path = (at,) if isinstance(at, str) else at
        value = self._value(path)
        self.reading.report(
            Fault(
                condition,
                (*self.path, *path),
                detail,
                fix,
                value=None if isinstance(value, dict | list) else value,
                of_key=bool(path),
                severity="warning" if condition is RunCondition.NOT_IMPORTED else "error",
            )
        )

    def lost(self, at: str | ValuePath, detail: str, fix: str) -> None:
        """Something that a table spec has no place for."""
        self.report(RunCondition.NOT_IMPORTED, at, detail, fix)

    def text(self, name: str) -> str | None:
        """A field's text; None if there is none, or something else, which is reported."""
        value = self.data.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            self._wrong_kind(name, "a string")
            return None
        return None if value in (None, "") else str(value)

    def texts(self, name: str) -> list[str]:
        """A list of texts, or one text with commas; empty if there is none."""
        value = self.data.get(name)
        if isinstance(value, str):
            return [each.strip() for each in value.split(",") if each.strip()]
        if value is None or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            return list(value or ())
        self._wrong_kind(name, "a list of strings")
        return []

    def part(self, name: str) -> "Part":
        """A mapping inside this one; empty if there is none."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, dict):
            self._wrong_kind(name, "a mapping")
        return Part(self.reading, (*self.path, name), value if isinstance(value, dict) else {})

    def misspelt(self, known: Iterable[str]) -> frozenset[str]:
        """Report the fields that are not known: as faults where one was probably meant, else as not taken over.

        Returns the fields that were meant: they are not missing.
        """
        names, meant = list(known), set()
        for name in self.data:
            if name in names:
                continue
            if near := probably(name, [each for each in names if each not in self.data]):
                fault = Fault(
                    Condition.UNKNOWN_FIELD,
                    (*self.path, name),
                    f"`{name}` is not a field of sdp-meta's files",
                    "correct the name, or remove the field.",
                    value=name,
                    near=near,
                    of_key=True,
                )
                self.reading.report(fault)
                meant.add(near)
            else:
                self.lost(name, f"`{name}` is not known here", "see whether a table spec can say the same.")
        return frozenset(meant)

    def _wrong_kind(self, name: str, expected: str) -> None:
        detail = f"`{name}` is `{shown_value(self.data[name])}`; expected {expected}"
        self.report(Condition.WRONG_KIND, name, detail, f"write {expected}.")

    def _value(self, path: ValuePath) -> Any:
        value: Any = self.data
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value


def probably(name: str, known: Iterable[str]) -> str | None:
    """The field that was meant by a misspelt one; None if it may be one of a later version of sdp-meta.

    >>> probably("bronze_tabel", ["bronze_table", "silver_table"]), probably("bronze_tags", ["bronze_table"])
    ('bronze_table', None)
    """
    # Without the layer, which every other field begins with.
    layer = next((each for each in ("bronze_", "silver_") if name.startswith(each)), "")
    rests = {each.removeprefix(layer): each for each in known if each.startswith(layer)}
    close = difflib.get_close_matches(name.removeprefix(layer), rests, n=1, cutoff=0.8)
    return rests[close[0]] if close else None


@dataclass
class Onboarding:
    """An onboarding file."""

    file: Path
    env: str
    """The suffix of the keys that differ by environment."""
    envs: tuple[str, ...]
    """All of those in the file."""
    flows: tuple[Part, ...]
    faults: list[Diagnostic]
    """Those of the files as such; the flows' own are in their readings."""
    settings: set[tuple[str, str]] = field(default_factory=set)
    """Settings for Kafka, with their values, that are reported: most flows have the same ones."""
    _documents: dict[Path, Document] = field(default_factory=dict)

    def referred(self, flow: Part, name: str, list_as: str | None = None) -> Part | None:
        """The content of the file that a field of a flow names; None if there is none, or no such file."""
        stated = flow.text(name)
        path = self._found(stated) if stated else None
        if stated and path is None:
            detail = f"`{name}` is `{stated}`, which is neither there nor beside {self.file.name}"
            flow.report(RunCondition.FILE_NOT_FOUND, name, detail, f"copy the file beside {self.file.name}.")
        if path is None:
            return None
        if path not in self._documents:
            self._documents[path] = read_document(path, path.as_posix(), self.faults, list_as)
        document = self._documents[path]
        reading = Reading(document, document.data, flow.reading.faults, flow.reading.table)
        return Part(reading, (), document.data)

    def _found(self, stated: str) -> Path | None:
        """The file itself, or one beside the onboarding file that ends like it: it was written for a workspace."""
        parts = Path(stated).parts
        below = (self.file.parent.joinpath(*parts[start:]) for start in range(1 if stated[0] == "/" else 0, len(parts)))
        return next((each for each in (Path(stated), *below) if each.is_file()), None)


def read_onboarding(file: Path, env: str | None) -> Onboarding:
    """An onboarding file, with its faults.

    Args:
        file: in JSON or YAML.
        env: the environment to read; by default the only one that the file has.
    """
    faults: list[Diagnostic] = []
    document = read_document(file, file.as_posix(), faults, ROWS)
    rows = document.data.get(ROWS, [])
    whole = Reading(document, faults=faults)
    flows = [_flow(document, index, row) for index, row in enumerate(rows) if isinstance(row, dict)]
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            detail = f"entry {index + 1} is `{shown_value(row)}`; expected a mapping, one for each data flow"
            whole.report(Fault(Condition.WRONG_KIND, (ROWS, index), detail, "write a mapping.", value=row))
    envs = sorted({found[1] for flow in flows for name in flow.data if (found := _ENV.fullmatch(name))})
    if document.readable and (len(envs) != 1 if env is None else env not in envs):
        whole.report(_no_env(env, envs))
    _check_ids(flows)
    return Onboarding(file, env or next(iter(envs), ""), tuple(envs), tuple(flows), faults)


def _flow(document: Document, index: int, row: Mapping[str, Any]) -> Part:
    name = next((row[each] for each in ("silver_table", "bronze_table") if isinstance(row.get(each), str)), None)
    return Part(Reading(document, dict(row), [], name), (ROWS, index), row)


def _no_env(env: str | None, envs: list[str]) -> Fault:
    known = f"the file has {listed(envs)}" if envs else "the file has no key such as `bronze_database_dev`"
    detail = f"which environment? {known}" if env is None else f"there is no environment `{env}`; {known}"
    near = near_match(env, envs) if env else None
    return Fault(Condition.BAD_VALUE, (), detail, "name one of them: `--env dev`.", value=env, near=near)


def _check_ids(flows: Iterable[Part]) -> None:
    first: dict[str, Part] = {}
    for flow in flows:
        identity = flow.text("data_flow_id")
        other = first.setdefault(identity, flow) if identity else flow
        if other is not flow:
            line = other.reading.document.place((*other.path, "data_flow_id")).line
            detail = f"`data_flow_id` is `{identity}`, as in line {line}; sdp-meta would keep one of the two"
            flow.report(Condition.BAD_VALUE, "data_flow_id", detail, "give each data flow an id of its own.")
