"""What a bundle's variables are set to, for one target."""

import os
from collections.abc import Mapping
from pathlib import Path

from dlt_local.bundle.document import Value, read_document
from dlt_local.errors import DeclarationError, did_you_mean

_DEFINITION = {"default", "type", "description", "lookup"}
_ENVIRONMENT = "BUNDLE_VAR_"


def assigned(
    declared: Value, target: Value, folder: Path, given: Mapping[str, str], faults: list[DeclarationError]
) -> Value:
    """The variables, each with its `value`, the first that there is of these.

    ``given`` (the command line's), the environment's ``BUNDLE_VAR_<name>``, the target's override file in
    `.databricks/bundle/`, the target, the default. A variable with a `lookup` is known in a workspace only.
    """
    for name in given:
        if name not in declared.fields:
            faults.append(_unknown(name, declared, None, "declare it under `variables:`, or correct its name"))
    by_target = _by_target(declared, target, faults)
    by_file = _by_file(folder, faults)
    values: dict[str, Value] = {}
    for name, declaration in declared.fields.items():
        own = by_target.get(name, declaration)
        outside = given.get(name, os.environ.get(_ENVIRONMENT + name))
        set_here = (by_file.get(name), own.fields.get("default"), declaration.fields.get("default"))
        value = next((each for each in set_here if each is not None and each.content is not None), None)
        if outside is not None:
            value = declaration.with_content(outside)
        elif "lookup" in own.fields:
            value = None
        elif value is None:
            faults.append(_not_set(name, declaration))
        values[name] = declaration.with_content({"value": value} if value is not None else {})
    return declared.with_content(values)


def _by_target(declared: Value, target: Value, faults: list[DeclarationError]) -> dict[str, Value]:
    """The target's words, all in the long form: `{default: ...}` or `{lookup: ...}`."""
    told: dict[str, Value] = {}
    for name, value in (target.find("variables") or target.with_content({})).fields.items():
        if name not in declared.fields:
            fix = "declare it under the top-level `variables:`; a target only sets it"
            faults.append(_unknown(name, declared, value, fix))
        is_definition = bool(value.fields) and set(value.fields) <= _DEFINITION
        told[name] = value if is_definition else value.with_content({"default": value})
    return told


def _by_file(folder: Path, faults: list[DeclarationError]) -> Mapping[str, Value]:
    """The values of a checkout's own override file, which git does not see."""
    file = folder / "variable-overrides.json"
    return read_document(file, faults).fields if file.is_file() else {}


def _unknown(name: str, declared: Value, user: Value | None, fix: str) -> DeclarationError:
    message = f"there is no variable `{name}`{did_you_mean(name, declared.fields)}"
    return DeclarationError("UNKNOWN_VARIABLE", message, user.location if user else None, fix)


def _not_set(name: str, declaration: Value) -> DeclarationError:
    if not isinstance(declaration.content, Mapping | None):
        message, fix = f"variable `{name}` is declared by a plain value", "write `default:` before it"
        return DeclarationError("WRONG_SHAPE", message, declaration.location, fix)
    message = f"variable `{name}` has no value and no default"
    fix = f"set it in the target, by --var {name}=..., or by {_ENVIRONMENT}{name} in the environment"
    return DeclarationError("VARIABLE_NOT_SET", message, declaration.location, fix)
