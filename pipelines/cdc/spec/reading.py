"""A file being read: its usable values, its table and the faults found so far."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from cdc.errors import Condition, Diagnostic, Location, RunCondition
from cdc.spec.document import Document, ValuePath
from cdc.spec.secrets import looks_secret


@dataclass(frozen=True)
class Fault:
    """One fault of a file, by the path of the value."""

    condition: Condition | RunCondition
    path: ValuePath
    detail: str
    """One sentence with the faulty value and the valid alternatives."""
    fix: str
    value: object = None
    """The faulty value; None if there is none."""
    near: str | None = None
    """The valid word that was probably meant."""
    of_key: bool = False
    """True: the fault is at the key of the value."""
    severity: Literal["error", "warning"] = "error"
    at: Location | None = None
    """The place, if it is inside the value."""


@dataclass
class Reading:
    """A document and its faults; nothing is raised, so that one pass finds every fault."""

    document: Document
    data: dict[str, Any] = field(default_factory=dict)
    """The document's usable values; faulty ones are removed as they are reported."""
    faults: list[Diagnostic] = field(default_factory=list)
    table: str | None = None
    misspelt: set[str] = field(default_factory=set)
    """Top-level fields with a reported misspelling, which are not reported as missing too."""

    @property
    def is_sound(self) -> bool:
        """True if the file could be read and has no faults so far, apart from warnings."""
        return self.document.readable and all(found.severity == "warning" for found in self.faults)

    def report(self, fault: Fault) -> None:
        """Record a fault."""
        self.faults.append(self.diagnostic(fault))

    def diagnostic(self, fault: Fault) -> Diagnostic:
        """A fault with its place in the file."""
        return Diagnostic(
            fault.condition,
            fault.at or self.document.place(fault.path, of_key=fault.of_key),
            fault.detail,
            fault.fix,
            table=self.table,
            value=None if fault.value is None else shown_value(fault.value),
            near_match=fault.near,
            severity=fault.severity,
        )


def shown_value(value: object) -> str:
    """A value as written in the file, shortened; secrets are never shown."""
    text = {True: "true", False: "false", None: ""}.get(value) if isinstance(value, bool | None) else str(value)
    if text is None or looks_secret(text):
        return "..."
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(names: Collection[str], most: int = 12) -> str:
    """Names as part of a sentence, at most so many of them.

    >>> listed(["id", "total"]), listed([str(i) for i in range(20)], most=3)
    ('id, total', '0, 1, 2 and 17 more')
    """
    shown = ", ".join(list(names)[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
