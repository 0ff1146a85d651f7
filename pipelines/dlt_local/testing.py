"""A pytest plugin to test pipelines: the fixture `pipeline` takes rows, runs updates and compares tables.

Where the engine is installed, pytest finds it; in a checkout `conftest.py` has ``pytest_plugins =
["dlt_local.testing"]``. A mark names the source files, or the bundle whose pipeline it is:

    pytestmark = pytest.mark.pipeline(sources=["orders.py"])  # or pipeline(bundle="..", target="local")

    def test_an_order_without_a_total_is_dropped(pipeline):
        pipeline.give("landing.orders", [{"id": 1, "total": 5.0}, {"id": 2}])
        pipeline.run()
        pipeline.assert_table("orders", [{"id": 1, "total": 5.0}])

Paths in the mark are relative to the test file. `give` writes a folder of JSON Lines; source files get its path by
``spark.conf.get("landing.orders")``.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from chispa.dataframe_comparer import assert_df_equality
from pyspark.sql import DataFrame, SparkSession

from dlt_local.bundle import bundle_pipeline, read_bundle
from dlt_local.flows.outcomes import Update
from dlt_local.spark.session import create_session, without_optimizing_compiler
from dlt_local.updates.pipeline import LocalPipeline

Rows = Sequence[Mapping[str, Any]]


class PipelineUnderTest:
    """A pipeline with a temporary storage folder."""

    def __init__(self, folder: Path, spark: SparkSession, sources: Sequence[str | Path], **settings: Any) -> None:
        """Define the pipeline; ``settings`` are further arguments of `LocalPipeline`."""
        self._folder = folder
        self._files = 0
        settings.setdefault("name", "test")
        self.pipeline = LocalPipeline(sources=sources, storage=folder / "storage", spark=spark, **settings)
        self.update: Update | None = None
        """The last update, None before the first."""

    @property
    def spark(self) -> SparkSession:
        """The session that the pipeline runs on."""
        return self.pipeline.spark

    def give(self, key: str, rows: Rows = (), file: str | Path | None = None) -> Path:
        """Add a JSON Lines file to an input folder, whose path the configuration has under ``key``.

        Args:
            key: the configuration key.
            rows: the rows of the file; dates and decimals become text.
            file: a file to copy instead.

        Returns:
            The input folder.
        """
        inbox = self._folder / "given" / key
        inbox.mkdir(parents=True, exist_ok=True)
        self.pipeline.configuration[key] = str(inbox)
        self._files += 1
        # Renamed once it is complete: Spark ignores hidden files when it lists the folder.
        hidden = inbox / f".{self._files:04}"
        if file is not None:
            shutil.copyfile(file, hidden)
        else:
            hidden.write_text("".join(json.dumps(dict(row), default=str) + "\n" for row in rows), encoding="utf-8")
        hidden.rename(inbox / f"{self._files:04}{Path(file).suffix if file else '.json'}")
        return inbox

    def run(self, **selection: Any) -> Update:
        """Run an update; arguments as for `LocalPipeline.run`."""
        self.update = self.pipeline.run(**selection)
        return self.update

    def table(self, name: str) -> DataFrame:
        """The current rows of a dataset."""
        return self.pipeline.table(name)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The current rows of a dataset as dicts, in a stable order."""
        rows = [row.asDict(recursive=True) for row in self.table(name).collect()]
        return sorted(rows, key=lambda row: json.dumps(row, default=str, sort_keys=True))

    def failed(self, dataset: str) -> dict[str, int]:
        """Expectation -> number of rows that violated it in the last update."""
        assert self.update is not None, "no update has run"
        name = dataset if "." in dataset else f"{self.pipeline.schema}.{dataset}"
        counts: dict[str, int] = {}
        for metrics in self.update[name].flows.values():
            for expectation, rows in metrics.failed.items():
                counts[expectation] = counts.get(expectation, 0) + rows
        return counts

    def assert_table(self, name: str, expected: Rows | DataFrame, ignore: Sequence[str] = ()) -> None:
        """Assert that a dataset has exactly these rows, in any order.

        Args:
            name: the dataset.
            expected: rows, of which only the columns that they name are compared; or a frame.
            ignore: columns that are not compared.

        Raises:
            DataFramesNotEqualError: the rows differ; the message shows both side by side.
        """
        actual = self.table(name)
        if not isinstance(expected, DataFrame):
            given = {column for row in expected for column in row}
            unknown = given - set(actual.columns)
            assert not unknown, f"{name} has no column {', '.join(sorted(unknown))}; it has {', '.join(actual.columns)}"
            compared = [c for c in actual.columns if c not in ignore and (c in given or not expected)]
            actual = actual.select(*(f"`{column}`" for column in compared))
            expected = self.spark.createDataFrame(
                [tuple(row.get(c) for c in compared) for row in expected], actual.schema
            )
        assert_df_equality(
            actual,
            expected,
            ignore_nullable=True,
            ignore_column_order=True,
            ignore_row_order=True,
            ignore_metadata=True,
            ignore_columns=[column for column in ignore if column in actual.columns] or None,
        )


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    config.addinivalue_line(
        "markers",
        "pipeline(sources, ...) or pipeline(bundle, ...): what the fixture `pipeline` runs; see dlt_local.testing",
    )


@pytest.fixture(scope="session")
def pipeline_spark() -> Iterator[SparkSession]:
    """The session that pipelines run on; define a fixture of this name to use another one."""
    existing = SparkSession.getActiveSession()
    without_optimizing_compiler()
    session = existing or create_session({"spark.master": "local[2]"})
    yield session
    if existing is None:
        session.stop()


@pytest.fixture
def pipeline(request: pytest.FixtureRequest, tmp_path: Path, pipeline_spark: SparkSession) -> PipelineUnderTest:
    """The pipeline that the test's mark defines, before its first update."""
    mark = request.node.get_closest_marker("pipeline")
    if mark is None or not (mark.args or mark.kwargs.get("sources") or mark.kwargs.get("bundle")):
        message = (
            'name the source files: pytestmark = pytest.mark.pipeline(sources=["my_pipeline.py"]), '
            'or the folder of a databricks.yml: pytestmark = pytest.mark.pipeline(bundle="..")'
        )
        raise pytest.UsageError(message)
    settings = _settings(mark, request.path.parent)
    return PipelineUnderTest(tmp_path, pipeline_spark, settings.pop("sources"), **settings)


def _settings(mark: pytest.Mark, folder: Path) -> dict[str, Any]:
    """The arguments of the pipeline: those of the mark, with paths relative to ``folder``, above the bundle's."""
    given = dict(mark.kwargs)
    bundle, target, key = (given.pop(name, None) for name in ("bundle", "target", "pipeline"))
    settings = {} if bundle is None else _of_bundle(folder / bundle, target, key)
    sources = given.pop("sources", None) or (mark.args[0] if mark.args else None)
    if sources is not None:
        names = [sources] if isinstance(sources, str) else sources
        settings["sources"] = [str(folder / source) for source in names]
    root = given.pop("root_path", None)
    if root is not None:
        settings["root_path"] = folder / root
    configuration = {**settings.pop("configuration", {}), **given.pop("configuration", {})}
    return {**settings, **given, "configuration": configuration}


def _of_bundle(folder: Path, target: str | None, key: str | None) -> dict[str, Any]:
    found = bundle_pipeline(read_bundle(folder.resolve(), target), key)
    return {
        "name": found.name,
        "sources": found.sources,
        "catalog": found.catalog,
        "schema": found.schema,
        "root_path": found.root_path,
        "configuration": dict(found.configuration),
    }
