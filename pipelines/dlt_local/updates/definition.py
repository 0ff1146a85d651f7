"""What a pipeline is: its name, source files, storage, configuration, and how its updates run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dlt_local.declarations.paths import PathMap
from dlt_local.delta.storage import Storage
from dlt_local.observability.progress import Progress


@dataclass(frozen=True)
class PipelineDefinition:
    """Everything that an update needs to know of its pipeline."""

    name: str
    sources: tuple[str, ...]
    """Files, globs, or `folder/**`."""
    storage: Storage
    catalog: str | None
    """The catalog of names that have none; None if it is not said."""
    schema: str
    """The schema of unqualified dataset names."""
    configuration: Mapping[str, str]
    root_path: Path | None
    """The folder that source files import from, as they load and as their queries run."""
    parallelism: int
    """How many datasets run at the same time."""
    progress: Progress
    path_map: PathMap = field(default_factory=PathMap)
    """Local folders that stand for folders of Databricks' storage."""
    max_rejects: int | None = None
    """An update that adds more rejects to its tables has failed; None: however many."""
