"""Write and read a test's bundle: a mapping from paths to texts."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from dlt_local.bundle import Bundle, BundleError, bundle_pipeline, read_bundle

SMALLEST = """
bundle: {name: small}
targets: {dev: {mode: development, default: true}, prod: {mode: production}}
resources:
  pipelines:
    shop:
      libraries: [{glob: {include: src/**}}]
"""


def write_bundle(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a bundle's files; a source file `src/tables.py` is always included."""
    for path, text in {"src/tables.py": "", **files}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip("\n"))
    return folder


def read(folder: Path, text: str, target: str | None = None, **variables: str) -> Bundle:
    """Read a bundle whose `databricks.yml` is this text."""
    return read_bundle(write_bundle(folder, {"databricks.yml": text}), target, variables)


def faults_of(folder: Path, files: Mapping[str, str], target: str | None = None) -> list[str]:
    """The faults of a bundle and its only pipeline, each `CONDITION file:line message` without the folder."""
    with pytest.raises(BundleError) as caught:
        bundle_pipeline(read_bundle(write_bundle(folder, files), target))
    messages = (str(fault).replace(f"{folder}/", "").partition("\n  fix: ")[0] for fault in caught.value.faults)
    return [" ".join(message.split()) for message in messages]
