"""Error conditions: what the code raises is listed with its way out, what is listed is raised, and has a message."""

import ast
import json
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import pytest
from tests.pipeline import test_messages as messages_with_spark
from tests.support.messages import FOLDER
from tests.unit import test_messages as messages
from tests.unit.test_architecture import ENGINE, PIPELINES, sources
from tools import troubleshooting

from cdc import conditions as cdc_conditions
from cdc.debezium.rejects import Reason
from cdc.errors import Condition, RunCondition
from dlt_local.conditions import CONDITIONS, GROUPS
from dlt_local.delta.table_position import Alteration

LIST = ENGINE / "conditions.py"
NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+(\.[A-Z_]+)?")
ERRORS = {"DeclarationError", "FlowError", "StorageAltered", "ExpectationFailed", "SetupError"}
"""The classes whose first argument is a condition."""
NOT_CONDITIONS = {
    # Of other programs.
    *("JAVA_HOME", "PYSPARK_PYTHON", "XDG_CACHE_HOME", "SPARK_LOCAL_IP", "SPARK_SUBMIT_OPTS", "NO_CODEGEN"),
    *("TABLE_OR_VIEW_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE", "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"),
    *("UNRESOLVED_ROUTINE", "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "IMPORT_NAME", "BINARY_OP_WRONG_TYPE"),
    # Kinds of what is in a plan, of Spark's `TreePattern`.
    *("CURRENT_LIKE", "PLAN_EXPRESSION", "PYTHON_UDF", "SCALA_UDF", "VARIABLE_REFERENCE"),
    # Settings and constants of the engine.
    *("DLT_LOCAL_DRIVER_MEMORY", "DLT_LOCAL_FAULT", "DLT_LOCAL_MODULES", "DLT_LOCAL_SECRET", "BUNDLE_VAR_"),
    "AUTO_LOADER_FILE_ARRIVED_MEANWHILE",
}
"""Texts in upper case that are no conditions."""
HOW_TO_LIST = """
{what}: {names}
Add each to pipelines/dlt_local/conditions.py, in the group where its reader looks:
    Condition("NAME", "when it comes, a clause", "What to do, with the command."),
then a case to tests/unit/test_messages.py (or to tests/pipeline/test_messages.py if it needs Spark), then run
    UPDATE_GOLDEN=1 pytest tests/unit/test_messages.py tests/pipeline/test_messages.py
    python -m tools.troubleshooting
(a text that is no condition goes to NOT_CONDITIONS in this file)"""
HOW_TO_LIST_CDC = """
{what}: {names}
Add each to pipelines/cdc/conditions.py (SPECS, RUNS or REJECTS), such as
    Condition.NAME: "What to do, with the command.",
then a golden message: tests/unit/spec_faults/<name>.txt for a fault of a spec, a case in tests/unit/test_messages.py
for an error of a run (UPDATE_GOLDEN=1 writes both); for a reason of a reject a case in
tests/unit/test_decode_outcomes.py, and its line in tests/support/reject_messages.txt. Then run
    python -m tools.troubleshooting"""


def nodes(file: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def constants(file: Path) -> set[str]:
    """The strings of a file, those inside of f-strings too."""
    return {node.value for node in nodes(file) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def engine_files() -> list[Path]:
    return [file for file in sources("dlt_local") if file != LIST]


ENGINE_TEXTS = {text for file in engine_files() for text in constants(file)}
PARTS = {name.rpartition(".")[2] for name in CONDITIONS if "." in name}
"""What follows the dot of a condition; some are put together from their parts."""


def assembled() -> Iterator[str]:
    """Conditions put together from a prefix and a name: of an alteration, or a part that stands in the source."""
    prefixes = {text for text in ENGINE_TEXTS if re.fullmatch(r"AUTOCDC_[A-Z_]+\.", text)}
    yield from (f"{prefix}{part}" for prefix in prefixes for part in PARTS & ENGINE_TEXTS)
    yield from (f"TARGET_{kind.name}" for kind in Alteration)


def test_what_the_engine_raises_is_listed() -> None:
    named = {text for text in ENGINE_TEXTS if NAME.fullmatch(text)} - NOT_CONDITIONS - PARTS
    losses = {
        str(argument.value)
        for file in engine_files()
        for node in nodes(file)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Loss"
        for argument in node.args[:1]
        if isinstance(argument, ast.Constant)
    }
    raised = named | {f"AUTOCDC_INVALID_STATE.{loss}" for loss in losses} | {f"TARGET_{a.name}" for a in Alteration}
    assert losses
    missing = sorted(raised - CONDITIONS.keys())
    assert not missing, HOW_TO_LIST.format(what="not listed", names=", ".join(missing))


def test_what_is_listed_the_engine_raises() -> None:
    unused = sorted(CONDITIONS.keys() - ENGINE_TEXTS - set(assembled()))
    assert not unused, f"nothing raises these: remove them from {LIST}, with their golden messages: {unused}"


def test_no_condition_is_hidden_from_this_test() -> None:
    """A condition is a text in the source, a variable that has one, or put together where `assembled` knows of it."""
    known = re.compile(r"AUTOCDC_(INVALID_STATE|MICROBATCH_VALIDATION)\.|TARGET_")
    wrong = []
    for file in engine_files():
        for node in nodes(file):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            where = f"{file.relative_to(PIPELINES)}:{node.lineno}"
            if node.func.id == "LocalPipelineError":
                wrong.append(f"{where} raises the base class; raise SetupError, which has a condition")
            if node.func.id in ERRORS and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value not in CONDITIONS:
                    wrong.append(f"{where} raises {first.value}, which is not listed")
                start = first.values[0] if isinstance(first, ast.JoinedStr) else None
                is_known = isinstance(start, ast.Constant) and known.fullmatch(str(start.value))
                if not isinstance(first, ast.Constant | ast.Name | ast.Attribute | ast.Subscript) and not is_known:
                    wrong.append(f"{where} makes up its condition; write it out, so that it can be found")
    assert wrong == []


def test_a_condition_is_listed_once_and_reads_as_a_sentence() -> None:
    every = [each for group in GROUPS.values() for each in group]
    assert len(every) == len(CONDITIONS)
    for each in every:
        assert not each.when.endswith("."), each
        assert each.way_out.endswith("."), each
        assert "--full-refresh-all" not in each.way_out, each


def test_every_condition_has_a_golden_message() -> None:
    made = {*messages.DECLARED, *messages.BUNDLES, *messages.RAISED, *messages.CAUSES, "NO_UPDATE", "NO_DELTA_LAKE"}
    made |= {*messages_with_spark.REFUSED, *messages_with_spark.FAILED.values(), "NOT_A_RECORD"}
    wanted = CONDITIONS.keys() | {each.name for each in RunCondition}
    missing = sorted(wanted - made)
    assert not missing, HOW_TO_LIST.format(what="no test has its whole message", names=", ".join(missing))
    assert {file.stem for file in FOLDER.glob("*.txt")} == wanted


def test_every_message_says_what_to_do() -> None:
    # What the user's own code or query raised, and two whose message says it all.
    without = {"FLOW_FAILED", "SOURCE_FILE_FAILED", "QUERY_FAILED"}
    without |= {"AUTOCDC_NON_BOOLEAN_CONDITION", "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA"}
    texts = {file.stem: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.txt")}
    assert {name for name, text in texts.items() if "fix: " not in text} <= without


@pytest.mark.parametrize(
    ("defined", "listed"),
    [(Condition, cdc_conditions.SPECS), (RunCondition, cdc_conditions.RUNS), (Reason, cdc_conditions.REJECTS)],
    ids=["specs", "runs", "rejects"],
)
def test_what_cdc_defines_has_its_way_out_and_is_used(defined: type[Enum], listed: dict[Enum, str]) -> None:
    missing = [each.name for each in defined if each not in listed]
    assert not missing, HOW_TO_LIST_CDC.format(what="without a way out", names=", ".join(missing))
    assert all(way_out.endswith(".") for way_out in listed.values())
    files = [file for file in sources("cdc") if file != PIPELINES / "cdc/conditions.py"]
    attributes = [node for file in files for node in nodes(file) if isinstance(node, ast.Attribute)]
    used = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == defined.__name__}
    schemas = (PIPELINES / "cdc/spec/schema").glob("*.json")
    used |= {text for file in schemas for text in re.findall(r'"x-condition": "(\w+)"', file.read_text())}
    used |= {text for file in files for text in constants(file)}
    assert [each.name for each in defined if each.name not in used] == [], "defined, but nothing reports it: remove it"


def test_the_page_is_what_the_lists_make_of_it() -> None:
    page = troubleshooting.PAGE.read_text(encoding="utf-8")
    assert page == troubleshooting.page(page), "run: python -m tools.troubleshooting"


def test_options_in_ways_out_exist() -> None:
    commands = json.dumps([each.way_out for each in CONDITIONS.values()])
    options = {option for option in re.findall(r"--[a-z-]+", commands)}
    engine = "".join(file.read_text() for file in (ENGINE / "cli").glob("*.py"))
    assert options
    assert [option for option in options if f'"{option}"' not in engine] == []
