"""Shared by many tests: the Spark session, and a shop after all its updates."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from tests.support.shop_pipeline import Shop, StagedShop

from dlt_local import create_session


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
