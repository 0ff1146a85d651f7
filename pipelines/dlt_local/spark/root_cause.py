"""What an error of Spark's comes down to: the one sentence, out of many nested ones, that its user can act on."""

import re
from collections.abc import Iterator

_STATE = re.compile(r" SQLSTATE: \w{5}.*$", re.DOTALL)
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z][\w$]*: ")
_WITHOUT_NEWS = ("An error occurred while calling", "[STREAM_FAILED]", "Job aborted", "[TASK_WRITE_FAILED]")
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|not enough space on the disk", re.IGNORECASE)


def sentence(error: BaseException) -> str:
    """The innermost message that says something, without Java's class names and stack.

    >>> sentence(ValueError("first line\\nsecond line"))
    'first line'
    """
    told = [text for text in map(_first_line, _chain(error)) if text and not text.startswith(_WITHOUT_NEWS)]
    named = [text for text in told if text.startswith("[")]
    return (named or told or [type(error).__name__])[-1]


def is_disk_full(error: BaseException) -> bool:
    """True where somewhere in the chain a disk had no room left."""
    return any(_DISK_FULL.search(text) for text in _chain(error))


def _chain(error: BaseException) -> Iterator[str]:
    """The messages from the outermost error to the innermost, Python's first and Java's behind."""
    seen: BaseException | None = error
    while seen is not None:
        yield str(seen)
        java = getattr(seen, "java_exception", None) or getattr(seen, "_origin", None)
        depth = 0
        while java is not None and hasattr(java, "getMessage") and depth < 20:
            yield str(java.getMessage() or "")
            java, depth = java.getCause(), depth + 1
        seen = seen.__cause__


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    while match := _CLASS.match(line):
        line = line[match.end() :]
    return _STATE.sub("", line)
