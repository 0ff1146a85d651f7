"""A real, headless Chromium driven through its debugging pipe: load a page, click and type, take a picture.

$CHROMIUM or the names that packages give it locate the program.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

# Chromium reads commands from descriptor 3 and answers on 4; subprocess cannot choose a descriptor's number.
_EXEC_WITH_PIPES = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for number, end in enumerate(ends, 3):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class ChromiumMissing(AssertionError):
    """There is no Chromium on this machine."""

    def __init__(self) -> None:
        how = "install it (Debian: apt-get install chromium) or set CHROMIUM to its path"
        super().__init__(f"Chromium is needed to test the report page: none of {', '.join(_NAMES)} is on PATH; {how}")


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
        """Addresses that the page requested."""
        self.complaints: list[str] = []
        """Errors and warnings in the browser's console."""

    def open(self) -> None:
        """Make the page."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self._call(f"{domain}.enable")

    def show(self, file: Path, width: int, height: int = 900, dark: bool = False) -> None:
        """Load a file in a window of this size and with this colour scheme."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=file.as_uri())
        while self.ask("document.readyState") != "complete" or self.ask("location.href") != file.as_uri():
            time.sleep(0.01)

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """The visible text of every element that a CSS selector matches."""
        texts: list[str] = self.ask(
            f"Array.from(document.querySelectorAll({json.dumps(selector)}), e => (e.innerText ?? e.textContent).trim())"
        )
        return texts

    def click(self, selector: str) -> None:
        """Press and release the mouse on the first element that a CSS selector matches."""
        x, y = self._middle(selector)
        self._mouse("mouseMoved", x, y, 0)
        self._mouse("mousePressed", x, y, 1)
        self._mouse("mouseReleased", x, y, 0)
        self.settle()

    def settle(self) -> None:
        """Wait until what was done has taken effect: links and the back button do so a moment later."""
        moment = "new Promise(done => setTimeout(done, 50))"
        self._call("Runtime.evaluate", expression=moment, awaitPromise=True)

    def drag(self, selector: str, right: int, down: int) -> None:
        """Move the mouse with its button held, from the middle of an element."""
        x, y = self._middle(selector)
        self._mouse("mousePressed", x, y, 1)
        for step in (0.5, 1.0):
            self._mouse("mouseMoved", x + right * step, y + down * step, 1)
        self._mouse("mouseReleased", x + right, y + down, 0)

    def write(self, selector: str, text: str) -> None:
        """Replace what is in an input field."""
        self.click(selector)
        self.ask(f"document.querySelector({json.dumps(selector)}).select()")
        if text:
            self._call("Input.insertText", text=text)
        else:
            for kind in ("keyDown", "keyUp"):
                self._call("Input.dispatchKeyEvent", type=kind, key="Delete", windowsVirtualKeyCode=46)

    def _middle(self, selector: str) -> tuple[float, float]:
        found = f"document.querySelector({json.dumps(selector)})"
        assert self.ask(f"{found} !== null"), f"nothing is {selector}"
        area = self.ask(f"{found}.scrollIntoView({{block: 'center'}}), {found}.getBoundingClientRect().toJSON()")
        return area["x"] + area["width"] / 2, area["y"] + area["height"] / 2

    def _mouse(self, kind: str, x: float, y: float, buttons: int) -> None:
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def picture(self) -> bytes:
        """The window as PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot")["data"])

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith("Target."):
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        text = bytearray()
        while (letter := self._in.read(1)) != b"\0":
            assert letter, "Chromium has ended"
            text += letter
        message: dict[str, Any] = json.loads(text)
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(message["params"]["request"]["url"])
        if message.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(message["params"]))
        return message


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A browser with one page for the duration of a block; ``profile`` is a folder for it alone."""
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    command = [sys.executable, "-c", _EXEC_WITH_PIPES, str(their_in), str(their_out), chromium()]
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
        process.wait(60)
