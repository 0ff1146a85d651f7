"""The examples in the docstrings of the modules for specs and other tools' files hold."""

import doctest
import importlib
from pathlib import Path

import pytest

PIPELINES = Path(__file__).parents[2] / "pipelines"
FOLDERS = (PIPELINES / "cdc/spec", PIPELINES / "cdc/interop")
_MODULES = ("definition", "errors", "settings", "type_changes")
FILES = [
    *(PIPELINES / f"cdc/{name}.py" for name in _MODULES),
    *(file for folder in FOLDERS for file in sorted(folder.glob("*.py"))),
]
WITH_EXAMPLES = [file.relative_to(PIPELINES) for file in FILES if ">>> " in file.read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", WITH_EXAMPLES, ids=str)
def test_the_examples_hold(file: Path) -> None:
    result = doctest.testmod(importlib.import_module(".".join(file.with_suffix("").parts)))
    assert result.attempted
    assert not result.failed
