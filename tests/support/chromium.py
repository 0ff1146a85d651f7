"""A real, headless Chromium, spoken to through its own pipe: open a page, ask it, look at it.

It is found by $CHROMIUM or by the names that packages give it.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


# Chromium reads commands from descriptor 3 and answers on 4; subprocess itself places no descriptors.
_PLACED = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for number, end in enumerate(ends, 3):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class ChromiumMissing(AssertionError):
    """There is no Chromium on this machine."""

    def __init__(self) -> None:
        how = "install it (Debian: apt-get install chromium) or let CHROMIUM point at one"
        super().__init__(
            f"Chromium is needed to look at the report page: none of {', '.join(_NAMES)} is on PATH; {how}"
        )


def chromium() -> str:
    """Path of the program."""
    found = os.environ.get("CHROMIUM") or next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise ChromiumMissing
    return found


class Page:
    """One open page."""

    def __init__(self, sent: int, received: int) -> None:
        self._out, self._in = os.fdopen(sent, "wb", 0), os.fdopen(received, "rb")
        self._number = 0
        self._session: str | None = None
        self.requested: list[str] = []
        """Addresses that pages asked for."""
        self.complaints: list[str] = []
        """What the browser's console said."""

    def open(self) -> None:
        """Make the page."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def show(self, file: Path, width: int, height: int = 900, dark: bool = False) -> None:
        """Load a file as a screen of this width, and with this colour scheme, shows it."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=file.as_uri())
        while self.ask("document.readyState") != "complete" or self.ask("location.href") != file.as_uri():
            pass

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        told = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """The visible texts of all that a CSS selector finds."""
        found: list[str] = self.ask(
            f"Array.from(document.querySelectorAll({json.dumps(selector)}), e => (e.innerText ?? e.textContent).trim())"
        )
        return found

    def picture(self) -> bytes:
        """What is seen, as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot")["data"])

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith("Target."):
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == self._number:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (letter := self._in.read(1)) != b"\0":
            assert letter, "Chromium has ended"
            text += letter
        told: dict[str, Any] = json.loads(text)
        if told.get("method") == "Network.requestWillBeSent":
            self.requested.append(told["params"]["request"]["url"])
        if told.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(told["params"]))
        return told


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with one page, for as long as the block lasts; ``profile`` is a folder of its own."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    command = [sys.executable, "-c", _PLACED, str(their_in), str(their_out), chromium()]
    command += ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
    command += [f"--user-data-dir={profile}", "--no-first-run", "--disable-background-networking", "about:blank"]
    log = (profile.parent / "chromium.log").open("wb")
    process = subprocess.Popen(command, pass_fds=(their_in, their_out), stdout=log, stderr=log)
    os.close(their_in)
    os.close(their_out)
    page = Page(our_out, our_in)
    try:
        page.open()
        yield page
    finally:
        process.terminate()
        process.wait(20)
