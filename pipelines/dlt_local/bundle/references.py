"""Resolves references such as `${var.catalog}` to the values they refer to."""

import re
from collections.abc import Mapping

from dlt_local.bundle.document import Value
from dlt_local.errors import DeclarationError, did_you_mean

_NAME = r"[^\W\d_](?:[-_]*[^\W_])*"
REFERENCE = re.compile(rf"\$\{{({_NAME}(?:\.{_NAME}(?:\[\d+\])*)*(?:\[\d+\])*)\}}")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")

_FROM_WORKSPACE = ("host", "resource_path", "artifact_path", "state_path", "current_user")
"""Fields of `workspace` that only a workspace knows, unless the configuration sets them."""


class Resolver:
    """Replaces references by values within one configuration.

    A reference to a value that only a workspace knows (the id of a resource, a `lookup`) is left as it is.
    """

    def __init__(self, root: Value, faults: list[DeclarationError]) -> None:
        self._root = root
        self._faults = faults
        self._resolved: dict[str, Value | None] = {}
        self._in_progress: list[str] = []

    def resolve(self, value: Value) -> Value:
        """The value with every reference in it resolved; a reference that cannot be is added to the faults."""
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
            # It keeps this location: a relative path is relative to the file that holds the reference.
            return value if found is None else value.with_content(found.content)
        return value.with_content(REFERENCE.sub(lambda match: self._part(match, value), text))

    def _part(self, match: re.Match[str], value: Value) -> str:
        found = self._find(match[1], value)
        if found is None:
            return match[0]
        if isinstance(found.content, Mapping | tuple):
            message = f"{match[0]} is not a single value ({found.location}), so it cannot be part of a string"
            self._fault("NOT_A_TEXT", message, value, "refer to one value inside it")
            return match[0]
        return found.text

    def _find(self, reference: str, user: Value) -> Value | None:
        """The value of a reference; None if there is none (a fault, reported once) or only a workspace knows it."""
        if reference in self._resolved:
            return self._resolved[reference]
        if reference in self._in_progress:
            cycle = [*self._in_progress[self._in_progress.index(reference) :], reference]
            message = f"references form a cycle: {' -> '.join(cycle)}"
            self._fault("REFERENCE_CYCLE", message, user, "give one of them a literal value")
            return None
        self._in_progress.append(reference)
        try:
            self._resolved[reference] = found = self._walk(reference, user)
        finally:
            self._in_progress.pop()
        return found

    def _walk(self, reference: str, user: Value) -> Value | None:
        path = _path([int(number) if number else name for number, name in _STEP.findall(reference)])
        value: Value | None = self._root
        for depth, step in enumerate(path, start=1):
            found = _step(value, step) if value is not None else None
            if found is None:
                self._missing(reference, path[:depth], value, user)
                return None
            # A value on the path may itself be a reference.
            value = self._text(found, found.content) if isinstance(found.content, str) else found
            if isinstance(value.content, str) and REFERENCE.search(value.content):
                return None
        return self.resolve(value) if value is not None else None

    def _missing(self, reference: str, steps: list[str | int], parent: Value | None, user: Value) -> None:
        name, known = str(steps[-1]), parent.fields if parent is not None else {}
        if steps[0] == "variables" and len(steps) == 2:
            message = f"there is no variable `{name}`{did_you_mean(name, known)}"
            self._fault("UNKNOWN_VARIABLE", message, user, "declare it under `variables:`, or correct its name")
        elif not _is_known_in_workspace(steps):
            message = f"${{{reference}}} cannot be resolved: there is no `{name}`{did_you_mean(name, known)}"
            self._fault("UNKNOWN_REFERENCE", message, user, "correct the reference")

    def _fault(self, condition: str, message: str, value: Value, fix: str) -> None:
        self._faults.append(DeclarationError(condition, message, value.location, fix))


def _path(steps: list[str | int]) -> list[str | int]:
    """The path in the configuration: `var.x` is short for `variables.x.value`."""
    return ["variables", *steps[1:2], "value", *steps[2:]] if steps[0] == "var" else steps


def _step(value: Value, step: str | int) -> Value | None:
    if isinstance(step, int):
        return value.items[step] if step < len(value.items) else None
    return value.fields.get(step)


def _is_known_in_workspace(steps: list[str | int]) -> bool:
    """True for what only a workspace knows: the id of a resource, the result of a lookup."""
    if steps[0] == "resources":
        return len(steps) > 3
    return (steps[0] == "workspace" and len(steps) > 1 and steps[1] in _FROM_WORKSPACE) or (
        steps[0] == "variables" and steps[2:] == ["value"]
    )
