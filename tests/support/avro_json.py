"""A record in Avro's JSON encoding, converted from the same record with a schema block."""

import base64
from collections.abc import Mapping
from typing import Any

_BRANCHES = {
    **dict.fromkeys(("int8", "int16", "int32"), "int"),
    "int64": "long",
    **{name: name for name in ("float", "double", "boolean", "string", "bytes", "array", "map")},
}


def avro_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of ``{"schema": ..., "payload": ...}``, each optional value wrapped in the name of its type."""
    envelope: dict[str, Any] = _plain(value["schema"], value["payload"])
    return envelope


def _field(schema: Mapping[str, Any], value: Any) -> Any:
    if value is None:
        return None
    plain = _plain(schema, value)
    return {_branch(schema): plain} if schema["optional"] else plain


def _plain(schema: Mapping[str, Any], value: Any) -> Any:
    match schema["type"]:
        case "struct":
            return {field["field"]: _field(field, value.get(field["field"])) for field in schema["fields"]}
        case "array":
            return [_field(schema["items"], each) for each in value]
        case "map" if schema["keys"]["type"] == "string":
            return {name: _field(schema["values"], each) for name, each in value.items()}
        case "map":
            parts = (schema["keys"], schema["values"])
            return [dict(zip(("key", "value"), map(_field, parts, pair), strict=True)) for pair in value]
        case "bytes":
            return base64.b64decode(value).decode("latin-1")
    return value


def _branch(schema: Mapping[str, Any]) -> str:
    return str(schema["name"]) if schema["type"] == "struct" else _BRANCHES[schema["type"]]
