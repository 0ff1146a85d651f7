"""References such as `${var.catalog}`: the values that they stand for."""

import re
from collections.abc import Mapping

from dlt_local.bundle.document import Value
from dlt_local.errors import DeclarationError, did_you_mean

_NAME = r"[^\W\d_](?:[-_]*[^\W_])*"
REFERENCE = re.compile(rf"\$\{{({_NAME}(?:\.{_NAME}(?:\[\d+\])*)*(?:\[\d+\])*)\}}")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")

_FROM_WORKSPACE = ("host", "resource_path", "artifact_path", "state_path", "current_user")
"""What of `workspace` only a workspace knows, unless the configuration says it."""


class Resolver:
    """Puts values in the place of references, inside one whole configuration.

    A reference to what only a workspace knows (the id of a resource, a `lookup`) is left standing.
    """

    def __init__(self, root: Value, faults: list[DeclarationError]) -> None:
        self._root = root
        self._faults = faults
        self._known: dict[str, Value | None] = {}
        self._under_way: list[str] = []

    def resolve(self, value: Value) -> Value:
        """The value with all references in it resolved; what cannot be is added to the faults."""
        if isinstance(value.content, str):
            return self._text(value, value.content)
        if isinstance(value.content, Mapping):
            return value.with_content({key: self.resolve(each) for key, each in value.content.items()})
        if isinstance(value.content, tuple):
            return value.with_content(tuple(self.resolve(each) for each in value.content))
        return value

    def _text(self, value: Value, text: str) -> Value:
        whole = REFERENCE.fullmatch(text)
        if whole:
            found = self._find(whole[1], value)
            # Written here, so that a relative path is relative to where the reference stands.
            return value if found is None else value.with_content(found.content)
        return value.with_content(REFERENCE.sub(lambda match: self._part(match, value), text))

    def _part(self, match: re.Match[str], value: Value) -> str:
        found = self._find(match[1], value)
        if found is None:
            return match[0]
        if isinstance(found.content, Mapping | tuple):
            message = f"{match[0]} is no single value ({found.location}), so it cannot be part of a text"
            self._fault("NOT_A_TEXT", message, value, "refer to one value inside it")
            return match[0]
        return found.text

    def _find(self, reference: str, user: Value) -> Value | None:
        """What a reference stands for; None: not known, which is a fault told once, or known in a workspace only."""
        if reference in self._known:
            return self._known[reference]
        if reference in self._under_way:
            circle = [*self._under_way[self._under_way.index(reference) :], reference]
            message = f"values refer to each other in a circle: {' -> '.join(circle)}"
            self._fault("REFERENCE_CYCLE", message, user, "give one of them a value of its own")
            return None
        self._under_way.append(reference)
        try:
            self._known[reference] = found = self._walk(reference, user)
        finally:
            self._under_way.pop()
        return found

    def _walk(self, reference: str, user: Value) -> Value | None:
        steps = [int(number) if number else name for number, name in _STEP.findall(reference)]
        value: Value | None = self._root
        for place, step in enumerate(_way(steps)):
            found = _step(value, step) if value is not None else None
            if found is None:
                self._missing(reference, _way(steps)[: place + 1], value, user)
                return None
            # What lies further down may itself come by a reference.
            value = self._text(found, found.content) if isinstance(found.content, str) else found
            if isinstance(value.content, str) and REFERENCE.search(value.content):
                return None
        return self.resolve(value) if value is not None else None

    def _missing(self, reference: str, steps: list[str | int], parent: Value | None, user: Value) -> None:
        name, known = str(steps[-1]), parent.fields if parent is not None else {}
        if steps[0] == "variables" and len(steps) == 2:
            message = f"there is no variable `{name}`{did_you_mean(name, known)}"
            self._fault("UNKNOWN_VARIABLE", message, user, "declare it under `variables:`, or correct its name")
        elif not _is_for_workspace(steps):
            message = f"${{{reference}}} leads to nothing: there is no `{name}`{did_you_mean(name, known)}"
            self._fault("UNKNOWN_REFERENCE", message, user, "correct the reference")

    def _fault(self, condition: str, message: str, value: Value, fix: str) -> None:
        self._faults.append(DeclarationError(condition, message, value.location, fix))


def _way(steps: list[str | int]) -> list[str | int]:
    return ["variables", *steps[1:2], "value", *steps[2:]] if steps[0] == "var" else steps


def _step(value: Value, step: str | int) -> Value | None:
    if isinstance(step, int):
        return value.items[step] if step < len(value.items) else None
    return value.fields.get(step)


def _is_for_workspace(steps: list[str | int]) -> bool:
    """True for what exists, or comes to exist, in the workspace only: a resource's id, a lookup's answer."""
    if steps[0] == "resources":
        return len(steps) > 3
    return (steps[0] == "workspace" and len(steps) > 1 and steps[1] in _FROM_WORKSPACE) or (
        steps[0] == "variables" and steps[2:] == ["value"]
    )
