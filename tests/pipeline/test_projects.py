"""Projects in the styles of other people's run unchanged, update after update, and are idle without new input."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.projects import NAMES, Project


@pytest.mark.parametrize("name", NAMES)
def test_a_project_runs_unchanged(spark: SparkSession, tmp_path: Path, name: str) -> None:
    project = Project(name, tmp_path, spark)
    for step in project.case.updates:
        project.run(step)
        assert list(project.differences(step)) == []
    last = project.pipeline.run()
    wrote = [each.name for each in last.datasets for metrics in each.flows.values() if metrics.num_output_rows]
    assert wrote == []
