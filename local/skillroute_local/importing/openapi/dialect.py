"""The dialect of OpenAPI's schemas, as JSON Schema (draft 2020-12) says the same."""

from __future__ import annotations

from typing import Any

NOT_JSON_SCHEMA = frozenset({"discriminator", "xml", "externalDocs", "$schema", "$id", "$anchor"})
"""Keywords that mean nothing to a caller, or nothing outside their document."""

KEPT_BESIDE_REF = ("title", "description", "default", "deprecated", "examples")
"""Keywords that say something of the place of a reference, not of what it leads to."""

_RESTRICTS = ("allOf", "anyOf", "oneOf", "not", "if", "const")
_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def as_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema, whose inner ones are done, as JSON Schema says it, without what only responses have.

    `nullable` and exclusive bounds as booleans are OpenAPI 3.0's, and documents of 3.1 have them too; properties that
    are read-only are never sent.
    """
    made = _without_read_only(schema)
    if "example" in made:
        example = made.pop("example")
        made.setdefault("examples", [example])
    for exclusive, inclusive in _BOUNDS.items():
        is_exclusive = made.get(exclusive)
        if isinstance(is_exclusive, bool):
            del made[exclusive]
            if is_exclusive and inclusive in made:
                made[exclusive] = made.pop(inclusive)
    return _with_null(made) if made.pop("nullable", False) is True else made


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    type_, enum = schema.get("type"), schema.get("enum")
    if any(key in schema for key in _RESTRICTS) or (type_ is None and enum is not None):
        # A type beside them is not enough: what they lead to allows no null.
        outside = {key: value for key, value in schema.items() if key in KEPT_BESIDE_REF}
        inside = {key: value for key, value in schema.items() if key not in KEPT_BESIDE_REF}
        return {"anyOf": [inside, {"type": "null"}], **outside}
    types = [type_] if isinstance(type_, str) else type_
    if not isinstance(types, list):
        return schema  # without a type anything goes, null too
    allowed = {"enum": [*enum, None]} if isinstance(enum, list) and None not in enum else {}
    return {**schema, "type": [*(name for name in types if name != "null"), "null"], **allowed}


def _without_read_only(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return dict(schema)
    out = {name for name, inner in properties.items() if isinstance(inner, dict) and inner.get("readOnly") is True}
    if not out:
        return dict(schema)
    made = {**schema, "properties": {name: inner for name, inner in properties.items() if name not in out}}
    if isinstance(required := schema.get("required"), list):
        made["required"] = [name for name in required if name not in out]
    return made
