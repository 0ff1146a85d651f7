"""Requirements of a pipeline's environment: which of them Databricks' command line takes for a local file.

Its rule is in `bundle/libraries/local_path.go` of its source: what is neither a package with a version, nor an option
of pip, nor a remote path, is a path. A name with a dot, a space behind a comma or a marker make a package a path.
"""

import re

_VERSION = r"(\d+!)?\d+(\.\d+)*([-_.]?(a|b|rc)\d+)?([-_.]?post\d+)?([-_.]?dev\d+)?(\+[a-zA-Z0-9]+([-_.][a-zA-Z0-9]+)*)?"
_PACKAGE = re.compile(rf"[a-zA-Z0-9\-_]+\s?(\[.*\])?\s?((==|!=|<=|>=|~=|>|<)\s?{_VERSION},?)*")
_OPTION = re.compile(r"(^|\s+)--?[a-zA-Z0-9-]+([\s|=]+|$)")
_REMOTE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:/")


def is_local(requirement: str) -> bool:
    """True if the command line takes the requirement for a file or folder beside the bundle's files.

    >>> [is_local(text) for text in ("pyyaml==6.0.3", "ruamel.yaml==0.19.1", "a>=1, <2", "dist/a.whl", "--editable .")]
    [False, True, True, True, False]
    """
    if requirement.startswith("."):
        return True
    if not requirement or _OPTION.search(requirement) or _PACKAGE.fullmatch(requirement):
        return False
    name, at, address = requirement.partition(" @ ")
    if at and _PACKAGE.fullmatch(name) and _is_remote(address):
        return False
    path = requirement.strip("\"'")
    return not (path.startswith(("/", "file://")) or _is_remote(path))


def _is_remote(path: str) -> bool:
    return bool(_REMOTE.match(path)) and not path.startswith("file:")
