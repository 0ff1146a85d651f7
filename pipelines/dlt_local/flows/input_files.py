"""Input files of a stream: those changed after they were read are refused, those that it passes over are named.

Spark's file source reads each file once and goes by the file's path. What is added to a file that has been read, or
replaced in it, is not read; nor is a file whose name does not match, and so on. Spark says nothing of either.
"""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path

from dlt_local.errors import FlowError
from dlt_local.flows import file_log
from dlt_local.graph.stream_sources import FileSource

_SHOWN = 5
_WEEK = 7 * 24 * 3600 * 1000
"""Spark's default of `maxFileAge`, in milliseconds."""

Files = Mapping[Path, int]
"""File -> when it was modified, in milliseconds since 1970."""


@dataclass(frozen=True)
class InputFiles:
    """The files that one flow's sources had before the flow ran."""

    dataset: str
    checkpoint: Path
    found: Mapping[FileSource, Files]

    @classmethod
    def of(cls, dataset: str, sources: Iterable[FileSource], checkpoint: Path) -> "InputFiles":
        """List the files of some sources."""
        return cls(dataset, checkpoint, {source: dict(_listed(_root(source))) for source in sources})

    def check_unchanged(self) -> None:
        """Refuse files that were changed after the stream had read them.

        Raises:
            FlowError: INPUT_FILE_CHANGED, with what to do for each file.
        """
        read = file_log.files_read(self.checkpoint) if self.found else {}
        files = {file: at for files in self.found.values() for file, at in files.items()}
        changed = sorted(file for file, at in files.items() if read.get(file, at) != at)
        if changed:
            raise _changed(self.dataset, {file: (read[file], files[file]) for file in changed})

    def passed_over(self) -> list[str]:
        """A notice for each source that has passed over files, after its stream has ended; it names them."""
        read = file_log.files_read(self.checkpoint) if self.found else {}
        return [
            notice
            for source, files in self.found.items()
            if (notice := _notice(source, {file: at for file, at in files.items() if file not in read}, read))
        ]


def _root(source: FileSource) -> Path:
    """The folder as Hadoop names it in its log: without `..`."""
    return Path(os.path.normpath(source.folder))


def _listed(folder: Path) -> Iterator[tuple[Path, int]]:
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        for name in names:
            file = Path(path) / name
            if not _is_hidden(name) and file.is_file():
                yield file, file.stat().st_mtime_ns // 1_000_000


def _is_hidden(name: str) -> bool:
    """True for a name that says, to Spark as to Hadoop, that the file is not data or is still being written.

    >>> [_is_hidden(name) for name in (".tmp", "_SUCCESS", "1.jsonl._COPYING_", "_day=1", "1.jsonl")]
    [True, True, True, False, False]
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _notice(source: FileSource, files: Files, read: Files) -> str:
    if not files:
        return ""
    newest = max((at for file, at in read.items() if file.is_relative_to(_root(source))), default=0)
    reasons = [f"{file.relative_to(_root(source))} ({_reason(source, file, at, newest)})" for file, at in files.items()]
    return (
        f"{len(files)} {_plural(len(files), 'file')} in {source.folder} {_plural(len(files), 'was', 'were')} not read:"
        f" {_some(sorted(reasons), '; ')}. Move what is data to where it is read, under a name that matches, and take"
        " what is not data out of the folder."
    )


def _reason(source: FileSource, file: Path, at: int, newest: int) -> str:
    between = file.relative_to(_root(source)).parts[:-1]
    # A folder such as `day=1` is a partition of the data, not a subfolder.
    if not source.recursive and any("=" not in part for part in between):
        return "it is in a subfolder, and the stream does not set recursiveFileLookup"
    if source.glob is not None and not _matches(file.name, source.glob):
        return f"its name does not match `{source.glob}`"
    if at < newest - _WEEK:
        return "it is older than the newest file by more than maxFileAge"
    return "Spark left it out"


def _matches(name: str, glob: str) -> bool:
    """True if a name matches a pattern of Hadoop's; alternatives in braces are not nested.

    >>> _matches("a.jsonl.gz", "*.{jsonl,jsonl.gz}"), _matches("a.txt", "*.{jsonl,jsonl.gz}"), _matches("b", "[ab]")
    (True, False, True)
    """
    before, brace, rest = glob.partition("{")
    alternatives, _, after = rest.partition("}")
    globs = [f"{before}{each}{after}" for each in alternatives.split(",")] if brace else [glob]
    return any(fnmatchcase(name, each) for each in globs)


def _changed(dataset: str, files: Mapping[Path, tuple[int, int]]) -> FlowError:
    what = [f"{file}: read as of {_time(read)}, changed {_time(now)}" for file, (read, now) in files.items()]
    message = (
        f"{len(files)} input {_plural(len(files), 'file')} {_plural(len(files), 'was', 'were')} changed after being"
        f" read. A stream reads a file once, so what is new in it is missing from the table:\n    {_some(what, _NEXT)}"
    )
    renames = [f"mv {_quoted(file)} {_quoted(_free_name(file))}" for file in files]
    times = [f"touch -d {_time(read)} {_quoted(file)}" for file, (read, _) in files.items()]
    fix = (
        "rename it, and the next update reads all of it, with the rows that it had before:"
        f"\n    {_some(renames, _NEXT)}"
        f"\n  or, if its content is as it was, give it back its time:\n    {_some(times, _NEXT)}"
    )
    return FlowError("INPUT_FILE_CHANGED", dataset, message, fix, is_permanent=True)


_NEXT = "\n    "


def _some(items: list[str], separator: str) -> str:
    left_out = len(items) - _SHOWN
    return separator.join([*items[:_SHOWN], *([f"and {left_out} more"] if left_out > 0 else [])])


def _plural(number: int, one: str, many: str = "") -> str:
    return one if number == 1 else many or f"{one}s"


def _time(milliseconds: int) -> str:
    """A time as `touch -d` takes it.

    >>> _time(1772366400123)
    '2026-03-01T12:00:00.123Z'
    """
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _quoted(file: Path) -> str:
    return shlex.quote(str(file))


def _free_name(file: Path) -> Path:
    """A name beside the file that is not taken, with the same endings: `a-2.jsonl.gz` for `a.jsonl.gz`."""
    stem, dot, endings = file.name.partition(".")
    names = (file.with_name(f"{stem}-{number}{dot}{endings}") for number in count(2))
    return next(name for name in names if not name.exists())
