"""One file on its way to a spec: its values, the table it speaks of, and the faults found so far."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from cdc.errors import Condition, Diagnostic
from cdc.spec.document import Document, ValuePath
from cdc.spec.secrets import looks_secret


@dataclass
class Reading:
    """A document and what is found wrong with it; nothing is raised, so that one look finds all faults."""

    document: Document
    data: dict[str, Any] = field(default_factory=dict)
    """What of the document's values is usable; faulty ones are taken out as they are reported."""
    faults: list[Diagnostic] = field(default_factory=list)
    table: str | None = None
    misspelt: set[str] = field(default_factory=set)
    """Top-level fields of which a misspelling is reported, so that they are not reported as missing too."""

    @property
    def is_sound(self) -> bool:
        """No fault so far, warnings aside, and the file could be read."""
        return self.document.readable and all(found.severity == "warning" for found in self.faults)

    def fault(
        self,
        condition: Condition,
        path: ValuePath,
        detail: str,
        fix: str,
        *,
        value: object = None,
        near: str | None = None,
        of_key: bool = False,
        severity: Literal["error", "warning"] = "error",
    ) -> None:
        """Note a fault at the value (or the key) that ``path`` leads to."""
        place = self.document.place(path, of_key=of_key)
        shown = None if value is None else shown_value(value)
        self.faults.append(
            Diagnostic(condition, place, detail, fix, self.table, shown, near_match=near, severity=severity)
        )


def shown_value(value: object) -> str:
    """A value as the file has it, shortened; never one that gives a secret away."""
    text = {True: "true", False: "false", None: ""}.get(value) if isinstance(value, bool | None) else str(value)
    if text is None or looks_secret(text):
        return "..."
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(names: Collection[str], most: int = 12) -> str:
    """Names for a sentence, the first of many.

    >>> listed(["id", "total"]), listed([str(i) for i in range(20)], most=3)
    ('id, total', '0, 1, 2 and 17 more')
    """
    shown = ", ".join(list(names)[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
