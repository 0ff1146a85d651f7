"""The settings of a deployment that change what a conf folder says: `cdc.schemas.bronze`, `.silver` and `.gold`.

They win over `target_schemas` of defaults.yml and the connectors, which say where datasets are as a rule. A table's own
wins over them: it sets this table apart from the others, and must do so in every deployment.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cdc.errors import RunCondition, RunError, near_match
from cdc.spec.layers import LAYERS
from cdc.spec.schema import field_schema

PREFIX = "cdc.schemas."
SETTINGS = {
    f"{PREFIX}{layer}": f"the schema of {layer}, unless a table spec sets its own; `catalog.schema` names a catalog too"
    for layer in LAYERS
}
"""Setting -> what it means."""


class BadSchemaSetting(RunError):
    """A ``cdc.schemas`` setting that is no schema, or of no layer."""

    def __init__(self, place: str, message: str, fix: str) -> None:
        super().__init__(RunCondition.BAD_SCHEMA_SETTING, place, message, fix)


def deployed_schemas(settings: Mapping[str, Any]) -> dict[str, str]:
    """Layer -> schema, from the settings of a pipeline's configuration; empty texts count as not set.

    >>> deployed_schemas({"cdc.schemas.gold": "dev_anna_gold", "cdc.schemas.silver": "", "cdc.conf": "conf"})
    {'gold': 'dev_anna_gold'}

    Raises:
        BadSchemaSetting: a value is not the name of a schema.
    """
    stated = {layer: str(settings.get(f"{PREFIX}{layer}") or "").strip() for layer in LAYERS}
    for layer, schema in stated.items():
        allowed = field_schema("table", ("target_schemas", layer))
        if schema and not re.fullmatch(allowed["pattern"], schema):
            raise BadSchemaSetting(f"{PREFIX}{layer}", f"`{schema}` is not the name of a schema", allowed["x-fix"])
    return {layer: schema for layer, schema in stated.items() if schema}


def schemas_from_options(options: Iterable[str]) -> dict[str, str]:
    """Layer -> schema, from ``--set`` options such as ``cdc.schemas.gold=dev_anna_gold``.

    Raises:
        BadSchemaSetting: an option has another form, or names another setting.
    """
    settings = {}
    for option in options:
        name, separator, value = option.partition("=")
        if not separator or name not in SETTINGS:
            near = near_match(name, SETTINGS)
            meant = f" (did you mean `{near}`?)" if near and near != name else ""
            fix = f"write NAME=VALUE; these settings decide names: {', '.join(SETTINGS)}."
            raise BadSchemaSetting(f"--set {option}", f"it does not name the schema of a layer{meant}", fix)
        settings[name] = value
    return deployed_schemas(settings)
