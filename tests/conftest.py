"""Shared by many tests: the Spark session, and a shop after all its updates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession
from tests.support.shop_pipeline import Shop, StagedShop

from dlt_local import create_session
from dlt_local.spark.session import without_optimizing_compiler

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

without_optimizing_compiler()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """Give each file to one worker, and all files about the shop to the same one: it stages the shop once."""
    from xdist.scheduler import LoadFileScheduling

    class ByFile(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file: str = super()._split_scope(nodeid)
            return "the shop" if "/pipeline/test_shop_" in file else file

    return ByFile(config, log)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The engine's own session on two cores."""
    session = create_session({"spark.master": "local[2]"})
    yield session
    session.stop()


@pytest.fixture(scope="session")
def staged_shop(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> StagedShop:
    """The shop after an update for each capture; tests read it, and may run updates without new records."""
    staged = StagedShop(Shop(tmp_path_factory.mktemp("staged"), spark))
    staged.run()
    return staged
