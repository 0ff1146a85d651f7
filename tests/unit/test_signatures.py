"""Our decorators have the names, arguments, order and defaults of Databricks' decorators.

`tests/data/databricks_signatures.json` lists those (argument -> default, in order); it was written by hand from
Databricks' Python reference and its `databricks-dlt` package.
"""

import inspect
import json
from pathlib import Path
from typing import Any

import pyspark.pipelines
import pytest

from dlt_local.declarations import compatibility, decorators
from dlt_local.declarations.import_hook import pipeline_modules
from dlt_local.errors import DeclarationError

ROOT = Path(__file__).parents[2]
DATABRICKS: dict[str, dict[str, Any]] = json.loads((ROOT / "tests/data/databricks_signatures.json").read_text())
PUBLIC = {name: getattr(decorators, name) for name in decorators.__all__}
PASSED_BY_PYTHON = {"query_function", "user_event_hook_fn"}
ONLY_OPEN_SOURCE_SPARK = {"format"}
ACCEPTED_IN_BOTH_FORMS = {"apply_changes": {"name"}}
# Open-source Spark knows only SCD type 1, so its default is another one.
OTHER_DEFAULT_IN_SPARK = {("create_auto_cdc_flow", "stored_as_scd_type")}


def arguments(function: object) -> dict[str, Any]:
    """Argument -> default, as the committed table writes it."""
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    assert all(p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)
    return {
        p.name: "<required>" if p.default is p.empty else p.default
        for p in parameters
        if p.name not in PASSED_BY_PYTHON
    }


@pytest.mark.parametrize("name", DATABRICKS)
def test_arguments_their_order_and_their_defaults_are_databricks(name: str) -> None:
    ours = arguments(PUBLIC[name])
    more = ONLY_OPEN_SOURCE_SPARK | ACCEPTED_IN_BOTH_FORMS.get(name, set())
    assert [(n, d) for n, d in ours.items() if n not in more or n in DATABRICKS[name]] == list(DATABRICKS[name].items())


def test_every_public_name_is_one_of_databricks() -> None:
    assert set(PUBLIC) == set(DATABRICKS)


@pytest.mark.parametrize("name", pyspark.pipelines.__all__)
def test_arguments_of_open_source_spark_are_accepted(name: str) -> None:
    theirs, ours = arguments(getattr(pyspark.pipelines, name)), arguments(PUBLIC[name])
    same = {n: d for n, d in theirs.items() if (name, n) not in OTHER_DEFAULT_IN_SPARK and d != "<required>"}
    assert {n: ours.get(n, "missing") for n in same} == same
    assert set(theirs) <= set(ours)


def test_the_compatibility_table_lists_every_public_name() -> None:
    assert set(compatibility.functions()) == set(PUBLIC)


def test_the_compatibility_page_is_generated_from_the_table() -> None:
    page = (ROOT / "docs/engine/compatibility.md").read_text()
    assert page == compatibility.page(), (
        "run: .venv/bin/python -m dlt_local compatibility > docs/engine/compatibility.md"
    )


@pytest.mark.parametrize("name", compatibility.refused_functions())
def test_a_refused_function_is_refused_by_name_with_an_alternative(name: str) -> None:
    with pipeline_modules(None), pytest.raises(DeclarationError) as refused:
        import dlt

        getattr(dlt, name)
    assert f"`dlt.{name}` does not run on this machine" in str(refused.value)
    assert "use `" in str(refused.value)
    assert __file__ in str(refused.value)


def test_a_misspelt_name_gets_its_near_match() -> None:
    with pipeline_modules(None), pytest.raises(AttributeError, match="did you mean `create_streaming_table`"):
        from pyspark import pipelines as dp

        dp.create_streamingtable("t")


def test_hasattr_works_as_on_any_module() -> None:
    with pipeline_modules(None):
        from pyspark import pipelines as dp

        assert getattr(dp, "nothing_of_this_name", None) is None
        assert not hasattr(dp, "__path__")
