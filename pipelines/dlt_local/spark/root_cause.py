"""Root cause of a Spark error: of its many nested messages, the one that its user can act on."""

import re
from collections.abc import Iterator
from typing import Any

_STATE = re.compile(r" SQLSTATE: \w{5}.*$", re.DOTALL)
_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z][\w$]*: ")
_UNINFORMATIVE = ("An error occurred while calling", "[STREAM_FAILED]", "Job aborted", "[TASK_WRITE_FAILED]")
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|not enough space on the disk", re.IGNORECASE)

_TRACEBACK = "Traceback (most recent call last):\n"
_PLACE = re.compile(r'\s*File "(.+?)", line (\d+), in (\S+)')
_NOT_OF_THE_USER = re.compile(r"/pyspark/|pyspark\.zip|/py4j/|/site-packages/|/dlt_local/|^<frozen|/lib/python[\d.]+/")

# What the rows themselves, or the query, make fail each time.
_PERMANENT = re.compile(
    r"^\[(USER_RAISED_EXCEPTION|CAST_INVALID_INPUT|CAST_OVERFLOW|DIVIDE_BY_ZERO|ARITHMETIC_OVERFLOW"
    r"|NUMERIC_VALUE_OUT_OF_RANGE|DATATYPE_MISMATCH|UNRESOLVED_COLUMN)\b"
)


def sentence(error: BaseException) -> str:
    """The first line of the innermost informative message, without Java class names and stack.

    Messages with an error condition, ``[LIKE_THIS]``, win over those without.

    >>> sentence(ValueError("first line\\nsecond line"))
    'first line'
    """
    lines = [line for line in map(_first_line, _messages(error)) if line and not line.startswith(_UNINFORMATIVE)]
    with_condition = [line for line in lines if line.startswith("[")]
    return (with_condition or lines or [type(error).__name__])[-1]


def of_python(error: BaseException) -> str | None:
    """The error of a user's Python function as Python tells it: its message, then the user's lines that led to it.

    None for an error that no Python function raised in Spark.
    """
    for text in _messages(error):
        _, found, trace = text.partition(_TRACEBACK)
        if not found:
            continue
        lines = trace.splitlines()
        places = [(each, index) for index, line in enumerate(lines) if (each := _PLACE.match(line)) is not None]
        raised = next((line for line in lines if line and not line[0].isspace()), "")
        own = [
            f"\n    {place[1]}:{place[2]} in {place[3]}: {lines[index + 1].strip() if index + 1 < len(lines) else ''}"
            for place, index in places
            if not _NOT_OF_THE_USER.search(place[1])
        ]
        return raised + "".join(own) if raised else None
    return None


def is_permanent(error: BaseException) -> bool:
    """True if the same rows and query would fail again, as far as the error's condition tells.

    >>> is_permanent(ValueError("[DIVIDE_BY_ZERO] Division by zero.")), is_permanent(OSError("connection reset"))
    (True, False)
    """
    return any(_PERMANENT.match(_first_line(text)) for text in _messages(error))


def java_classes(error: BaseException) -> tuple[str, ...]:
    """The full names of the Java classes in the chain of causes, from the outermost to the innermost."""
    return tuple(str(java.getClass().getName()) for each in _chain(error) for java in _java_chain(each))


def is_disk_full(error: BaseException) -> bool:
    """True if any message in the chain of causes says that a disk is full."""
    return any(_DISK_FULL.search(text) for text in _messages(error))


def _messages(error: BaseException) -> Iterator[str]:
    """The messages from the outermost error to the innermost; after each Python error those of its Java causes."""
    for current in _chain(error):
        yield str(current)
        for java in _java_chain(current):
            yield str(java.getMessage() or "")


def _chain(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__


def _java_chain(error: BaseException) -> Iterator[Any]:
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    depth = 0
    while java is not None and hasattr(java, "getMessage") and depth < 20:
        yield java
        java, depth = java.getCause(), depth + 1


def _first_line(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    while match := _CLASS.match(line):
        line = line[match.end() :]
    return _STATE.sub("", line)
