"""Temporary folders that killed processes left are removed by the next one; those of living ones stay."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dlt_local.spark.temporary import temporary_folder

PROCESS = """
import signal, sys
from dlt_local.spark.temporary import folder_of_process
print(folder_of_process(), flush=True)
signal.pause() if sys.argv[1] == "killed" else None
"""


def test_the_folders_of_killed_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "dlt_local-notes").mkdir()
    ended = subprocess.run([sys.executable, "-c", PROCESS, "ended"], capture_output=True, text=True, check=True)
    assert not Path(ended.stdout.strip()).exists()
    killed = subprocess.Popen([sys.executable, "-c", PROCESS, "killed"], stdout=subprocess.PIPE, text=True)
    assert killed.stdout is not None
    left = Path(killed.stdout.readline().strip())
    with temporary_folder() as own:
        assert left.exists(), "its process is alive"
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        with temporary_folder() as other:
            assert {each.name for each in tmp_path.iterdir()} == {own.name, other.name, "dlt_local-notes"}
    assert [each.name for each in tmp_path.iterdir()] == ["dlt_local-notes"]
