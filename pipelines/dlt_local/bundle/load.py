"""Reads a bundle: databricks.yml, what it includes, one target, its variables, all references."""

import getpass
import re
from collections.abc import Mapping
from pathlib import Path

from dlt_local.bundle.document import Value, read_document
from dlt_local.bundle.errors import BundleError, stop_if
from dlt_local.bundle.merge import merge
from dlt_local.bundle.model import Bundle
from dlt_local.bundle.references import Resolver
from dlt_local.bundle.variables import assigned
from dlt_local.errors import DeclarationError, did_you_mean

FILE_NAMES = ("databricks.yml", "databricks.yaml", "bundle.yml", "bundle.yaml")
_MERGED_BY_TARGET = ("bundle", "workspace", "artifacts", "resources", "sync", "permissions", "presets")
_REPLACED_BY_TARGET = ("run_as",)


def read_bundle(folder: str | Path, target: str | None = None, variables: Mapping[str, str] | None = None) -> Bundle:
    """Read the bundle in a folder.

    Args:
        folder: where databricks.yml lies.
        target: one of the bundle's targets; by default the one that says `default: true`, or the only one.
        variables: values that go before those of the files, as by `--var`.

    Raises:
        BundleError: with every fault found, each with its file and line.
    """
    folder = Path(folder).absolute()
    faults: list[DeclarationError] = []
    root = _merged_files(folder, faults)
    stop_if(faults)
    name, chosen = _target(root, target, faults)
    stop_if(faults)
    root = _with_target(root, name, chosen, folder, faults)
    overrides = folder / ".databricks" / "bundle" / name
    declared = root.find("variables") or root.with_content({})
    values = assigned(declared, chosen, overrides, variables or {}, faults)
    resolved = Resolver(_with(root, {"variables": values}), faults).resolve(_with(root, {"variables": values}))
    stop_if(faults)
    mode = chosen.find("mode")
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
        message = f"{folder} is no bundle: it has no databricks.yml"
        raise BundleError([DeclarationError("NO_BUNDLE", message, fix="give the folder in which it lies")])
    root = read_document(file, faults)
    for included in _included(root, folder, faults):
        root = merge(root, read_document(included, faults), faults)
    return root


def _included(root: Value, folder: Path, faults: list[DeclarationError]) -> list[Path]:
    """The included files: in the order of the patterns, then of their names; each once."""
    found: dict[Path, None] = dict.fromkeys(folder / name for name in FILE_NAMES)
    own = len(found)
    include = root.find("include")
    for pattern in include.items if include is not None else ():
        matches = [] if Path(pattern.text).is_absolute() else sorted(folder.glob(pattern.text))
        if not matches and not re.search(r"[*?\[]", pattern.text):
            message = f"`{pattern.text}` is included, and is not there"
            fix = "correct the path; it is relative to the bundle's folder"
            faults.append(DeclarationError("MISSING_INCLUDE", message, pattern.location, fix))
        found.update(dict.fromkeys(match for match in matches if match.suffix in (".yml", ".yaml", ".json")))
    return list(found)[own:]


def _target(root: Value, wanted: str | None, faults: list[DeclarationError]) -> tuple[str, Value]:
    targets = (root.find("targets") or root.with_content({})).fields
    if wanted is None:
        defaults = [name for name, each in targets.items() if (d := each.find("default")) and d.content is True]
        names = list(targets) if len(targets) == 1 else defaults
        wanted = names[0] if len(names) == 1 else None
    if wanted is not None and wanted in targets:
        chosen = targets[wanted]
        return wanted, chosen if chosen.fields else chosen.with_content({})
    if wanted is None:
        message = "no target is named, and not exactly one says `default: true`"
        fix = f"name one by --target: {', '.join(targets)}" if targets else "declare one under `targets:`"
        faults.append(DeclarationError("NO_TARGET", message, root.location, fix))
    else:
        message = f"there is no target `{wanted}`{did_you_mean(wanted, targets)}"
        fix = f"the bundle has: {', '.join(targets) or 'none'}"
        faults.append(DeclarationError("UNKNOWN_TARGET", message, root.location, fix))
    return "", root


def _with_target(root: Value, name: str, target: Value, folder: Path, faults: list[DeclarationError]) -> Value:
    """The target's own settings over the bundle's, and what this machine knows in the workspace's stead."""
    own = {key: value for key, value in target.fields.items() if key in _MERGED_BY_TARGET}
    merged = merge(root, target.with_content(own), faults)
    user, path = _user(), target.with_content(str(folder))
    known = {
        "bundle": {"target": target.with_content(name)},
        "workspace": {
            "root_path": path,
            "file_path": path,
            "current_user": target.with_content(
                {"userName": target.with_content(user), "short_name": target.with_content(re.sub(r"\W", "_", user))}
            ),
        },
    }
    for section, values in known.items():
        below = merged.fields.get(section, target.with_content({}))
        merged = _with(merged, {section: _with(below, values)})
    replaced = {key: target.fields[key] for key in _REPLACED_BY_TARGET if key in target.fields}
    return _with(merged, {"targets": target.with_content({}), **replaced})


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return "local"


def _with(value: Value, more: Mapping[str, Value]) -> Value:
    return value.with_content({**value.fields, **more})


def _text(value: Value, *keys: str) -> str | None:
    found = value.find(*keys)
    return found.text if found is not None else None
