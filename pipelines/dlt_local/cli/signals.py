"""Ctrl-C and SIGTERM as a wish to end at a batch boundary; a second one ends at once."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType


def stop_on_signal(tell: Callable[[str], None]) -> threading.Event:
    """From now on the first SIGINT or SIGTERM sets the event, the second ends the process.

    Killed at once is no harm to the tables: the next update finishes what was begun.
    """
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()
        tell("Stopping at the next batch boundary; once more ends it at once.")

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    return stop
