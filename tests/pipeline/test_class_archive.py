"""`dlt-local class-archive`: a session loads Spark's classes from the archive; all of them once."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dlt_local.spark.class_archive import class_archive

# The program of another Python environment, as far as the archive is concerned.
ELSEWHERE = "import sys; sys.prefix = sys.argv.pop(1); from dlt_local.cli.main import main; main()"
MAPPED = """
import sys; sys.prefix = sys.argv[1]
from dlt_local import create_session
pid = create_session()._jvm.java.lang.ProcessHandle.current().pid()
print(open(f"/proc/{pid}/maps").read())
"""


def test_delta_is_loaded_once_for_driver_and_executor(spark: SparkSession) -> None:
    jvm = spark._jvm
    assert jvm is not None
    loader = jvm.java.lang.Class.forName("org.apache.spark.sql.delta.DeltaLog").getClassLoader()
    assert loader.equals(jvm.java.lang.ClassLoader.getSystemClassLoader())
    assert "spark.jars" not in dict(spark.sparkContext.getConf().getAll())


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_session_maps_the_archive_that_the_command_has_written(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path), "class-archive"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    (archive,) = tmp_path.rglob("*.jsa")
    assert made.stdout.split() == [str(archive)]
    assert archive.relative_to(tmp_path) == class_archive().relative_to(sys.prefix)
    started = subprocess.run([sys.executable, "-c", MAPPED, str(tmp_path)], capture_output=True, text=True, check=True)
    assert str(archive) in started.stdout
    assert started.stderr == ""
    # One that does not fit is ignored without a word.
    archive.chmod(0o644)
    archive.write_bytes(b"of another Java")
    started = subprocess.run([sys.executable, "-c", MAPPED, str(tmp_path)], capture_output=True, text=True, check=True)
    assert started.stderr == ""
