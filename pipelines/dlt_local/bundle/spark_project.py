"""Reads a project of open-source Spark's pipelines (`spark-pipelines init`): the settings of its `spark-pipeline.yml`.

The fields are those of pyspark's own command line, pyspark/pipelines/cli.py.
"""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from dlt_local.bundle.document import Value, read_document
from dlt_local.bundle.errors import BundleError, stop_if
from dlt_local.bundle.model import BundlePipeline
from dlt_local.errors import DeclarationError, did_you_mean

SPEC_NAMES = ("spark-pipeline.yml", "spark-pipeline.yaml")
_FIELDS = ("name", "storage", "catalog", "database", "schema", "configuration", "libraries")
_STORAGE = "pipeline-storage"
"""The folder beside the file, where the file names none on this machine."""


def read_spark_project(path: Path) -> BundlePipeline:
    """The pipeline that a spark-pipeline.yml describes.

    Args:
        path: the file, or its folder.

    Raises:
        BundleError: it has faults; all of them, each with its line.
    """
    file = _file(path.absolute())
    faults: list[DeclarationError] = []
    root = read_document(file, faults)
    stop_if(faults)
    for field, value in root.fields.items():
        if field not in _FIELDS:
            message = f"unknown field `{field}`{did_you_mean(field, _FIELDS)}"
            faults.append(_fault("UNKNOWN_FIELD", message, value, f"the fields are {', '.join(_FIELDS)}"))
    name = _text(root, "name") or file.parent.name
    pipeline = BundlePipeline(
        key=name,
        name=name,
        sources=_sources(root, faults),
        storage=_storage(root, file.parent),
        root_path=file.parent,
        catalog=_text(root, "catalog"),
        schema=_text(root, "database") or _text(root, "schema") or "default",
        configuration=_configuration(root, faults),
        dependencies=(),
        development=False,
        continuous=False,
        location=root.location,
    )
    stop_if(faults)
    return pipeline


def _file(path: Path) -> Path:
    files = (path,) if path.suffix in (".yml", ".yaml") else tuple(path / name for name in SPEC_NAMES)
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        message, fix = f"there is no {SPEC_NAMES[0]} at {path}", "give the file, or its folder, with --spec"
        raise BundleError([DeclarationError("NO_BUNDLE", message, fix=fix)])
    return found


def _text(root: Value, field: str) -> str | None:
    found = root.find(field)
    return found.text if found is not None and found.text else None


def _storage(root: Value, folder: Path) -> Path:
    text = _text(root, "storage") or _STORAGE
    split = urlsplit(text)
    if split.scheme not in ("", "file"):
        return folder / _STORAGE
    return folder / unquote(split.path if split.scheme else text)


def _sources(root: Value, faults: list[DeclarationError]) -> tuple[str, ...]:
    libraries = root.find("libraries")
    found = []
    for library in libraries.items if libraries is not None else ():
        include = library.find("glob", "include")
        if include is None or not include.text:
            fix = "write `- glob: {include: transformations/**}`"
            faults.append(_fault("WRONG_SHAPE", "a library is not a glob", library, fix))
            continue
        found.append(str(root.file.parent / include.text))
    if not found and not faults:
        fix = "add `- glob: {include: transformations/**}`; a path is relative to this file"
        faults.append(_fault("NO_LIBRARIES", "the pipeline has no libraries", libraries or root, fix))
    return tuple(found)


def _configuration(root: Value, faults: list[DeclarationError]) -> dict[str, str]:
    found = root.find("configuration")
    if found is None:
        return {}
    for key, value in found.fields.items():
        if value.fields or value.items:
            fix = f"write {key} as a text"
            faults.append(_fault("WRONG_SHAPE", f"configuration `{key}` is not a text", value, fix))
    return {key: value.text for key, value in found.fields.items()}


def _fault(condition: str, message: str, value: Value, fix: str) -> DeclarationError:
    return DeclarationError(condition, message, value.location, fix)
