"""Temporary folders that killed processes left are removed by the next one; those of living ones stay."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from dlt_local.spark import temporary


def test_the_folders_of_dead_processes_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f"dlt_local-{dead.pid}_x1", f"dlt_local-{os.getppid()}_x2", "dlt_local-notes", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    folder = temporary.create_folder()
    assert folder.parent == tmp_path
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {folder.name, f"dlt_local-{os.getppid()}_x2", "dlt_local-notes", "other"}
