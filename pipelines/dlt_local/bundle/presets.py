"""Presets of a target: what its mode, and its `presets`, change in jobs, pipelines and schemas.

The rules are those of `apply_target_mode.go` and `apply_presets.go` in the source of Databricks' command line.
Kinds of resources that this reader does not know keep their names.
"""

from collections.abc import Mapping

from dlt_local.bundle.document import Content, Value
from dlt_local.bundle.merge import merge
from dlt_local.bundle.references import Resolver
from dlt_local.bundle.workspace import normalized
from dlt_local.errors import DeclarationError

DEVELOPMENT, PRODUCTION = "development", "production"
_CONCURRENT_RUNS_IN_DEVELOPMENT = 4
_PREFIXED = ("jobs", "pipelines", "schemas")
_TAGGED = ("jobs", "pipelines")


def with_presets(root: Value, mode: str | None, faults: list[DeclarationError]) -> Value:
    """The settings with names, tags and schedules of resources as the target's mode and presets make them."""
    resources = root.find("resources") or root.with_content({})
    if mode == PRODUCTION:
        faults.extend(_development_faults(resources))
    presets = _presets(root, mode, faults)
    kinds = {
        kind: each.with_content({key: _preset(kind, value, presets) for key, value in each.fields.items()})
        for kind, each in resources.fields.items()
        if each.fields
    }
    return root.with_content({**root.fields, "resources": resources.with_content({**resources.fields, **kinds})})


def _presets(root: Value, mode: str | None, faults: list[DeclarationError]) -> Mapping[str, Value]:
    given = root.find("presets") or root.with_content({})
    resolved = Resolver(root, faults).resolve(given)
    if mode != DEVELOPMENT:
        return resolved.fields
    user = root.find("workspace", "current_user", "short_name")
    name = user.text if user is not None else ""
    defaults: dict[str, Content] = {
        "name_prefix": f"[dev {name}] ",
        "trigger_pause_status": "PAUSED",
        "jobs_max_concurrent_runs": _CONCURRENT_RUNS_IN_DEVELOPMENT,
        "pipelines_development": True,
        "tags": {"dev": given.with_content(name)},
    }
    return merge(given.with_content({k: given.with_content(v) for k, v in defaults.items()}), resolved, faults).fields


def _preset(kind: str, value: Value, presets: Mapping[str, Value]) -> Value:
    fields = dict(value.fields)
    prefix = presets["name_prefix"].text if "name_prefix" in presets else ""
    if kind == "schemas":
        prefix = _start_of_identifier(prefix)
    if kind in _PREFIXED and "name" in fields:
        fields["name"] = fields["name"].with_content(prefix + fields["name"].text)
    if kind in _TAGGED and "tags" in presets:
        own = fields.get("tags", value.with_content({}))
        fields["tags"] = own.with_content({**presets["tags"].fields, **own.fields})
    if kind == "pipelines" and _is_true(presets.get("pipelines_development")):
        fields["development"] = value.with_content(True)
    if kind == "jobs":
        fields = _job(fields, presets)
    return value.with_content(fields)


def _job(fields: dict[str, Value], presets: Mapping[str, Value]) -> dict[str, Value]:
    if "jobs_max_concurrent_runs" in presets:
        fields.setdefault("max_concurrent_runs", presets["jobs_max_concurrent_runs"])
    for trigger in ("schedule", "continuous", "trigger"):
        if trigger in fields and "trigger_pause_status" in presets:
            status = {"pause_status": presets["trigger_pause_status"], **fields[trigger].fields}
            fields[trigger] = fields[trigger].with_content(status)
    return fields


def _start_of_identifier(prefix: str) -> str:
    """`[dev ada] ` as the start of a schema's name.

    >>> _start_of_identifier("[dev ada] ")
    'dev_ada_'
    """
    return normalized(prefix) + ("_" if prefix.strip().endswith("]") else "")


def _is_true(value: Value | None) -> bool:
    return value is not None and value.content is True


def _development_faults(resources: Value) -> list[DeclarationError]:
    pipelines = (resources.find("pipelines") or resources.with_content({})).fields.values()
    found = [flag for each in pipelines if (flag := each.find("development")) and _is_true(flag)]
    message = "a target with `mode: production` cannot have a pipeline with `development: true`"
    return [DeclarationError("DEVELOPMENT_IN_PRODUCTION", message, flag.location, "remove it") for flag in found]
