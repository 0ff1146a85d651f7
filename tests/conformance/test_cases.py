"""Every AUTO CDC case through the engine.

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

_TOGETHER = 40
_APIS: tuple[Api, ...] = get_args(Api)


def _written_in(case: Case) -> Sequence[Api]:
    told = os.environ.get("CONFORMANCE_API")
    if told == "both" and not case.facts.get("where"):
        return _APIS
    if case.facts.get("where"):
        return ["dlt"]
    # Half of the cases are written in the older API; which half must not depend on what others there are.
    return [api for api in _APIS if api == (told or _APIS[zlib.crc32(case.name.encode()) % 2])]


CASES = [(case, api) for case in load(*folders()) for api in _written_in(case)]
_IDS = [f"{case.name}-{api}" for case, api in CASES]


@pytest.fixture(scope="session")
def outcome_of(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Callable[[Case, Api], Outcome]:
    """Outcome of a case; the first that is asked for runs all that share a pipeline with it."""
    chosen = {item.callspec.id for item in request.session.items if hasattr(item, "callspec")}
    groups = list(_groups([pair for pair, name in zip(CASES, _IDS, strict=True) if name in chosen]))
    known: dict[tuple[str, Api], Outcome] = {}

    def outcome(case: Case, api: Api) -> Outcome:
        if (case.name, api) not in known:
            together = next(group for of, group in groups if of == api and case in group)
            run = Run(packed(together), tmp_path_factory.mktemp("run"), spark, api)
            known.update({(name, api): found for name, found in unpacked(run.cases, run.outcomes()).items()})
        return known[case.name, api]

    return outcome


def _groups(pairs: Sequence[tuple[Case, Api]]) -> Iterator[tuple[Api, list[Case]]]:
    """Cases that can share a pipeline: one API, one session configuration, not too many."""
    kinds = sorted({(api, _configuration(case)) for case, api in pairs})
    for api, configuration in kinds:
        alike = [case for case, of in pairs if of == api and _configuration(case) == configuration]
        # Cases that can share a flow as well stand side by side, so that they come into one group.
        alike.sort(key=signature)
        yield from ((api, alike[at : at + _TOGETHER]) for at in range(0, len(alike), _TOGETHER))


def _configuration(case: Case) -> str:
    return repr(case.facts.get("spark_conf") or {})


# Our own cases take a quarter of an hour: `make conformance` runs them, `make test` only the transcribed ones.
_PARAMETERS = [
    pytest.param(case, api, id=name, marks=[pytest.mark.long] if case.name.startswith("own_") else [])
    for (case, api), name in zip(CASES, _IDS, strict=True)
]


@pytest.mark.parametrize(("case", "api"), _PARAMETERS)
def test_the_target_is_what_the_case_states(
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
