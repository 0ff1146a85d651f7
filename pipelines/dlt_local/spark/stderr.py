"""Keeps what Java says about itself off the terminal: warnings about Spark's own use of Java, on every start."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# Java's own lines, not Spark's log, which begins with a time: "WARNING: Using incubator modules: ...",
# "WARNING: A restricted method ... has been called", "Picked up JAVA_TOOL_OPTIONS: ...".
_OF_JAVA = (b"WARNING: ", b"Picked up ")
_STDERR = 2


@contextmanager
def without_java_warnings() -> Iterator[None]:
    """Processes started in the block write to standard error as always, except Java's warnings about itself.

    What they write later passes through the same filter, for as long as this process lives.
    """
    try:
        kept = os.dup(_STDERR)
    except OSError:
        # A process without standard error, such as a service, has nothing to keep tidy.
        yield
        return
    reader, writer = os.pipe()
    os.dup2(writer, _STDERR)
    os.close(writer)
    threading.Thread(target=_forward, args=(reader, os.dup(kept)), name="java-stderr", daemon=True).start()
    try:
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)


def _forward(reader: int, out: int) -> None:
    """Copy lines until every writer is gone."""
    with open(reader, "rb") as lines, open(out, "wb", buffering=0) as stderr:
        for line in lines:
            if not line.startswith(_OF_JAVA):
                stderr.write(line)
