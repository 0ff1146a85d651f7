"""The stub that gives an editor the signatures of `import dlt` has every name that the engine serves."""

import ast
import importlib
from pathlib import Path

from dlt_local.declarations.import_hook import pipeline_modules

STUB = Path(__file__).parents[2] / "typings" / "dlt.pyi"


def test_the_editor_knows_every_name_that_import_dlt_serves() -> None:
    imports = [node.module for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    known = {name for module in imports if module for name in importlib.import_module(module).__all__}
    with pipeline_modules(None):
        assert known == set(importlib.import_module("dlt").__all__)
