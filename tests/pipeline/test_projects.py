"""Projects in the styles of other people's run unchanged, update after update; without new input, streams are idle."""

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
    assert project.rows_streamed(project.pipeline.run()) == 0
    assert list(project.differences(project.case.updates[-1])) == []
