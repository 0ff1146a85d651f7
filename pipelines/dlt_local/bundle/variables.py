"""Assigns values to a bundle's variables, for one target."""

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
    """The variables, each with its `value`: the first one found in the order of precedence.

    The order is: ``given`` (the command line), ``BUNDLE_VAR_<name>`` in the environment, the target's override file in
    `.databricks/bundle/`, the target, the default. The value of a `lookup` is known only in a workspace.
    """
    for name in given:
        if name not in declared.fields:
            faults.append(_unknown(name, declared, None, "declare it under `variables:`, or correct its name"))
    by_target = _by_target(declared, target, faults)
    by_file = _by_file(folder, faults)
    values: dict[str, Value] = {}
    for name, declaration in declared.fields.items():
        definition = by_target.get(name, declaration)
        outside = given.get(name, os.environ.get(_ENVIRONMENT + name))
        in_files = (by_file.get(name), definition.fields.get("default"), declaration.fields.get("default"))
        value = next((each for each in in_files if each is not None and each.content is not None), None)
        if outside is not None:
            value = declaration.with_content(outside)
        elif "lookup" in definition.fields:
            value = None
        elif value is None:
            faults.append(_not_set(name, declaration))
        values[name] = declaration.with_content({"value": value} if value is not None else {})
    return declared.with_content(values)


def _by_target(declared: Value, target: Value, faults: list[DeclarationError]) -> dict[str, Value]:
    """The variables that the target sets, all in the long form: `{default: ...}` or `{lookup: ...}`."""
    found: dict[str, Value] = {}
    for name, value in (target.find("variables") or target.with_content({})).fields.items():
        if name not in declared.fields:
            fix = "declare it under the top-level `variables:`; a target can only set it"
            faults.append(_unknown(name, declared, value, fix))
        is_definition = bool(value.fields) and set(value.fields) <= _DEFINITION
        found[name] = value if is_definition else value.with_content({"default": value})
    return found


def _by_file(folder: Path, faults: list[DeclarationError]) -> Mapping[str, Value]:
    """The values of the checkout's override file, which is not committed."""
    file = folder / "variable-overrides.json"
    return read_document(file, faults).fields if file.is_file() else {}


def _unknown(name: str, declared: Value, user: Value | None, fix: str) -> DeclarationError:
    message = f"there is no variable `{name}`{did_you_mean(name, declared.fields)}"
    return DeclarationError("UNKNOWN_VARIABLE", message, user.location if user else None, fix)


def _not_set(name: str, declaration: Value) -> DeclarationError:
    if not isinstance(declaration.content, Mapping | None):
        message, fix = f"variable `{name}` is declared as a plain value", "write `default:` before it"
        return DeclarationError("WRONG_SHAPE", message, declaration.location, fix)
    message = f"variable `{name}` has no value and no default"
    fix = f"set it in the target, with --var {name}=..., or with {_ENVIRONMENT}{name} in the environment"
    return DeclarationError("VARIABLE_NOT_SET", message, declaration.location, fix)
