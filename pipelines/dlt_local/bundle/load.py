"""Reads a bundle: databricks.yml and the files it includes, one target, its variables, all references."""

import re
from collections.abc import Mapping
from pathlib import Path

from dlt_local.bundle.document import Value, read_document
from dlt_local.bundle.errors import BundleError, stop_if
from dlt_local.bundle.merge import merge
from dlt_local.bundle.model import Bundle
from dlt_local.bundle.presets import with_presets
from dlt_local.bundle.references import Resolver
from dlt_local.bundle.resource_keys import key_faults
from dlt_local.bundle.variables import assigned
from dlt_local.bundle.workspace import workspace
from dlt_local.errors import DeclarationError, did_you_mean

LOCAL_TARGET = "local"
"""The target that a local run chooses if a bundle has it, whichever is the default of Databricks' command line."""
FILE_NAMES = ("databricks.yml", "databricks.yaml", "bundle.yml", "bundle.yaml")
_MERGED_BY_TARGET = ("bundle", "workspace", "artifacts", "resources", "sync", "permissions", "presets")
_REPLACED_BY_TARGET = ("run_as",)


def read_bundle(
    folder: str | Path,
    target: str | None = None,
    variables: Mapping[str, str] | None = None,
    deployer: str | None = None,
) -> Bundle:
    """Read the bundle in a folder.

    Args:
        folder: the folder of databricks.yml.
        target: one of the bundle's targets; by default the one named `local`, the one with `default: true`, or the
            only one.
        variables: values that override those in the files, as `--var` does.
        deployer: the name of a workspace's user, for the bundle as this user would deploy it. By default the bundle
            is for a local run: its workspace is the folder, its user the one of this machine.

    Raises:
        BundleError: carries every fault found, each with its file and line.
    """
    folder = Path(folder).absolute()
    faults: list[DeclarationError] = []
    root = _merged_files(folder, faults)
    stop_if(faults)
    name, chosen = _target(root, target, faults)
    stop_if(faults)
    root = _with_target(root, name, chosen, faults)
    root = workspace(root, name, folder, deployer)
    overrides = folder / ".databricks" / "bundle" / name
    declared = root.find("variables") or root.with_content({})
    values = assigned(declared, chosen, overrides, variables or {}, faults)
    root = _with(root, {"variables": values})
    mode = chosen.find("mode")
    root = with_presets(root, mode.text if mode is not None else None, faults)
    resolved = Resolver(root, faults).resolve(root)
    stop_if(faults)
    return Bundle(
        name=_text(resolved, "bundle", "name") or folder.name,
        folder=folder,
        target=name,
        mode=mode.text if mode is not None else None,
        root=resolved,
    )


def _merged_files(folder: Path, faults: list[DeclarationError]) -> Value:
    file = next((folder / name for name in FILE_NAMES if (folder / name).is_file()), None)
    if file is None:
        message = f"{folder} is not a bundle: it has no databricks.yml"
        raise BundleError([DeclarationError("NO_BUNDLE", message, fix="give the folder that contains it")])
    root = read_document(file, faults)
    documents = [root, *(read_document(included, faults) for included in _included(root, folder, faults))]
    faults.extend(key_faults(documents))
    for document in documents[1:]:
        root = merge(root, document, faults)
    return root


def _included(root: Value, folder: Path, faults: list[DeclarationError]) -> list[Path]:
    """The included files, each once: in the order of the patterns, then of their names."""
    found: dict[Path, None] = {}
    include = root.find("include")
    for pattern in include.items if include is not None else ():
        matches = [] if Path(pattern.text).is_absolute() else sorted(folder.glob(pattern.text))
        if not matches and not re.search(r"[*?\[]", pattern.text):
            message = f"the included file `{pattern.text}` does not exist"
            fix = "correct the path; it is relative to the bundle's folder"
            faults.append(DeclarationError("MISSING_INCLUDE", message, pattern.location, fix))
        found.update(dict.fromkeys(match for match in matches if match.suffix in (".yml", ".yaml", ".json")))
    # A pattern may match the bundle's own file, which has been read already.
    return [file for file in found if file not in {folder / name for name in FILE_NAMES}]


def _target(root: Value, wanted: str | None, faults: list[DeclarationError]) -> tuple[str, Value]:
    declared = root.find("targets")
    # Without targets, Databricks' command line makes one of this name.
    targets = (declared.fields if declared is not None else {}) or {"default": root.with_content({})}
    if wanted is None:
        defaults = [name for name, each in targets.items() if (d := each.find("default")) and d.content is True]
        names = [LOCAL_TARGET] if LOCAL_TARGET in targets else list(targets) if len(targets) == 1 else defaults
        wanted = names[0] if len(names) == 1 else None
    if wanted is not None and wanted in targets:
        chosen = targets[wanted]
        return wanted, chosen if chosen.fields else chosen.with_content({})
    if wanted is None:
        message = "no target is given, and there is not exactly one with `default: true`"
        fix = f"choose one with --target: {', '.join(targets)}" if targets else "declare one under `targets:`"
        faults.append(DeclarationError("NO_TARGET", message, root.location, fix))
    else:
        message = f"there is no target `{wanted}`{did_you_mean(wanted, targets)}"
        fix = f"the bundle has: {', '.join(targets) or 'none'}"
        faults.append(DeclarationError("UNKNOWN_TARGET", message, root.location, fix))
    return "", root


def _with_target(root: Value, name: str, target: Value, faults: list[DeclarationError]) -> Value:
    """The bundle's settings with the target's merged in."""
    settings = {key: value for key, value in target.fields.items() if key in _MERGED_BY_TARGET}
    merged = merge(root, target.with_content(settings), faults)
    bundle = _with(merged.fields.get("bundle", target.with_content({})), {"target": target.with_content(name)})
    replaced = {key: target.fields[key] for key in _REPLACED_BY_TARGET if key in target.fields}
    return _with(merged, {"targets": target.with_content({}), "bundle": bundle, **replaced})


def _with(value: Value, fields: Mapping[str, Value]) -> Value:
    """The mapping with these fields added or replaced."""
    return value.with_content({**value.fields, **fields})


def _text(value: Value, *keys: str) -> str | None:
    found = value.find(*keys)
    return found.text if found is not None else None
