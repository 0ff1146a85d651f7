"""Every AUTO CDC case, run through the engine, leads to the tables that it states.

CONFORMANCE_CASES=folder[:folder] runs other cases; CONFORMANCE_API=both writes each case in both APIs.
"""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import get_args

import pytest
from pyspark.sql import SparkSession
from tests.conformance.case import Case, folders, load
from tests.conformance.packing import packed, signature, unpacked
from tests.conformance.runner import Outcome, Run
from tests.conformance.source import Api
from tests.conformance.tables import difference

from dlt_local.errors import LocalPipelineError

_CASES_OF_A_PIPELINE = 40
_APIS: tuple[Api, ...] = get_args(Api)


def _apis_of(case: Case) -> Sequence[Api]:
    chosen = os.environ.get("CONFORMANCE_API")
    if case.facts.get("where"):
        return ["dlt"]
    if chosen == "both":
        return _APIS
    # The API is chosen by the case's own name, so adding a case changes no other.
    return [api for api in _APIS if api == (chosen or _APIS[zlib.crc32(case.name.encode()) % 2])]


CASES = [(case, api) for case in load(*folders()) for api in _apis_of(case)]
_IDS = [f"{case.name}-{api}" for case, api in CASES]


@pytest.fixture(scope="session")
def outcome_of(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[Case, Api], Outcome]:
    """The outcome of a case; the first call for a pipeline runs all selected cases that share it."""
    selected = {item.callspec.id for item in request.session.items if hasattr(item, "callspec")}
    groups = list(_groups([pair for pair, name in zip(CASES, _IDS, strict=True) if name in selected]))
    known: dict[tuple[str, Api], Outcome] = {}

    def outcome(case: Case, api: Api) -> Outcome:
        if (case.name, api) not in known:
            group = next(cases for group_api, cases in groups if group_api == api and case in cases)
            run = Run(packed(group), tmp_path_factory.mktemp("run"), spark, api)
            known.update({(name, api): result for name, result in unpacked(run.cases, run.outcomes()).items()})
        return known[case.name, api]

    return outcome


def _groups(pairs: Sequence[tuple[Case, Api]]) -> Iterator[tuple[Api, list[Case]]]:
    """Cases that can share a pipeline: one API, one session configuration, not too many."""
    kinds = sorted({(api, _configuration(case)) for case, api in pairs})
    for api, configuration in kinds:
        cases = [case for case, case_api in pairs if case_api == api and _configuration(case) == configuration]
        # Cases that can share a flow are neighbours, so that they end up in one group.
        cases.sort(key=signature)
        size = _CASES_OF_A_PIPELINE
        yield from ((api, cases[start : start + size]) for start in range(0, len(cases), size))


def _configuration(case: Case) -> str:
    return repr(case.facts.get("spark_conf") or {})


# Our own cases take a quarter of an hour: `make conformance` runs them, `make test` runs only the transcribed ones.
_PARAMETERS = [
    pytest.param(case, api, id=name, marks=[pytest.mark.long] if case.name.startswith("own_") else [])
    for (case, api), name in zip(CASES, _IDS, strict=True)
]


@pytest.mark.parametrize(("case", "api"), _PARAMETERS)
def test_the_target_has_the_rows_that_the_case_states(
    case: Case, api: Api, outcome_of: Callable[[Case, Api], Outcome], tmp_path: Path
) -> None:
    outcome = outcome_of(case, api)
    if outcome.crash:
        raise AssertionError(f"{case.name} failed") from outcome.crash
    for batch, got in outcome.tables.items():
        acceptable = case.acceptable_after(batch) or []
        assert any(not difference(rows, got) for rows in acceptable), _message(case, batch, got)
    if case.failing_batch is not None:
        assert outcome.refusal, f"{case.name}: batch {case.failing_batch} was not refused"
        assert isinstance(outcome.refusal, LocalPipelineError), f"not a named refusal: {outcome.refusal!r}"
    if outcome.replayed is not None:
        last = len(case.batches) - 1
        acceptable = case.acceptable_after(last) or [outcome.tables.get(last, [])]
        assert any(not difference(rows, outcome.replayed) for rows in acceptable), "the replay changed rows"


def _message(case: Case, batch: int, got: list[dict[str, object]]) -> str:
    acceptable = case.acceptable_after(batch) or []
    return f"{case.name} after batch {batch} ({case.facts.get('source')}):\n{difference(acceptable[0], got)}"
