"""Updates in processes of their own that are killed, at a failpoint or after some time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PATIENCE_SECONDS = 600.0


def update_in_a_process(
    source: Path, storage: Path, fault: str | None = None, arguments: tuple[str, ...] = ()
) -> "subprocess.Popen[bytes]":
    """Start an update from the command line; ``fault`` names the failpoint at which it kills itself."""
    environment = os.environ | {"PYTHONPATH": str(_ROOT / "pipelines"), "DLT_LOCAL_FAULT": fault or ""}
    if fault is None:
        del environment["DLT_LOCAL_FAULT"]
    command = [sys.executable, "-m", "dlt_local", "run", "--source", str(source), "--storage", str(storage)]
    # A new process group, so that the JVM is killed too, as when a machine dies.
    return subprocess.Popen(
        [*command, *arguments],
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def die_at(source: Path, storage: Path, fault: str, arguments: tuple[str, ...] = ()) -> None:
    """Run an update that kills itself at a failpoint.

    Raises:
        AssertionError: it ended in another way, so it never reached the failpoint.
    """
    process = update_in_a_process(source, storage, fault, arguments)
    try:
        output, _ = process.communicate(timeout=_PATIENCE_SECONDS)
    finally:
        _kill_group(process)
    assert process.returncode == -signal.SIGKILL, f"{fault} was not reached:\n{output.decode()[-3000:]}"


def kill_after(source: Path, storage: Path, seconds: float) -> bool:
    """Run an update and kill it so many seconds after its start; False if it had ended by then."""
    process = update_in_a_process(source, storage)
    try:
        _await_start(process, storage)
        time.sleep(seconds)
        return process.poll() is None
    finally:
        _kill_group(process)
        process.communicate()


def _await_start(process: "subprocess.Popen[bytes]", storage: Path) -> None:
    """Wait until the update holds the storage's lock, from when on it may write."""
    lock = storage / "system" / "lock"
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if lock.exists() and lock.read_text().strip() == str(process.pid):
            return
        time.sleep(0.02)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
