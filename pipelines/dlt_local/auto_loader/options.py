"""The options of one read by Auto Loader: parsed into a frozen value, with all faults at once.

Names, defaults and meanings are those of
https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/options.html (options) and
https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/schema.html (schema inference and evolution).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dlt_local.auto_loader import option_names as names
from dlt_local.errors import did_you_mean

Evolution = Literal["addNewColumns", "rescue", "failOnNewColumns", "none"]
RESCUED = "_rescued_data"
_MODES: tuple[Evolution, ...] = ("addNewColumns", "rescue", "failOnNewColumns", "none")
_FILES_PER_BATCH = 1000
"""Databricks' default of maxFilesPerTrigger."""
_UNITS = {"": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class BadOptions(Exception):
    """Options that cannot be honoured.

    Attributes:
        faults: one sentence for each.
    """

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


@dataclass(frozen=True)
class ReadOptions:
    """How a folder is read."""

    format: str
    """One of `names.FORMATS`, in lower case."""
    schema_location: str | None = None
    infer_types: bool = False
    schema_hints: str = ""
    evolution: Evolution = "addNewColumns"
    rescued_column: str | None = RESCUED
    """The column of rescued data; None if there is none."""
    partition_columns: tuple[str, ...] | None = None
    """None: those that the folders' names have."""
    include_existing: bool = True
    files_per_batch: int | None = _FILES_PER_BATCH
    bytes_per_batch: int | None = None
    glob: str | None = None
    reader: Mapping[str, str] = field(default_factory=dict)
    """The options of the format's own reader, as given."""
    notices: tuple[str, ...] = ()
    """Options that have no effect here."""

    def get(self, name: str, default: str) -> str:
        """An option of the format's reader."""
        return next((value for key, value in self.reader.items() if key.lower() == name.lower()), default)

    def is_on(self, name: str, default: bool = False) -> bool:
        """True if an option of the format's reader is."""
        return self.get(name, str(default)).strip().lower() == "true"


def parse(given: Mapping[str, str], has_schema: bool) -> ReadOptions:
    """The options as a value.

    Args:
        given: as the source file gives them.
        has_schema: True if it gives a schema too.

    Raises:
        BadOptions: names every option that is unknown, wrong, or cannot be honoured.
    """
    reading = _Reading(given)
    format_ = reading.format()
    mode = reading.one_of("cloudFiles.schemaEvolutionMode", _MODES, "none" if has_schema else "addNewColumns")
    if has_schema and mode == "addNewColumns":
        fault = "cloudFiles.schemaEvolutionMode=addNewColumns needs an inferred schema, and a schema is given:"
        reading.faults.append(f"{fault} give its columns as cloudFiles.schemaHints instead")
    if has_schema and reading.text("cloudFiles.schemaHints"):
        reading.faults.append("cloudFiles.schemaHints and a schema are given: leave one of them out")
    rescued = reading.text("rescuedDataColumn") or reading.text("cloudFiles.rescuedDataColumn")
    if rescued is None and not (mode == "none" or format_ in ("text", "binaryfile")):
        rescued = RESCUED
    if format_ == "csv" and (reading.text("mode") or "permissive").lower() != "permissive":
        reading.faults.append("mode must be PERMISSIVE for csv files: what does not fit is rescued")
    columns = reading.text("cloudFiles.partitionColumns")
    most_files = reading.number("cloudFiles.maxFilesPerTrigger") or reading.number("maxFilesPerTrigger")
    most_bytes = reading.size("cloudFiles.maxBytesPerTrigger") or reading.size("maxBytesPerTrigger")
    options = ReadOptions(
        format=format_,
        schema_location=reading.text("cloudFiles.schemaLocation"),
        infer_types=reading.flag("cloudFiles.inferColumnTypes", False),
        schema_hints=reading.text("cloudFiles.schemaHints") or "",
        evolution=mode,
        rescued_column=rescued,
        partition_columns=None if columns is None else tuple(c.strip() for c in columns.split(",") if c.strip()),
        include_existing=reading.flag("cloudFiles.includeExistingFiles", True),
        files_per_batch=most_files or (None if most_bytes else _FILES_PER_BATCH),
        bytes_per_batch=None if most_files else most_bytes,
        glob=reading.text("pathGlobFilter") or reading.text("fileNamePattern"),
        reader=reading.of_format(format_),
        notices=tuple(reading.notices),
    )
    if reading.faults:
        raise BadOptions(reading.faults)
    return options


class _Reading:
    """Reads options one by one and collects what is wrong with them."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.faults: list[str] = []
        self.notices: list[str] = []
        self._given = {name.lower(): (name, value) for name, value in given.items()}

    def text(self, name: str) -> str | None:
        return self._given.get(name.lower(), (name, None))[1]

    def format(self) -> str:
        value = self.text("cloudFiles.format")
        if value is None:
            self.faults.append("cloudFiles.format is missing: name the files' format")
            return "json"
        if value.lower() in names.FORMATS:
            return value.lower()
        reason = names.REFUSED_FORMATS.get(value.lower())
        known = ", ".join(names.FORMATS.values())
        what = f": {reason}" if reason else f"{did_you_mean(value, names.FORMATS.values())}: the formats are {known}"
        self.faults.append(f"cloudFiles.format={value} cannot be read{what}")
        return "json"

    def one_of(self, name: str, values: tuple[Evolution, ...], default: Evolution) -> Evolution:
        value = self.text(name)
        if value is None:
            return default
        found = next((each for each in values if each.lower() == value.lower()), None)
        if found is None:
            near = did_you_mean(value, values)
            self.faults.append(f"{name}={value} is not known{near}: the values are {', '.join(values)}")
        return found or default

    def flag(self, name: str, default: bool) -> bool:
        value = (self.text(name) or str(default)).strip().lower()
        if value not in ("true", "false"):
            self.faults.append(f"{name}={value} must be true or false")
        return value == "true"

    def number(self, name: str) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        if not value.strip().isdigit() or int(value) == 0:
            self.faults.append(f"{name}={value} must be a positive number")
            return None
        return int(value)

    def size(self, name: str) -> int | None:
        value = self.text(name)
        if value is None:
            return None
        match = re.fullmatch(r"(\d+)\s*([bkmgt]?)b?", value.strip().lower())
        if match is None or int(match[1]) == 0:
            self.faults.append(f"{name}={value} must be a number of bytes, such as 10g")
            return None
        return int(match[1]) * _UNITS[match[2]]

    def of_format(self, format_: str) -> dict[str, str]:
        """The options of the format's reader; every other one has to be known."""
        own = {name.lower() for name in names.OF_FORMAT[format_]}
        reader = {}
        for key, (name, value) in self._given.items():
            if key in names.REFUSED and value.strip().lower() not in names.HARMLESS.get(key, ()):
                self.faults.append(f"{name}={value} cannot be honoured: {names.REFUSED[key]}")
            elif key in own:
                reader[name] = value
            elif key not in names.READ:
                self._without_effect(key, name, format_)
        return reader

    def _without_effect(self, key: str, name: str, format_: str) -> None:
        if key in names.NO_EFFECT or key.startswith(names.NO_EFFECT_PREFIXES) or key in names.REFUSED:
            self.notices.append(f"`{name}` has no effect locally: {names.NO_EFFECT.get(key, names.CLOUD)}")
        elif key in names.OF_ANY_FORMAT:
            self.notices.append(f"`{name}` has no effect: it is no option of {names.FORMATS[format_]} files")
        else:
            known = [*names.READ.values(), *names.OF_FORMAT[format_]]
            if self._given.get("cloudfiles.validateoptions", ("", "true"))[1].lower() == "false":
                self.notices.append(f"`{name}` has no effect: it is not an option{did_you_mean(name, known)}")
                return
            self.faults.append(f"{name} is not an option{did_you_mean(name, known)}")
