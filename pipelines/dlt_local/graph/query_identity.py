"""The identity of a query: a hash that is the same only for queries that do the same.

For a stream the plan's text is enough, since a streaming table keeps its rows whatever its query becomes. For any other
query it is not: as text Spark's plan leaves out what it has as JSON (which column of that name, where a literal ends,
the type of a value), and the other way round (the options of a relation, the order of a sort), so the hash is of both.
Neither has the bodies of Python functions.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyspark
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from dlt_local.graph.python_functions import NotKnown, text_of
from dlt_local.graph.query_inputs import EXPRESSION_ID, SCRATCH, without_numbers
from dlt_local.spark import jvm

FORM, OF_STREAM = "2:", "3:"
"""How the hash of a batch query begins, and that of a stream. The first form of hashes had no such prefix."""
FORMS = (FORM, OF_STREAM)

IN_FULL = {"spark.sql.debug.maxToStringFields": str(2**31 - 1), "spark.sql.maxPlanStringLength": str(2**31 - 64)}
"""Conf by which Spark leaves nothing out of the text of a plan."""
CUT = {"spark.sql.debug.maxToStringFields": "25", "spark.sql.maxPlanStringLength": str(2**31 - 16)}
"""Spark's defaults, with which hashes of the form before were made."""

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_EXPRESSION_ID, _LITERAL = f"{_EXPRESSIONS}ExprId", f"{_EXPRESSIONS}Literal"
_OF_NOW = ("CurrentDate", "CurrentTime", "CurrentTimestamp", "CurrentBatchTimestamp", "LocalTimestamp", "Now")
_CHANGING = {f"{_EXPRESSIONS}{name}" for name in (*_OF_NOW, "CurrentUser")}
"""Functions that Spark takes for deterministic, since their value is the same in all of one query."""
_NOT_DESCRIBED = {f"{_EXPRESSIONS}{name}" for name in ("ScalaUDF", "VariableReference")}
"""Expressions of which neither text nor JSON has all: functions of the JVM, and session variables."""
_ANY_ORDER = ("AnyValue", "CollectList", "CollectSet", "First", "Last", "ListAgg", "Mode")
"""Aggregates that are not deterministic because of the order of the rows only: whichever it was, it stays right."""
_OF_THE_MOMENT = {"jvmId", "createTime", "lastAccessTime", "owner", "__dataset_id", "__col_position"}
_VARIABLE = re.compile(r"_\d+$")
_NOT_OF_RESULTS = ("spark.sql.warehouse.dir", *IN_FULL)


@dataclass(frozen=True)
class QueryIdentity:
    """What tells a query from every other one."""

    hash: str
    is_lasting: bool
    """True if the same query over the same rows gives the same result again, and nothing of it is unknown."""


def query_identity(plan: Any, text: str, as_json: str | None) -> QueryIdentity:
    """The identity of a query, batch or stream.

    Args:
        plan: its analyzed plan.
        text: the plan as a tree.
        as_json: the plan as JSON; None if it has none.
    """
    reader = _Json()
    normalized = reader.normalized(as_json or "null")
    functions = _python_functions(plan) if reader.calls_python else ()
    parts = [pyspark.__version__, without_numbers(text), normalized, functions]
    is_known = as_json is not None and functions is not None and not reader.is_incomplete
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return QueryIdentity(f"{FORM}{digest}", is_known and _is_deterministic(plan))


def stream_identity(session: SparkSession, plan: Any, text: str) -> QueryIdentity:
    """The identity of a stream, by the text of its plan, in which columns have the numbers of their first appearance.

    The plan of a table's decoding has 44 KB as text, and 4 MB as JSON.
    """
    ids: dict[str, int] = {}
    numbered = EXPRESSION_ID.sub(lambda found: f"#_{ids.setdefault(found[1], len(ids))}", text)
    functions = _python_functions(plan) if jvm.calls_python(session, plan) else ()
    parts = [pyspark.__version__, without_numbers(numbered), functions]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    is_known = functions is not None and not jvm.is_of_the_moment(session, plan)
    return QueryIdentity(f"{OF_STREAM}{digest}", is_known and _is_deterministic(plan))


