"""The benchmarks at their smallest scale run, and their tables equal the peers'."""

import pytest
from pyspark.sql import SparkSession
from tests.benchmarks import MEASURES
from tests.benchmarks.bench import Bench
from tests.benchmarks.page import Setting, page, picture


@pytest.fixture(scope="module")
def bench(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(spark, spark, tmp_path_factory.mktemp("bench"), scale=0.0002, rounds=1, warm_up=0)


_SMOKE = ("first-load", "versions", "to-gold", "growth")
_MEASURES = [name if name in _SMOKE else pytest.param(name, marks=pytest.mark.long) for name in MEASURES]


@pytest.mark.parametrize("name", _MEASURES)
def test_a_measure_runs_with_equal_tables_and_is_on_the_page(bench: Bench, name: str) -> None:
    result = MEASURES[name](bench)
    assert len(result.times.ours) == len(result.times.peers) == 1
    assert result.ratio > 0
    assert f"| {result.measure} |" in page([result], Setting("a machine", scale=1, rounds=1))
    assert (result.measure in picture([result])) == (result.is_reached is not None)
