"""Input files of a stream against Spark's log of what it has read; without Spark."""

import doctest
import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from dlt_local.errors import FlowError
from dlt_local.flows import input_files
from dlt_local.flows.input_files import InputFiles
from dlt_local.graph.stream_sources import FileSource

READ_AT = 1_772_366_400_123
"""2026-03-01T12:00:00.123Z."""


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """A folder whose file `a b.jsonl` a stream has read."""
    folder = tmp_path / "rows"
    folder.mkdir()
    file(folder / "a b.jsonl", READ_AT)
    return folder


@pytest.fixture
def checkpoint(tmp_path: Path, rows: Path) -> Path:
    log = tmp_path / "checkpoint" / "sources" / "0"
    log.mkdir(parents=True)
    (log / "0").write_text(f"v1\n{entry(rows / 'gone.jsonl', 1)}\n{entry(rows / 'a b.jsonl', 7)}")
    (log / "1.compact").write_text(f"v1\n{entry(rows / 'gone.jsonl', 1)}\n{entry(rows / 'a b.jsonl', READ_AT)}")
    return tmp_path / "checkpoint"


def entry(path: Path, at: int) -> str:
    return json.dumps({"path": path.as_uri(), "timestamp": at, "batchId": 0})


def file(path: Path, milliseconds: int) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    os.utime(path, ns=(milliseconds * 1_000_000,) * 2)


def files(checkpoint: Path, rows: Path, *sources: FileSource) -> InputFiles:
    return InputFiles.of("bronze.orders", sources or [FileSource(str(rows))], checkpoint)


def test_a_file_as_it_was_read_is_accepted(checkpoint: Path, rows: Path) -> None:
    files(checkpoint, rows).check_unchanged()
    assert files(checkpoint, rows).passed_over() == []


def test_files_are_found_in_the_log_whatever_their_names(checkpoint: Path, rows: Path) -> None:
    log = checkpoint / "sources" / "0" / "2"
    log.write_text(f'v1\n{{"path": "{rows.as_uri()}/%C3%BC%23;x.jsonl", "timestamp": {READ_AT}, "batchId": 2}}')
    file(rows / "ü#;x.jsonl", READ_AT)
    assert files(checkpoint, rows, FileSource(f"{rows}/../rows/")).passed_over() == []


def test_a_changed_file_is_refused_with_two_ways_out(checkpoint: Path, rows: Path) -> None:
    changed = rows / "a b.jsonl"
    file(changed, READ_AT + 1000)
    (rows / "a b-2.jsonl").write_text("{}")
    with pytest.raises(FlowError) as failure:
        files(checkpoint, rows).check_unchanged()
    assert failure.value.is_permanent
    assert str(failure.value) == (
        "INPUT_FILE_CHANGED  bronze.orders\n"
        "  1 input file was changed after being read. A stream reads a file once, so what is new in it is missing from"
        " the table:\n"
        f"    {changed}: read as of 2026-03-01T12:00:00.123Z, changed 2026-03-01T12:00:01.123Z\n"
        "  fix: rename it, and the next update reads all of it, with the rows that it had before:\n"
        f"    mv '{changed}' '{rows / 'a b-3.jsonl'}'\n"
        "  or, if its content is as it was, give it back its time:\n"
        f"    touch -d 2026-03-01T12:00:00.123Z '{changed}'"
    )
    rename, touch = (
        line.strip() for line in str(failure.value).splitlines() if line.startswith("    ") and "'" in line
    )
    subprocess.run(shlex.split(touch), check=True)
    files(checkpoint, rows).check_unchanged()
    subprocess.run(shlex.split(rename), check=True)
    files(checkpoint, rows).check_unchanged()
    assert (rows / "a b-3.jsonl").exists()


def test_files_passed_over_are_named_with_the_reason(checkpoint: Path, rows: Path) -> None:
    file(rows / "notes.txt", READ_AT)
    file(rows / "old.jsonl", READ_AT - 8 * 24 * 3600 * 1000)
    file(rows / "later" / "b.jsonl", READ_AT)
    file(rows / "day=1" / "_SUCCESS", READ_AT)
    file(rows / "day=1" / ".b.jsonl.tmp", READ_AT)
    assert files(checkpoint, rows, FileSource(str(rows), "*.{jsonl,gz}")).passed_over() == [
        f"3 files in {rows} were not read:"
        " later/b.jsonl (it is in a subfolder, and the stream does not set recursiveFileLookup);"
        " notes.txt (its name does not match `*.{jsonl,gz}`);"
        " old.jsonl (it is older than the newest file by more than maxFileAge)."
        " Move what is data to where it is read, under a name that matches, and take what is not data out of the"
        " folder."
    ]


def test_the_examples_hold() -> None:
    assert doctest.testmod(input_files).failed == 0
