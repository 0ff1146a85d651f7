"""A bundle resolved for one target, and the settings of one of its pipelines for a local run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dlt_local.bundle.document import Value
from dlt_local.errors import SourceLocation

_SECRET = "{{secrets/"


@dataclass(frozen=True)
class BundlePipeline:
    """The settings of one pipeline resource for a local run."""

    key: str
    """Its key under `resources.pipelines`."""
    name: str
    sources: tuple[str, ...]
    """The files and globs of `libraries`, absolute."""
    storage: Path
    """The storage folder of a local run, unless another one is given."""
    root_path: Path | None
    catalog: str | None
    schema: str
    configuration: Mapping[str, str]
    dependencies: tuple[str, ...]
    """The Python packages that Databricks installs for it; nothing is installed locally."""
    development: bool
    continuous: bool
    location: SourceLocation

    @property
    def secrets(self) -> tuple[str, ...]:
        """Keys of the configuration whose values are in a Databricks secret scope, which a local run cannot read."""
        return tuple(key for key, value in self.configuration.items() if _SECRET in value)


@dataclass(frozen=True)
class Bundle:
    """A bundle for one target: files merged, variables assigned, references resolved."""

    name: str
    folder: Path
    target: str
    mode: str | None
    """`development`, `production` or None."""
    root: Value
    """The whole configuration; references to values that only a workspace knows are left as they are."""

    @property
    def pipelines(self) -> Mapping[str, Value]:
        """The pipeline resources by their keys."""
        found = self.root.find("resources", "pipelines")
        return found.fields if found is not None else {}
