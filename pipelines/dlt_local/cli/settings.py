"""The settings that a command runs a pipeline with: command-line options override the bundle's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dlt_local.bundle import BundlePipeline, bundle_pipeline, read_bundle, read_spark_project
from dlt_local.bundle.load import FILE_NAMES
from dlt_local.bundle.spark_project import SPEC_NAMES
from dlt_local.errors import SetupError
from dlt_local.observability.progress import Progress
from dlt_local.updates.pipeline import LocalPipeline


class SettingMissing(SetupError):
    """A setting is needed that neither the options nor a bundle provide."""


@dataclass(frozen=True)
class Options:
    """Options given on the command line; None or empty if not given."""

    sources: tuple[str, ...] = ()
    storage: Path | None = None
    catalog: str | None = None
    schema: str | None = None
    name: str | None = None
    root_path: Path | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)
    bundle: Path | None = None
    target: str | None = None
    pipeline: str | None = None
    spec: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    path_map: Mapping[str, str] = field(default_factory=dict)

    @property
    def needs_bundle(self) -> bool:
        """True if an option is given that makes sense only with a bundle."""
        return bool(self.bundle or self.target or self.pipeline or self.variables)


@dataclass(frozen=True)
class Mode:
    """How `run` runs: once or continuously, and how many rejects are too many."""

    continuous: bool = False
    trigger_interval: float = 5.0
    fail_on_rejects: int | None = None


@dataclass(frozen=True)
class Settings:
    """Everything needed to make a `LocalPipeline`."""

    name: str
    sources: tuple[str, ...]
    storage: Path | None
    catalog: str | None
    schema: str
    root_path: Path | None
    configuration: Mapping[str, str]
    secrets: tuple[str, ...] = ()
    """Configuration keys whose values only a Databricks workspace can look up."""
    continuous: bool = False
    path_map: Mapping[str, str] = field(default_factory=dict)

    def storage_folder(self) -> Path:
        """The storage folder.

        Raises:
            SettingMissing: there is none.
        """
        if self.storage is None:
            fix = "pass --storage, or --bundle with a folder that has a databricks.yml"
            raise SettingMissing("NO_STORAGE_GIVEN", "", "no storage folder is given", fix)
        return self.storage

    def check_secrets(self) -> None:
        """Check that no configuration value refers to a secret.

        Raises:
            SettingMissing: one does; nothing on this machine can look it up.
        """
        if self.secrets:
            values = "".join(f"\n    {key} is {self.configuration[key]}" for key in self.secrets)
            message = f"the configuration refers to secrets of a Databricks workspace, not readable here:{values}"
            fix = "pass the values with --set, or run a target without secrets"
            raise SettingMissing("SECRET_NOT_READABLE", "", message, fix)

    def pipeline(self, storage: Path, progress: Progress | None = None) -> LocalPipeline:
        """The pipeline with its tables in ``storage``."""
        return LocalPipeline(
            name=self.name,
            sources=self.sources,
            storage=storage,
            catalog=self.catalog,
            schema=self.schema,
            configuration=self.configuration,
            root_path=self.root_path,
            progress=progress,
            path_map=self.path_map,
        )


def settings(options: Options, needs_sources: bool = True) -> Settings:
    """Combine the options with the bundle's settings.

    A bundle, or a spark-pipeline.yml, is read if an option refers to one, or if the sources (without ``needs_sources``:
    the storage) are not given as options; by default it is the one in the working directory.

    Raises:
        BundleError: the bundle has errors.
        SettingMissing: neither options nor a bundle describe the pipeline.
    """
    if options.spec is not None:
        return _over_bundle(options, read_spark_project(options.spec))
    if options.needs_bundle or not (options.sources if needs_sources else options.storage):
        return _over_bundle(options, _pipeline_of_bundle(options))
    return Settings(
        name=options.name or (options.storage.name if options.storage else "pipeline"),
        sources=options.sources,
        storage=options.storage,
        catalog=options.catalog,
        schema=options.schema or "default",
        root_path=options.root_path,
        configuration=options.configuration,
        path_map=options.path_map,
    )


def _pipeline_of_bundle(options: Options) -> BundlePipeline:
    folder = options.bundle or Path()
    if not options.needs_bundle and not any((folder / name).is_file() for name in FILE_NAMES):
        if any((folder / name).is_file() for name in SPEC_NAMES):
            return read_spark_project(folder)
        fix = "pass --source and --storage, or --bundle with a folder that has a databricks.yml"
        raise SettingMissing("NO_PIPELINE_GIVEN", "", "no pipeline is given", fix)
    return bundle_pipeline(read_bundle(folder, options.target, options.variables), options.pipeline)


def _over_bundle(options: Options, bundle: BundlePipeline) -> Settings:
    return Settings(
        name=options.name or bundle.name,
        sources=options.sources or bundle.sources,
        storage=options.storage or bundle.storage,
        catalog=options.catalog or bundle.catalog,
        schema=options.schema or bundle.schema,
        root_path=options.root_path or bundle.root_path,
        configuration={**bundle.configuration, **options.configuration},
        secrets=tuple(key for key in bundle.secrets if key not in options.configuration),
        continuous=bundle.continuous,
        path_map=options.path_map,
    )
