"""Turns a pipeline resource into the settings of a local run: libraries, root path, configuration."""

from pathlib import Path

from dlt_local.bundle.document import Value
from dlt_local.bundle.errors import BundleError, stop_if
from dlt_local.bundle.model import Bundle, BundlePipeline
from dlt_local.bundle.references import REFERENCE
from dlt_local.bundle.requirements import is_local
from dlt_local.errors import DeclarationError, did_you_mean

_NOTEBOOKS = ("", ".py", ".ipynb", ".sql")
"""What a notebook's file may end in, after its path."""
_IN_PYTHON = (("python", "resources"), ("experimental", "python", "resources"))
_NOT_RUN_HERE = {
    "jar": "leave it out of the target that you run locally",
    "maven": "leave it out of the target that you run locally",
    "whl": "install it locally and list it under `environment.dependencies` instead",
}


def bundle_pipeline(bundle: Bundle, key: str | None = None) -> BundlePipeline:
    """One pipeline of the bundle.

    Args:
        bundle: the bundle, read for a target.
        key: its key under `resources.pipelines`; may be left out if there is only one pipeline.

    Raises:
        BundleError: there is no such pipeline, or it uses something that is not available locally.
    """
    key, value = _chosen(bundle, key)
    faults: list[DeclarationError] = []
    fields = _Fields(value, faults)
    development = fields.flag("development", default=bundle.mode == "development")
    pipeline = BundlePipeline(
        key=key,
        name=fields.text("name") or key,
        sources=fields.sources(),
        storage=bundle.folder / ".databricks" / "local" / bundle.target / key,
        root_path=fields.folder("root_path"),
        catalog=fields.text("catalog"),
        schema=fields.text("schema") or fields.text("target") or "default",
        configuration=fields.configuration(),
        dependencies=fields.dependencies(),
        development=development,
        continuous=fields.flag("continuous"),
        location=value.location,
    )
    stop_if(faults)
    return pipeline


def _chosen(bundle: Bundle, key: str | None) -> tuple[str, Value]:
    pipelines = bundle.pipelines
    if key is None and len(pipelines) == 1:
        key = next(iter(pipelines))
    if key is not None and key in pipelines:
        return key, pipelines[key]
    known = ", ".join(pipelines) or "none"
    if key is None:
        message = f"the bundle has {len(pipelines)} pipelines" if pipelines else "the bundle has no pipeline"
        fix = f"choose one with --pipeline: {known}" if pipelines else "declare one under `resources.pipelines`"
        if not pipelines and any(bundle.root.find(*place) for place in _IN_PYTHON):
            message += " in YAML; those that it declares in Python only Databricks' own command line can read"
            fix = (
                "copy what `databricks bundle validate --output json` shows under resources.pipelines into a YAML file"
            )
        raise BundleError([DeclarationError("NO_PIPELINE", message, bundle.root.location, fix)])
    message = f"there is no pipeline `{key}`{did_you_mean(key, pipelines)}"
    raise BundleError([DeclarationError("UNKNOWN_PIPELINE", message, bundle.root.location, f"the bundle has: {known}")])


class _Fields:
    """Reads the fields of a resource and collects their faults."""

    def __init__(self, value: Value, faults: list[DeclarationError]) -> None:
        self._value = value
        self._faults = faults

    def text(self, field: str) -> str | None:
        found = self._value.find(field)
        return None if found is None or found.content is None else self._local_text(found)

    def flag(self, field: str, default: bool = False) -> bool:
        text = self.text(field)
        return default if text is None else text.lower() == "true"

    def folder(self, field: str) -> Path | None:
        found = self._value.find(field)
        if found is None:
            return None
        path = self._path(found)
        if not path.is_dir():
            self._fault("MISSING_FOLDER", f"{field} {path} is not a folder", found, "correct the path")
        return path

    def sources(self) -> tuple[str, ...]:
        libraries = self._value.find("libraries")
        found = [self._source(each) for each in (libraries.items if libraries is not None else ())]
        if not found:
            fix = "add `- glob: {include: folder/**}`; a path is relative to the file it is written in"
            self._fault("NO_LIBRARIES", "the pipeline has no libraries", self._value, fix)
        return tuple(source for source in found if source is not None)

    def configuration(self) -> dict[str, str]:
        found = self._value.find("configuration")
        return {key: self._local_text(value) for key, value in found.fields.items()} if found is not None else {}

    def dependencies(self) -> tuple[str, ...]:
        found = self._value.find("environment", "dependencies")
        return tuple(self._dependency(each) for each in found.items) if found is not None else ()

    def _dependency(self, value: Value) -> str:
        text = self._local_text(value)
        if is_local(text) and not list(value.file.parent.glob(text)):
            message = f"`{text}` is taken for a file, which does not exist"
            fix = "for a package write name==version: no dot in the name (`-` means the same), no marker, no space"
            self._fault("NOT_A_PACKAGE", message, value, fix)
        return text

    def _source(self, library: Value) -> str | None:
        if path := library.find("glob", "include") or library.find("file", "path"):
            return str(self._path(path))
        if notebook := library.find("notebook", "path"):
            return self._notebook(notebook)
        kind = next(iter(library.fields), "entry")
        fix = _NOT_RUN_HERE.get(
            kind, "write `- glob: {include: ...}`, `- file: {path: ...}` or `- notebook: {path: ...}`"
        )
        self._fault("LIBRARY_NOT_RUN_HERE", f"a library of kind `{kind}` cannot run locally", library, fix)
        return None

    def _notebook(self, value: Value) -> str | None:
        """The file of a notebook, which a workspace names without its ending."""
        path = self._path(value)
        found = next((file for end in _NOTEBOOKS if (file := path.with_name(path.name + end)).is_file()), None)
        if found is None:
            fix = "correct the path; it is relative to the file that it is written in"
            self._fault("NOTEBOOK_NOT_FOUND", f"there is no notebook {path}", value, fix)
        return None if found is None else str(found)

    def _path(self, value: Value) -> Path:
        """The absolute path; a relative one is relative to the file it is written in."""
        return Path(value.file.parent, self._local_text(value)).resolve()

    def _local_text(self, value: Value) -> str:
        """The text of a value that must be known without a workspace."""
        unresolved = REFERENCE.search(value.text)
        if unresolved is not None:
            fix = "use something else, such as a variable, in the target that you run locally"
            self._fault("KNOWN_IN_WORKSPACE_ONLY", f"{unresolved[0]} has no value on this machine", value, fix)
        return value.text

    def _fault(self, condition: str, message: str, value: Value, fix: str) -> None:
        self._faults.append(DeclarationError(condition, message, value.location, fix))
