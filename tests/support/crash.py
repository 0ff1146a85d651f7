"""Updates that are killed: each in a process of its own, dying at a named point or at any moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_PATIENCE = 180.0


def update_in_a_process(
    source: Path, storage: Path, fault: str | None = None, arguments: tuple[str, ...] = ()
) -> "subprocess.Popen[bytes]":
    """Start an update by the command line; ``fault`` names the point at which it kills itself."""
    environment = os.environ | {"PYTHONPATH": str(_ROOT / "pipelines"), "DLT_LOCAL_FAULT": fault or ""}
    if fault is None:
        del environment["DLT_LOCAL_FAULT"]
    command = [sys.executable, "-m", "dlt_local", "run", "--source", str(source), "--storage", str(storage)]
    # A process group of its own: its JVM must die with it, as both do when a machine does.
    return subprocess.Popen(
        [*command, *arguments],
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def die_at(source: Path, storage: Path, fault: str, arguments: tuple[str, ...] = ()) -> None:
    """Run an update that kills itself at a point.

    Raises:
        AssertionError: it ended in another way, so that the point was not on its way.
    """
    process = update_in_a_process(source, storage, fault, arguments)
    try:
        output, _ = process.communicate(timeout=_PATIENCE)
    finally:
        _kill_group(process)
    assert process.returncode == -signal.SIGKILL, f"{fault} was not reached:\n{output.decode()[-3000:]}"


def kill_after(source: Path, storage: Path, seconds: float) -> bool:
    """Run an update and kill it so many seconds after it has begun; False if it had ended before."""
    process = update_in_a_process(source, storage)
    try:
        _await_begin(process, storage)
        time.sleep(seconds)
        return process.poll() is None
    finally:
        _kill_group(process)
        process.communicate()


def _await_begin(process: "subprocess.Popen[bytes]", storage: Path) -> None:
    """Wait until the update holds the storage: from then on it may write."""
    lock = storage / "system" / "lock"
    deadline = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        if lock.exists() and lock.read_text().strip() == str(process.pid):
            return
        time.sleep(0.02)


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
