"""Turns Ctrl-C and SIGTERM into a request to stop at a batch boundary; a second signal stops immediately."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType


def stop_on_signal(notify: Callable[[str], None]) -> threading.Event:
    """From now on the first SIGINT or SIGTERM sets the returned event, and the second ends the process.

    Ending the process does no harm to the tables: the next update finishes what was started.
    """
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()
        notify("Stopping at the next batch boundary; a second signal stops immediately.")

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    return stop
