"""A deployment of a bundle: its resources with their paths in the workspace, and the files that ship."""

import os
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from dlt_local.bundle.document import Value
from dlt_local.bundle.model import Bundle

_SHOWN = ("mode", "presets", "run_as", "permissions")
_PATHS = {("root_path",), ("libraries", "glob", "include"), ("libraries", "file", "path")}
"""Fields of a pipeline that hold a local path; those of other kinds of resources are left as they are."""


def deployment(bundle: Bundle) -> dict[str, Any]:
    """The deployment as plain values: target, paths in the workspace, identities, resources.

    References to what exists only after the deployment, such as the id of a pipeline, are left as they are.

    Args:
        bundle: read with the name of the user who deploys it.
    """
    shown = {"target": bundle.target, "mode": bundle.mode}
    shown |= {name: _plain(value) for name in _SHOWN if (value := bundle.root.find(name)) is not None}
    resources = _plain(bundle.root.find("resources") or bundle.root.with_content({}))
    pipelines = bundle.root.find("resources", "pipelines")
    for key, pipeline in (pipelines.fields if pipelines is not None else {}).items():
        resources["pipelines"][key] = _deployed(pipeline, (), bundle)
    return {**shown, "workspace": {"root_path": _workspace(bundle, "root_path")}, "resources": resources}


def shipped_files(bundle: Bundle) -> list[str]:
    """The files that a deployment uploads, relative to the bundle's folder and sorted: those of `sync.paths`.

    Names that `.gitignore` lists are left out; `sync.include` and `sync.exclude` are not read.
    """
    patterns = _ignored(bundle.folder)
    listed = bundle.root.find("sync", "paths")
    folders = [(each.file.parent / each.text).resolve() for each in listed.items] if listed else [bundle.folder]
    files = {path for folder in folders for path in (folder.rglob("*") if folder.is_dir() else [folder])}
    names = (path.relative_to(bundle.folder) for path in files if path.is_file())
    return sorted(n.as_posix() for n in names if not any(fnmatch(part, p) for part in n.parts for p in patterns))


def _ignored(folder: Path) -> list[str]:
    file = folder / ".gitignore"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return [line.strip("/") for line in lines if line.strip() and not line.startswith("#")]


def _workspace(bundle: Bundle, name: str) -> str:
    found = bundle.root.find("workspace", name)
    return found.text if found is not None else ""


def _deployed(value: Value, path: tuple[str, ...], bundle: Bundle) -> Any:
    """The value in plain form, a local path in it replaced by the one in the workspace."""
    if value.items:
        return [_deployed(each, path, bundle) for each in value.items]
    if value.fields:
        return {key: _deployed(each, (*path, key), bundle) for key, each in value.fields.items()}
    if path not in _PATHS:
        return _plain(value)
    local = Path(os.path.normpath(value.file.parent / value.text))
    below = local.relative_to(bundle.folder) if local.is_relative_to(bundle.folder) else local
    return f"{_workspace(bundle, 'file_path')}/{below.as_posix()}"


def _plain(value: Value) -> Any:
    if isinstance(value.content, Mapping):
        return {key: _plain(each) for key, each in value.content.items()}
    if isinstance(value.content, tuple):
        return [_plain(each) for each in value.content]
    return value.content
