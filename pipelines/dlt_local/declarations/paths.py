"""Paths of Databricks' storage, `/Volumes/...` or `s3://...`, as folders on this machine."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dlt_local.errors import DeclarationError, SourceLocation

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
_OF_DATABRICKS = ("/Volumes/", "/databricks-datasets/", "/FileStore/")


@dataclass(frozen=True)
class PathMap:
    """Which local folder stands for which folder of Databricks' storage."""

    folders: Mapping[str, Path] = field(default_factory=dict)
    """A folder as source files name it, such as `/Volumes/main/raw` or `s3://bucket/raw` -> the local folder."""

    def find(self, path: str) -> str | None:
        """The local path of what lies in a mapped folder; None where none is mapped. The longest match counts.

        >>> PathMap({"s3://lake": Path("/data"), "dbfs:/Volumes/a/b": Path("/v")}).find("s3a://lake/raw/1.json")
        '/data/raw/1.json'
        """
        wanted = _normal(path)
        for name, folder in sorted(self.folders.items(), key=lambda item: -len(_normal(item[0]))):
            start = _normal(name)
            if wanted == start or wanted.startswith(f"{start}/"):
                return f"{folder.absolute()}{wanted[len(start) :]}"
        return None

    def local(self, path: str, location: SourceLocation | None = None) -> str:
        """The absolute local path of a path in a source file.

        Args:
            path: as the source file writes it.
            location: the place in the source file, for the error.

        Raises:
            DeclarationError: PATH_NOT_MAPPED, for a path that exists on Databricks only.
        """
        mapped = self.find(path)
        if mapped is not None:
            return mapped
        own = path.removeprefix("file://") if path.startswith("file:///") else path.removeprefix("file:")
        if not is_remote(own) or Path(own).exists():
            return str(Path(own).absolute())
        folder = _folder_to_map(path)
        message = f"{path} is not on this machine, and no local folder stands for it"
        known = "".join(f"\n    {name} is {local}" for name, local in self.folders.items())
        message += f"; mapped are:{known}" if known else ""
        in_python = f"LocalPipeline(path_map={{{folder!r}: FOLDER}})"
        fix = f"say which folder does: --map {folder}=FOLDER (in Python: {in_python})"
        raise DeclarationError("PATH_NOT_MAPPED", message, location, fix)


def is_remote(path: str) -> bool:
    """True for a path that only Databricks has, unless a local file has the same name.

    >>> [is_remote(path) for path in ("s3://a/b", "dbfs:/a", "/Volumes/a/b/c", "/tmp/a", "a/b")]
    [True, True, True, False, False]
    """
    return bool(_SCHEME.match(path)) or path.startswith(_OF_DATABRICKS)


def _normal(path: str) -> str:
    """One spelling of the paths that mean the same on Databricks.

    >>> [_normal(path) for path in ("dbfs:/mnt/raw/", "/dbfs/mnt/raw", "/mnt/raw", "dbfs:/Volumes/a", "s3n://b//c")]
    ['/mnt/raw', '/mnt/raw', '/mnt/raw', '/Volumes/a', 's3://b/c']
    """
    text = re.sub(r"^s3[an]://", "s3://", path.strip())
    text = re.sub(r"^(dbfs:/+|/dbfs/|file:/+)", "/", text)
    scheme, separator, rest = text.partition("://")
    rest = re.sub("/{2,}", "/", rest if separator else text)
    return (f"{scheme}://{rest}" if separator else rest).rstrip("/")


def _folder_to_map(path: str) -> str:
    """The folder that is best mapped: a volume, a bucket, or the path's first folder.

    >>> _folder_to_map("/Volumes/main/shop/raw/orders"), _folder_to_map("s3://lake/raw/orders")
    ('/Volumes/main/shop/raw', 's3://lake')
    """
    normal = _normal(path)
    if "://" in normal:
        return "/".join(normal.split("/")[:3])
    return "/".join(normal.split("/")[: 5 if normal.startswith("/Volumes/") else 3])
