"""A data flow of sdp-meta as a table of ours, and everything that cannot be taken over."""

import re
from collections.abc import Mapping

from cdc.errors import Condition
from cdc.interop import texts
from cdc.interop.apply_changes import Applied, applied
from cdc.interop.export import NO_RESET, TOMBSTONES
from cdc.interop.imported import Imported
from cdc.interop.onboarding import Onboarding, Part
from cdc.interop.rules import expectations
from cdc.interop.settings import report_kafka
from cdc.interop.transformations import Selected, selected
from cdc.spec.schema import field_schema

LAYERS = ("bronze", "silver")
_SOURCE_FILE = "declare it in a source file of your own beside bronze/, silver/ and gold/."
_OF_QUARANTINE = (
    *("catalog_quarantine_{env}", "database_quarantine_{env}", "quarantine_table", "quarantine_table_comment"),
    *("quarantine_table_path_{env}", "quarantine_table_properties", "quarantine_table_partitions"),
    *("quarantine_table_cluster_by", "quarantine_table_cluster_by_auto"),
)
_LOST = {
    "table_path_{env}": "nothing: the catalog decides where tables are.",
    "partition_columns": "use `cluster_by:`.",
    "cluster_by_auto": "name the columns in `cluster_by:`.",
    "row_filter": "set it in Unity Catalog, on the tables of gold.",
    "quarantine_row_filter": "set it in Unity Catalog, on silver.<table>_rejects.",
    "cdc_apply_changes_flows": "write a data flow for each source, import it, then let them share a target by `into:`.",
    "apply_changes_from_snapshot": _SOURCE_FILE,
    "append_flows": _SOURCE_FILE,
    "sinks": _SOURCE_FILE,
    **dict.fromkeys(_OF_QUARANTINE, "nothing: rejects are in silver.<table>_rejects."),
}
"""Field of a layer -> what to do about it."""
_TAKEN = (
    *("catalog_{env}", "database_{env}", "table", "table_comment", "table_properties", "cluster_by", "reader_options"),
    *("data_quality_expectations_json_{env}", "cdc_apply_changes"),
)
_HEAD = ("data_flow_id", "data_flow_group", "source_system", "source_format", "source_details")
_TRANSFORMATION = "silver_transformation_json_{env}"


def known_fields(env: str) -> tuple[str, ...]:
    """The fields of a data flow."""
    of_layers = (f"{layer}_{name}".format(env=env) for layer in LAYERS for name in (*_TAKEN, *_LOST))
    return (*_HEAD, _TRANSFORMATION.format(env=env), *of_layers)


def take_over(onboarding: Onboarding, flow: Part, source: str, topic: str) -> Imported:
    """The table of a flow that reads a table's topic; faults and losses are reported."""
    env = onboarding.env
    columns = selected(onboarding, flow)
    how = _applied(flow, columns)
    properties = {layer: _properties(flow.part(f"{layer}_table_properties")) for layer in LAYERS}
    tombstones = flow.part("silver_table_properties").text(TOMBSTONES)
    table = Imported(
        source=source,
        name=_name(flow, is_keyed=bool(how.key)),
        topic=topic,
        schemas=_schemas(flow, env),
        key=how.key,
        history=how.history,
        expectations=expectations(onboarding, flow, how.row_filter),
        row_filter=how.row_filter,
        comment=flow.text("silver_table_comment") or flow.text("bronze_table_comment"),
        cluster_by=tuple(columns.source(texts.column_name(name)) for name in flow.texts("silver_cluster_by")),
        tombstone_seconds=int(tombstones) if how.key and tombstones and tombstones.isdecimal() else None,
        properties={layer: stated for layer, stated in properties.items() if stated},
        renames=columns.renames,
        excluded=how.excluded,
        within_transaction=how.within_transaction,
    )
    _report_losses(flow, env, table)
    report_kafka(onboarding, flow, LAYERS)
    return table


def _applied(flow: Part, columns: Selected) -> Applied:
    silver, bronze = (flow.part(f"{layer}_cdc_apply_changes") for layer in ("silver", "bronze"))
    if silver.data and bronze.data:
        flow.lost("bronze_cdc_apply_changes", "changes are applied in silver only", "nothing, if silver has all rows.")
    return applied(silver if silver.data else bronze, columns)


def _name(flow: Part, *, is_keyed: bool) -> str:
    """The base name of the datasets."""
    silver, bronze = flow.text("silver_table"), flow.text("bronze_table")
    name = silver or bronze
    if name is None:
        detail = "the data flow lacks `silver_table`: what is the table called?"
        flow.report(Condition.MISSING_FIELD, (), detail, 'add `"silver_table": "orders"`.')
        return "unnamed"
    if not is_keyed and bronze and name == f"{bronze}_changes":
        name = bronze
    plain = re.sub(r"[^a-z0-9_]", "_", name.lower())
    plain = plain if re.fullmatch(field_schema("table", ("name",))["pattern"], plain) else f"t_{plain}"
    if plain != name:
        flow.lost("silver_table" if silver else "bronze_table", f"the table becomes `{plain}`", "edit its `name:`.")
    if bronze and bronze not in (name, plain):
        flow.lost("bronze_table", f"bronze's table becomes `{plain}` too: a table has one name", "edit its `name:`.")
    return plain


def _schemas(flow: Part, env: str) -> Mapping[str, str]:
    """Layer -> schema, perhaps with its catalog."""
    found: dict[str, str] = {}
    for layer in LAYERS:
        parts = (flow.text(f"{layer}_catalog_{env}"), flow.text(field := f"{layer}_database_{env}"))
        schema = ".".join(part for part in parts if part)
        if not parts[1]:
            continue
        if not re.fullmatch(field_schema("table", ("target_schemas", layer))["pattern"], schema):
            flow.lost(field, f"`{schema}` is not the name of a schema in a table spec", "set `target_schemas:`.")
        elif schema in found.values():
            flow.lost(
                field, f"`{schema}` is bronze's schema too; each layer has its own here", "set `target_schemas:`."
            )
        else:
            found[layer] = schema
    return found


def _properties(stated: Part) -> Mapping[str, str]:
    """Table properties, without those that the pipeline sets itself."""
    found: dict[str, str] = {}
    for name, value in stated.data.items():
        if name == NO_RESET or (name == TOMBSTONES and str(value).isdecimal()):
            continue
        if name.lower().startswith(("rows.", "report.", "pipelines.")) or isinstance(value, dict | list | None):
            stated.lost(name, f"`{name}` is not a property that a table spec can set", "see docs/table-spec.md.")
        else:
            found[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


def _report_losses(flow: Part, env: str, table: Imported) -> None:
    own = _own_quarantine(flow, table)
    for layer in LAYERS:
        for pattern, fix in _LOST.items():
            name = f"{layer}_{pattern}".format(env=env)
            if flow.data.get(name) not in (None, "", [], {}, False) and not (pattern in _OF_QUARANTINE and own):
                flow.lost(name, f"`{name}` has no counterpart in a table spec", fix)
    if flow.data.get("bronze_cluster_by"):
        flow.lost("bronze_cluster_by", "bronze is not clustered: it is read as a stream", "nothing.")
    if flow.data.get("silver_table_comment") and flow.data.get("bronze_table_comment"):
        flow.lost("bronze_table_comment", "a table has one comment; it is silver's", "nothing.")


def _own_quarantine(flow: Part, table: Imported) -> bool:
    """True if the quarantine is the one of an export, whose rows become rejects again."""
    return flow.data.get("bronze_quarantine_table") == f"{table.name}{texts.QUARANTINE}"
