"""A bundle, resolved for one target, and what of it a local run needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dlt_local.bundle.document import Value
from dlt_local.errors import SourceLocation

_SECRET = "{{secrets/"


@dataclass(frozen=True)
class BundlePipeline:
    """One pipeline resource, as a local run takes it."""

    key: str
    """Its key under `resources.pipelines`."""
    name: str
    sources: tuple[str, ...]
    """Files and globs of `libraries`, absolute."""
    storage: Path
    """Where a local run keeps its tables unless it is told another folder."""
    root_path: Path | None
    catalog: str | None
    schema: str
    configuration: Mapping[str, str]
    dependencies: tuple[str, ...]
    """What Databricks installs for it; locally it is there already, or not."""
    development: bool
    continuous: bool
    location: SourceLocation

    @property
    def secrets(self) -> tuple[str, ...]:
        """Keys of the configuration whose values lie in a Databricks secret scope, which a local run cannot read."""
        return tuple(key for key, value in self.configuration.items() if _SECRET in value)


@dataclass(frozen=True)
class Bundle:
    """A bundle for one target: files merged, variables set, references resolved."""

    name: str
    folder: Path
    target: str
    mode: str | None
    """`development`, `production` or neither."""
    root: Value
    """The whole configuration. References to what only a workspace knows still stand in it."""

    @property
    def pipelines(self) -> Mapping[str, Value]:
        """The pipeline resources by their keys."""
        found = self.root.find("resources", "pipelines")
        return found.fields if found is not None else {}
