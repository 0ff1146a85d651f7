"""What a Python function computes, as text: another text for each edit that matters, none where that is not known."""

import doctest
import functools
import math
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle

from dlt_local.declarations import notebooks
from dlt_local.graph import python_functions
from dlt_local.graph.python_functions import NotKnown, text_of
from dlt_local.spark import external_tables

EDITS = {
    "a constant": ("def f(x):\n    return x + 1", "def f(x):\n    return x + 1000"),
    "a text": ("def f(x):\n    return 'no #5'", "def f(x):\n    return 'no #6'"),
    "a default value": ("def f(x, y=1):\n    return x + y", "def f(x, y=2):\n    return x + y"),
    "a global": ("LIMIT = 1\ndef f(x):\n    return x + LIMIT", "LIMIT = 2\ndef f(x):\n    return x + LIMIT"),
    "a function that it calls": (
        "def g(x):\n    return x\ndef f(x):\n    return g(x)",
        "def g(x):\n    return -x\ndef f(x):\n    return g(x)",
    ),
    "a closure": tuple(
        f"def make(n):\n    def f(x):\n        return x + n\n    return f\nf = make({n})" for n in (1, 2)
    ),
    "a nested function": (
        "def f(x):\n    return [i + 1 for i in x]",
        "def f(x):\n    return [i + 2 for i in x]",
    ),
    "the bound arguments": (
        "import functools\ndef g(x, y):\n    return x + y\nf = functools.partial(g, y=1)",
        "import functools\ndef g(x, y):\n    return x + y\nf = functools.partial(g, y=2)",
    ),
    "a decorated function": tuple(
        "import functools\ndef twice(g):\n    @functools.wraps(g)\n    def h(x):\n        return g(x)\n    return h\n"
        f"@twice\ndef f(x):\n    return x + {n}"
        for n in (1, 2)
    ),
    "a method of a class": (
        "class C:\n    def g(self, x):\n        return x\ndef f(x):\n    return C().g(x)",
        "class C:\n    def g(self, x):\n        return -x\ndef f(x):\n    return C().g(x)",
    ),
    "an attribute of an object": tuple(
        f"class C:\n    def __init__(self, n):\n        self.n = n\nc = C({n})\ndef f(x):\n    return c.n"
        for n in (1, 2)
    ),
    "a value of a set": ("def f(x):\n    return x in {1, 2}", "def f(x):\n    return x in {1, 3}"),
    "a pattern": tuple(f"import re\nP = re.compile('{n}')\ndef f(x):\n    return P.sub('', x)" for n in "ab"),
}


def defined(source: str) -> Callable[..., Any]:
    """The function `f` of a source, as a Python worker gets it."""
    names: dict[str, Any] = {"__name__": "__dlt_source_0__"}
    exec(compile(source, "/data/source.py", "exec"), names)
    function: Callable[..., Any] = cloudpickle.loads(cloudpickle.dumps(names["f"]))
    return function


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_gives_another_text(edit: str) -> None:
    before, after = EDITS[edit]
    assert text_of(defined(before)) == text_of(defined(f"# Moved.\n\n{before}"))
    assert text_of(defined(before)) != text_of(defined(after))


def test_a_function_of_a_module_of_the_project_is_described_by_its_code(tmp_path: Path) -> None:
    texts = []
    for step in (1, 2):
        module = types.ModuleType("rules_of_the_project")
        module.__file__ = str(tmp_path / "rules.py")
        exec(compile(f"STEP = {step}\ndef add(x):\n    return x + STEP", module.__file__, "exec"), module.__dict__)
        sys.modules[module.__name__] = module
        try:
            texts.append(text_of(defined("import rules_of_the_project as r\ndef f(x):\n    return r.add(x)")))
        finally:
            del sys.modules[module.__name__]
    assert texts[0] != texts[1]


@pytest.mark.parametrize(
    "source",
    {
        "reads a file": "def f(x):\n    return open(x).read()",
        "reads the environment": "import os\ndef f(x):\n    return os.environ[x]",
        "imports by name": "import importlib\ndef f(x):\n    return importlib.import_module(x)",
        "imports a module of the project": "def f(x):\n    import tests.support.tables\n    return x",
        "holds an object of a library": "L = [object()]\ndef f(x):\n    return L",
    }.values(),
)
def test_what_cannot_be_known_has_no_text(source: str) -> None:
    with pytest.raises(NotKnown):
        text_of(defined(source))


def test_packages_count_by_name_and_version() -> None:
    assert "installed" in text_of(re.sub) and "math" in text_of(math.sqrt)
    assert text_of(functools.partial(math.floor, 1.5)) != text_of(functools.partial(math.ceil, 1.5))


@pytest.mark.parametrize("module", [python_functions, external_tables, notebooks], ids=lambda module: module.__name__)
def test_examples_hold(module: types.ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
