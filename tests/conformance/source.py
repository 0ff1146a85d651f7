"""A case as a pipeline: the source file that a user would write, and JSON Lines files of its batches.

The source reads lines of text and parses them with the schema of the current batch, so a source whose columns or
types change between updates remains one stream with a valid checkpoint.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from tests.conformance.case import SNAPSHOT_VERSION, Case

Api = Literal["dlt", "dp"]
_TRACKED = ("track_history_column_list", "track_history_except_column_list")
_LISTS = ("column_list", "except_column_list", *_TRACKED)
_IMPORTS = """import datetime

{api}
from pyspark.sql.functions import col, expr, from_json, struct

"""
_READ = """
def {function}_rows(lines):
    parsed = lines.select(from_json("value", {ddl!r}, {{"mode": "FAILFAST"}}).alias("row"))
    return parsed.select("row.*")
"""
_STREAM = """
@{view}(name={name!r})
def {function}():
    return {function}_rows({reader}.text({folder!r}))
"""
_SNAPSHOTS = """
def next_snapshot(latest_version):
    for version, path in {snapshots}:
        if latest_version is None or version > latest_version:
            return source_rows(spark.read.text(path)), version
    return None
"""


def table(case: Case) -> str:
    """Name of the case's target."""
    return case.name.lower()


def deliver(case: Case, batch: int, folder: Path, part: str = "") -> None:
    """Write a batch to the folder of the pipeline's source; ``part`` names a second delivery."""
    path = _folder(case, batch, folder) / f"batch-{batch:03}{part}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = case.source_rows(batch)
    lines = [
        json.dumps({name: item for name, item in row.items() if name != SNAPSHOT_VERSION}, ensure_ascii=False)
        for row in rows
    ]
    path.write_text("".join(f"{line}\n" for line in lines))


def forget(folder: Path) -> None:
    """Remove all delivered batches, so the source holds only later ones."""
    for path in folder.rglob("*.json"):
        path.unlink()


def pipeline_source(case: Case, batch: int, folder: Path, api: Api) -> str:
    """Python text of the pipeline file for this batch's update."""
    module = "import dlt" if api == "dlt" else "from pyspark import pipelines as dp"
    properties = case.facts.get("table_properties")
    argument = f", table_properties={properties!r}" if properties else ""
    declared = f"\n{api}.create_streaming_table({table(case)!r}{argument})\n"
    flows = _snapshot_flow(case, batch, folder, api) if case.is_snapshot else _flows(case, batch, folder, api)
    return _IMPORTS.format(api=module) + declared + "".join(flows)


def _folder(case: Case, batch: int, folder: Path) -> Path:
    return folder / f"flow{batch % 2}" if case.has_many_flows else folder / "flow0"


def _flows(case: Case, batch: int, folder: Path, api: Api) -> Iterator[str]:
    latest = {_folder(case, index, folder): index for index in range(batch + 1)}
    for path, index in latest.items():
        settings = case.settings(index)
        function = f"source_{path.name}"
        view = f"{table(case)}_{path.name}"
        once = bool(settings.get("once"))
        yield _READ.format(function=function, ddl=_ddl(case.source_columns(index)))
        yield _STREAM.format(
            view="dlt.view" if api == "dlt" else "dp.temporary_view",
            name=view,
            function=function,
            reader="spark.read" if once else "spark.readStream",
            folder=str(path),
        )
        arguments = _arguments(settings, case.source_columns(index), api) | {"source": repr(view)}
        if len(latest) > 1 or case.has_many_flows:
            arguments["flow_name" if api == "dlt" else "name"] = repr(view + "_flow")
        yield _call(f"{api}.{'apply_changes' if api == 'dlt' else 'create_auto_cdc_flow'}", case, arguments)


def _snapshot_flow(case: Case, batch: int, folder: Path, api: Api) -> Iterator[str]:
    path = _folder(case, batch, folder)
    known = [
        f"({_literal(case.snapshot_version(index), case)}, {str(path / f'batch-{index:03}.json')!r})"
        for index in range(case.last_reset(batch), batch + 1)
    ]
    yield _READ.format(function="source", ddl=_ddl(case.source_columns(batch)))
    yield _SNAPSHOTS.format(snapshots="[" + ", ".join(known) + "]")
    settings = case.settings(batch)
    arguments = {"source": "next_snapshot", "keys": repr(settings["keys"])} | _scd(settings, api)
    arguments |= {name: repr(settings[name]) for name in _TRACKED if settings.get(name) is not None}
    words = "apply_changes_from_snapshot" if api == "dlt" else "create_auto_cdc_from_snapshot_flow"
    yield _call(f"{api}.{words}", case, arguments)


def _arguments(settings: dict[str, Any], columns: dict[str, str], api: Api) -> dict[str, str]:
    """The flow's arguments as Python text; where an argument has two forms, the older API uses the other one."""
    arguments = {"keys": repr(settings["keys"]) if api == "dlt" else _columns(settings["keys"])}
    if settings["sequence_by"] is not None:
        arguments["sequence_by"] = _sequence(settings["sequence_by"], columns, api)
    for name in ("where", "apply_as_deletes", "apply_as_truncates"):
        if settings.get(name):
            arguments[name] = f"expr({settings[name]!r})" if api == "dp" else repr(settings[name])
    arguments |= {name: repr(settings[name]) for name in _LISTS if settings.get(name) is not None}
    ignoring = settings.get("ignore_null_updates")
    if isinstance(ignoring, dict):
        arguments |= {f"ignore_null_updates_{name}": repr(listed) for name, listed in ignoring.items()}
    elif ignoring is not None:
        arguments["ignore_null_updates"] = repr(ignoring)
    arguments |= {name: repr(settings[name]) for name in ("columns_to_update", "once") if settings.get(name)}
    return arguments | _scd(settings, api)


def _scd(settings: dict[str, Any], api: Api) -> dict[str, str]:
    kind = settings.get("scd_type")
    return {} if kind is None else {"stored_as_scd_type": repr(str(kind) if api == "dp" else kind)}


def _sequence(sequence_by: str | list[str], columns: dict[str, str], api: Api) -> str:
    if isinstance(sequence_by, list):
        return f"struct({', '.join(map(repr, sequence_by))})"
    if re.fullmatch(r"\w+", sequence_by):
        return f"col({sequence_by!r})" if api == "dlt" else repr(sequence_by)
    return repr(sequence_by) if sequence_by in columns else f"expr({sequence_by!r})"


def _columns(names: list[str]) -> str:
    return "[" + ", ".join(f"col({name!r})" for name in names) + "]"


def _ddl(columns: dict[str, str]) -> str:
    return ", ".join(f"`{name}` {ddl}" for name, ddl in columns.items())


def _literal(version: Any, case: Case) -> str:
    kind = case.facts["types"].get(SNAPSHOT_VERSION, "").upper()
    if kind.startswith("TIMESTAMP"):
        return f"datetime.datetime.fromisoformat({version!r})"
    return f"datetime.date.fromisoformat({version!r})" if kind == "DATE" else repr(version)


def _call(function: str, case: Case, arguments: dict[str, str]) -> str:
    given = {"target": repr(table(case))} | arguments
    return f"\n{function}(\n" + "".join(f"    {name}={text},\n" for name, text in given.items()) + ")\n"
