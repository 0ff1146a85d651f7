"""What Databricks gives every source file beside `spark`: `dbutils`, `display` and `displayHTML`."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pyspark.sql import SparkSession

from dlt_local.declarations.paths import PathMap
from dlt_local.declarations.registry import Registry, caller
from dlt_local.errors import DeclarationError, did_you_mean

SECRETS_FILE = "dlt_local.secrets"
"""The configuration key that names a file of secrets, `{"scope": {"key": "value"}}`."""
_VARIABLE = "DLT_LOCAL_SECRET"


class NotebookExit(Exception):
    """`dbutils.notebook.exit`: the rest of the notebook does not run."""


class _Group:
    """A part of `dbutils`; what it does not have is refused by name."""

    _name = "dbutils"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        known = [each for each in dir(self) if not each.startswith("_")]
        message = f"`{self._name}.{name}` does not run on this machine{did_you_mean(name, known)}"
        fix = f"leave it out of the pipeline; what runs of it is {', '.join(known)}"
        raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, caller(), fix)


class Widgets(_Group):
    """`dbutils.widgets`: a widget's value is the pipeline's configuration of that name, else its default."""

    _name = "dbutils.widgets"

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._defaults: dict[str, str] = {}
        self._given: Mapping[str, str] = {}

    def text(self, name: str, defaultValue: str, label: str | None = None) -> None:
        """Define a widget."""
        self._defaults[name] = str(defaultValue)

    def dropdown(self, name: str, defaultValue: str, choices: object, label: str | None = None) -> None:
        """Define a widget."""
        self._defaults[name] = str(defaultValue)

    combobox = multiselect = dropdown

    def get(self, name: str) -> str:
        """The value of a widget.

        Raises:
            DeclarationError: neither a widget nor the configuration has the name.
        """
        value = self._value(name, self._defaults.get(name))
        if value is None:
            message = f"there is no widget `{name}`{did_you_mean(name, self._defaults)}"
            fix = f"define it with dbutils.widgets.text, or give it a value with --set {name}=VALUE"
            raise DeclarationError("NO_SUCH_VALUE", message, caller(), fix)
        return value

    def getArgument(self, name: str, defaultValue: str | None = None) -> str:
        """The value of a widget, or the default."""
        return self.get(name) if defaultValue is None else str(self._value(name, defaultValue))

    def _value(self, name: str, default: str | None) -> str | None:
        return self._given.get(name, self._spark.conf.get(name, default))

    def getAll(self) -> dict[str, str]:
        """The values of all widgets."""
        return {name: self.get(name) for name in self._defaults}

    @contextmanager
    def given(self, values: Mapping[str, str]) -> Iterator[None]:
        """Give widgets these values in a block, as the parameters of a `%run` do."""
        before, self._given = self._given, {**self._given, **values}
        try:
            yield
        finally:
            self._given = before

    def remove(self, name: str) -> None:
        """Remove a widget."""
        self._defaults.pop(name, None)

    def removeAll(self) -> None:
        """Remove all widgets."""
        self._defaults.clear()


class Secrets(_Group):
    """`dbutils.secrets`: from the environment, else from a file; never shown in a message of the engine."""

    _name = "dbutils.secrets"

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def get(self, scope: str, key: str) -> str:
        """A secret.

        Raises:
            DeclarationError: it is not on this machine.
        """
        variable = "_".join(re.sub(r"\W", "_", part).upper() for part in (_VARIABLE, scope, key))
        value = os.environ.get(variable, self._in_file().get(scope, {}).get(key))
        if value is None:
            message = f"the secret {scope}/{key} of a Databricks workspace is not readable here"
            fix = (
                f"set the environment variable {variable},\n       or name a JSON file of secrets with "
                f'--set {SECRETS_FILE}=FILE: {{"{scope}": {{"{key}": "..."}}}}'
            )
            raise DeclarationError("SECRET_NOT_READABLE", message, caller(), fix)
        self._registry.on_secret(value)
        return value

    def getBytes(self, scope: str, key: str) -> bytes:
        """A secret as bytes."""
        return self.get(scope, key).encode()

    def _in_file(self) -> Mapping[str, Mapping[str, str]]:
        file = self._registry.spark.conf.get(SECRETS_FILE, None)
        found: Mapping[str, Mapping[str, str]] = json.loads(Path(file).read_text(encoding="utf-8")) if file else {}
        return found


@dataclass(frozen=True)
class FileInfo:
    """A file or folder as `dbutils.fs.ls` lists it."""

    path: str
    name: str
    size: int
    modificationTime: int

    def isDir(self) -> bool:
        """True for a folder."""
        return self.name.endswith("/")

    def isFile(self) -> bool:
        """True for a file."""
        return not self.isDir()


class FileSystem(_Group):
    """`dbutils.fs`: the files of this machine, also below the folders that stand for Databricks' own."""

    _name = "dbutils.fs"

    def __init__(self, paths: PathMap) -> None:
        self._paths = paths

    def _local(self, path: str) -> Path:
        return Path(self._paths.local(path, caller()))

    def ls(self, path: str) -> list[FileInfo]:
        """The files and folders in a folder."""
        return [_info(each) for each in sorted(self._local(path).iterdir())]

    def head(self, path: str, maxBytes: int = 65536) -> str:
        """The beginning of a file."""
        with self._local(path).open("rb") as file:
            return file.read(maxBytes).decode("utf-8", errors="replace")

    def mkdirs(self, path: str) -> bool:
        """Create a folder and those above it."""
        self._local(path).mkdir(parents=True, exist_ok=True)
        return True

    def put(self, path: str, contents: str, overwrite: bool = False) -> bool:
        """Write a file."""
        file = self._local(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w" if overwrite else "x", encoding="utf-8") as out:
            out.write(contents)
        return True

    def cp(self, source: str, to: str, recurse: bool = False) -> bool:
        """Copy a file, or with ``recurse`` a folder."""
        given, target = self._local(source), self._local(to)
        if given.is_dir() and recurse:
            shutil.copytree(given, target, dirs_exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(given, target / given.name if target.is_dir() else target)
        return True

    def mv(self, source: str, to: str, recurse: bool = False) -> bool:
        """Move a file or folder."""
        shutil.move(self._local(source), self._local(to))
        return True

    def rm(self, path: str, recurse: bool = False) -> bool:
        """Remove a file, or with ``recurse`` a folder; False if there is none."""
        given = self._local(path)
        if not given.exists():
            return False
        if given.is_dir() and recurse:
            shutil.rmtree(given)
        elif given.is_dir():
            given.rmdir()
        else:
            given.unlink()
        return True


class Notebook(_Group):
    """`dbutils.notebook`."""

    _name = "dbutils.notebook"

    def exit(self, value: object = None) -> NoReturn:
        """End the notebook."""
        raise NotebookExit(value)


class Library(_Group):
    """`dbutils.library`."""

    _name = "dbutils.library"

    def restartPython(self) -> None:
        """Nothing: a pipeline installs no packages."""


class DBUtils(_Group):
    """`dbutils`, as far as it makes sense on one machine."""

    def __init__(self, registry: Registry) -> None:
        self.widgets = Widgets(registry.spark)
        self.secrets = Secrets(registry)
        self.fs = FileSystem(registry.path_map)
        self.notebook = Notebook()
        self.library = Library()


def names_of_a_source_file(registry: Registry) -> dict[str, Any]:
    """The names that a source file has without importing them."""

    def shows_nothing(name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: registry.notice_no_effect(name)

    return {
        "spark": registry.spark,
        "dbutils": DBUtils(registry),
        "display": shows_nothing("display"),
        "displayHTML": shows_nothing("displayHTML"),
    }


def _info(path: Path) -> FileInfo:
    status = path.stat()
    is_folder = path.is_dir()
    end = "/" if is_folder else ""
    size = 0 if is_folder else status.st_size
    return FileInfo(f"file:{path}{end}", f"{path.name}{end}", size, int(status.st_mtime * 1000))