def settings_of_results(session: SparkSession) -> Mapping[str, str]:
    """The conf of a session on which the results of its queries may depend."""
    found = {key: str(value) for key, value in dict(session.conf.getAll).items() if key.startswith("spark.sql.")}
    return {key: found[key] for key in sorted(found) if key not in _NOT_OF_RESULTS}


@dataclass
class _Json:
    """Reads a plan's JSON once: what differs from one analysis to the next is left out."""

    calls_python: bool = False
    is_incomplete: bool = False
    """True if it has expressions whose value may change, or which it does not describe."""
    _ids: dict[object, int] = field(default_factory=dict)
    """Spark's id of an expression -> its number in this plan, as they come."""

    def normalized(self, text: str) -> Any:
        # While the text is parsed: the JSON of a table's decoding has 60,000 objects.
        return json.loads(text, object_hook=self._object)

    def _object(self, part: dict[str, Any]) -> Any:
        kind = part.get("class")
        if kind is None:
            if part.get("product-class") == _EXPRESSION_ID:
                return self._ids.setdefault(part["id"], len(self._ids))
        elif kind == _LITERAL:
            return self._literal(part)
        elif isinstance(kind, str):
            self._note(kind)
            if kind.endswith("NamedLambdaVariable"):
                # pyspark numbers the variables of lambda functions through the whole process.
                part["name"] = _VARIABLE.sub("", str(part["name"]))
        if not _OF_THE_MOMENT.isdisjoint(part):
            part = {key: each for key, each in part.items() if key not in _OF_THE_MOMENT}
        for key, each in part.items():
            if isinstance(each, str | list) and each:
                part[key] = _without_scratch(each)
        return part

    def _note(self, kind: str) -> None:
        self.is_incomplete |= kind in _CHANGING or kind in _NOT_DESCRIBED
        self.calls_python |= ".Python" in kind

    def _literal(self, part: dict[str, Any]) -> object:
        value, kind = part.get("value"), part.get("dataType")
        # The text has binary values, here is only their address. Values of nested types are ambiguous in both.
        self.is_incomplete |= value is not None and not isinstance(kind, str)
        return [None if kind == "binary" else value, kind]


def _without_scratch(part: Any) -> Any:
    """A text, or the texts of a list, without the path of a scratch folder; objects have been read before."""
    if isinstance(part, str):
        return SCRATCH.sub("", part) if "dlt_local-" in part else part
    return [_without_scratch(each) for each in part] if isinstance(part, list) else part


def _python_functions(plan: Any) -> tuple[str, ...] | None:
    """The texts of the Python functions that a plan calls; None if one of them has no exact text."""
    try:
        pickled = [command for each in jvm.expressions(plan) if (command := jvm.python_function(each)) is not None]
        return tuple(text_of(cloudpickle.loads(command)) for command in pickled)
    except NotKnown:
        return None
    except Exception:
        # A user's class may do anything when it is unpickled. Then it is not known.
        return None


def _is_deterministic(plan: Any) -> bool:
    """True if no expression of the plan gives another result for the same rows, but for their order."""
    plans = [plan, *jvm.elements(plan.subqueriesAll())]
    if all(each.deterministic() for each in plans):
        return True
    return all(each.deterministic() or _is_any_order(each) for each in jvm.expressions(plan))


def _is_any_order(expression: Any) -> bool:
    """True if an expression is not deterministic only because of the order of rows, or of what is below it."""
    name = str(expression.getClass().getSimpleName())
    below = jvm.elements(expression.children())
    return name in _ANY_ORDER or name.endswith("Subquery") or not all(each.deterministic() for each in below)
