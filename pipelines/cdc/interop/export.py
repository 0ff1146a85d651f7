"""Table specs as sdp-meta's onboarding file, with the files that it refers to."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from cdc import names
from cdc.debezium.decode import change_columns
from cdc.debezium.positions import position_of
from cdc.errors import Diagnostic
from cdc.interop import texts
from cdc.interop.kafka import kafka_source
from cdc.interop.losses import losses, why_left_out
from cdc.interop.sdp_meta import flow_ids
from cdc.row_conditions import removes_row
from cdc.spec.load import Conf
from cdc.spec.model import TableSpec

Row = dict[str, Any]
ONBOARDING, TRANSFORMATIONS = "onboarding", "silver_transformations"
TOMBSTONES = "pipelines.cdc.tombstoneGCThresholdInSeconds"
NO_RESET = "pipelines.reset.allowed"


@dataclass(frozen=True)
class Wanted:
    """How the files are to be written."""

    env: str
    """The suffix of the keys that differ by environment: ``dev``."""
    read_from: str
    """The folder from which sdp-meta reads the files."""
    form: str
    """``json`` or ``yaml``."""
    kafka: Mapping[str, str]
    """Settings as after ``cdc.kafka.``."""


@dataclass(frozen=True)
class Export:
    """The files of an export, and what they do not say."""

    files: Mapping[str, str]
    """Path in the folder -> content."""
    tables: tuple[TableSpec, ...]
    """Those in the files."""
    found: tuple[Diagnostic, ...]
    """Warnings, and as errors the tables that are left out."""


def export(conf: Conf, wanted: Wanted) -> Export:
    """The tables of a conf folder without faults, as data flows of sdp-meta."""
    left_out = why_left_out(conf.read)
    read = [table for table in conf.read if table.spec and table.reading.document.file not in left_out]
    tables = tuple(table.spec for table in read if table.spec)
    kafka = kafka_source(wanted.kafka)
    files: dict[str, str] = {}
    flows = []
    for identity, table in flow_ids(tables).items():
        rules = f"expectations/{identity}.{_SUFFIXES[wanted.form]}"
        files[rules] = _WRITERS[wanted.form](_rules(table))
        layers = {**_bronze(table, wanted, rules), **_silver(table, wanted)}
        source = {"subscribe": table.topic, **kafka.details}
        head = {
            "data_flow_id": identity,
            "data_flow_group": table.connector.name,
            "source_system": table.source,
            "source_format": "kafka",
            "source_details": source,
            "bronze_reader_options": dict(kafka.reader_options),
        }
        flows.append({**head, **layers})
    files = {
        f"{ONBOARDING}.{_SUFFIXES[wanted.form]}": _WRITERS[wanted.form](flows),
        # Only JSON is documented for these.
        f"{TRANSFORMATIONS}.json": _as_json([_transformation(table) for table in tables]),
        **files,
    }
    found = (*(kafka.found if tables else ()), *left_out.values(), *losses(conf, read))
    return Export(files, tables, found)


def sequence_by(table: TableSpec) -> str:
    """The flat columns of a change that order it, as sdp-meta takes them: it makes a struct of the list."""
    return ",".join(position_of(table.connector).sequence)


def _bronze(table: TableSpec, wanted: Wanted, rules: str) -> Row:
    quarantines = bool(table.expected("quarantine"))
    schema = table.target_schemas.bronze
    return {
        **_place("bronze", schema, wanted.env),
        "bronze_table": table.name,
        "bronze_table_properties": {**table.table_properties.of("bronze"), NO_RESET: "false"},
        f"bronze_data_quality_expectations_json_{wanted.env}": _path(wanted, rules),
        **(_place("bronze", schema, wanted.env, "quarantine_") if quarantines else {}),
        **({"bronze_quarantine_table": f"{table.name}{texts.QUARANTINE}"} if quarantines else {}),
    }


def _silver(table: TableSpec, wanted: Wanted) -> Row:
    properties = dict(table.table_properties.of("silver"))
    if not table.append_only:
        properties[TOMBSTONES] = str(table.tombstone_retention_seconds)
    return {
        **_place("silver", table.target_schemas.silver, wanted.env),
        "silver_table": texts.silver_table(table),
        **({"silver_table_comment": table.comment} if table.comment else {}),
        **({"silver_table_properties": properties} if properties else {}),
        **({"silver_cluster_by": list(table.cluster_by)} if table.cluster_by and not table.append_only else {}),
        f"silver_transformation_json_{wanted.env}": _path(wanted, f"{TRANSFORMATIONS}.json"),
        **({} if table.append_only else {"silver_cdc_apply_changes": _apply_changes(table)}),
    }


def _apply_changes(table: TableSpec) -> Row:
    removal, tracked = removes_row(table), names.tracked_columns(table)
    return {
        "keys": list(table.key),
        "sequence_by": sequence_by(table),
        "scd_type": "2" if table.history else "1",
        **({"apply_as_deletes": removal} if removal else {}),
        "except_column_list": list(change_columns(table)),
        **({"track_history_column_list": list(tracked)} if tracked else {}),
    }


def _place(layer: str, schema: str, env: str, of: str = "") -> Row:
    """Schema and, if it has one, catalog of a layer's table, or of the table of its quarantine."""
    catalog, _, plain = schema.rpartition(".")
    named = {f"{layer}_catalog_{of}{env}": catalog} if catalog else {}
    return {**named, f"{layer}_database_{of}{env}": plain}


def _transformation(table: TableSpec) -> Row:
    columns = (*names.target_columns(table), *change_columns(table))
    return {
        "target_table": texts.silver_table(table),
        "select_exp": [texts.quoted(name) for name in columns],
        "where_clause": [texts.ONLY_CHANGES],
    }


def _rules(table: TableSpec) -> Row:
    """The data quality rules of bronze, by what happens to a row that violates one."""
    # Of an append-only table, what does not meet the filter is no change.
    row_filter = None if table.append_only else table.filter
    found: dict[str, dict[str, str]] = {"expect": dict([texts.NO_REJECT])}
    for action, key in texts.KEYS.items():
        for name, condition in table.expected(action).items():
            found.setdefault(key, {})[name] = texts.rule(condition, action, row_filter)
    return found


def _path(wanted: Wanted, file: str) -> str:
    return f"{wanted.read_from.rstrip('/')}/{file}"


def _as_json(value: Any) -> str:
    return f"{json.dumps(value, ensure_ascii=False, indent=2)}\n"


def _as_yaml(value: Any) -> str:
    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=120)
    return text


_WRITERS: Mapping[str, Callable[[Any], str]] = {"json": _as_json, "yaml": _as_yaml}
_SUFFIXES = {"json": "json", "yaml": "yml"}
FORMS = tuple(_WRITERS)
