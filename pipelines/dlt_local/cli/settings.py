"""What a pipeline is run with on the command line: the bundle's word, and the options' over it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dlt_local.bundle import BundlePipeline, bundle_pipeline, read_bundle
from dlt_local.bundle.load import FILE_NAMES
from dlt_local.errors import LocalPipelineError
from dlt_local.observability.progress import Progress
from dlt_local.updates.pipeline import LocalPipeline


class SettingMissing(LocalPipelineError):
    """Something is needed that neither the options nor a bundle say."""


@dataclass(frozen=True)
class Options:
    """What was said on the command line; None, or empty, is nothing."""

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
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def asks_for_bundle(self) -> bool:
        """True where an option makes sense with a bundle only."""
        return bool(self.bundle or self.target or self.pipeline or self.variables)


@dataclass(frozen=True)
class Settings:
    """All that a `LocalPipeline` is made of."""

    name: str
    sources: tuple[str, ...]
    storage: Path | None
    catalog: str | None
    schema: str
    root_path: Path | None
    configuration: Mapping[str, str]
    secrets: tuple[str, ...] = ()
    """Keys of the configuration whose values only Databricks can look up."""
    continuous: bool = False

    def stored(self) -> Path:
        """The storage folder.

        Raises:
            SettingMissing: none was said.
        """
        if self.storage is None:
            message = "no storage folder is said\n  fix: give one by --storage, or take it from a bundle by --bundle"
            raise SettingMissing(message)
        return self.storage

    def check_secrets(self) -> None:
        """Make sure that no value is a reference to a secret.

        Raises:
            SettingMissing: one is; nothing on this machine can look it up.
        """
        if self.secrets:
            told = "\n".join(f"  {key} is {self.configuration[key]}" for key in self.secrets)
            message = f"the configuration names secrets of a Databricks workspace, which cannot be read here:\n{told}"
            raise SettingMissing(f"{message}\n  fix: give the value by --set, or run a target that needs none")

    def pipeline(self, storage: Path, progress: Progress | None = None) -> LocalPipeline:
        """The pipeline, on a storage folder."""
        return LocalPipeline(
            name=self.name,
            sources=self.sources,
            storage=storage,
            catalog=self.catalog,
            schema=self.schema,
            configuration=self.configuration,
            root_path=self.root_path,
            progress=progress,
        )


def settings(options: Options, needs_sources: bool = True) -> Settings:
    """Put the options over the bundle's settings.

    A bundle is read if an option speaks of one, or else if nothing says what to run (with ``needs_sources``) or
    where its storage lies; then it is the one in the working directory.

    Raises:
        BundleError: the bundle has faults.
        SettingMissing: nothing says what to run.
    """
    if options.asks_for_bundle or not (options.sources if needs_sources else options.storage):
        return _over_bundle(options, _pipeline_of_bundle(options))
    return Settings(
        name=options.name or (options.storage.name if options.storage else "pipeline"),
        sources=options.sources,
        storage=options.storage,
        catalog=options.catalog,
        schema=options.schema or "default",
        root_path=options.root_path,
        configuration=options.configuration,
    )


def _pipeline_of_bundle(options: Options) -> BundlePipeline:
    folder = options.bundle or Path()
    if not options.asks_for_bundle and not any((folder / name).is_file() for name in FILE_NAMES):
        fix = "give --source and --storage, or --bundle with a folder that has a databricks.yml"
        message = f"nothing says what to run\n  fix: {fix}"
        raise SettingMissing(message)
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
    )
