"""The dialect of OpenAPI's schemas, as JSON Schema (draft 2020-12) says the same."""

from __future__ import annotations

from typing import Any

DYNAMIC = ("$dynamicRef", "$recursiveRef")
"""References of drafts 2020-12 and 2019-09 to whatever extends a schema."""

NOT_JSON_SCHEMA = frozenset({
    "discriminator", "xml", "externalDocs", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor",
    "$vocabulary", *DYNAMIC,
})  # fmt: skip
"""Keywords that mean nothing to a caller, or nothing outside their document."""

KEPT_BESIDE_REF = ("title", "description", "default", "deprecated", "examples")
"""Keywords that say something of the place of a reference, not of what it leads to."""

_RESTRICTS = ("allOf", "anyOf", "oneOf", "not", "if", "const")
_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def as_json_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema, whose inner ones are done, as JSON Schema says it, without what only responses have.

    `nullable` and exclusive bounds as booleans are OpenAPI 3.0's, and documents of 3.1 have them too, as they have
    words of former drafts; properties that are read-only are never sent.
    """
    made = of_former_drafts(_without_read_only(schema))
    if "example" in made:
        example = made.pop("example")
        made.setdefault("examples", [example])
    return _with_null(made) if made.pop("nullable", False) is True else made


def of_former_drafts(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema, whose inner ones are done, with what drafts 3 to 7 say otherwise as draft 2020-12 says it."""
    made = dict(schema)
    for exclusive, inclusive in _BOUNDS.items():
        is_exclusive = made.get(exclusive)
        if isinstance(is_exclusive, bool):
            del made[exclusive]
            if is_exclusive and inclusive in made:
                made[exclusive] = made.pop(inclusive)
    if isinstance(made.get("items"), list):
        made["prefixItems"] = made.pop("items")
        if "additionalItems" in made:
            made["items"] = made.pop("additionalItems")
    if isinstance(made.get("dependencies"), dict):
        for name, needed in made.pop("dependencies").items():
            kind = "dependentRequired" if isinstance(needed, list) else "dependentSchemas"
            if isinstance(made.setdefault(kind, {}), dict):
                made[kind].setdefault(name, needed)
    return _with_required(made)


def _with_required(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the names that are required in one list, each once: properties of draft 3 say it there."""
    properties, required = schema.get("properties"), schema.get("required")
    names = list(required) if isinstance(required, list) else []
    if isinstance(properties, dict):
        said = {name for name, inner in properties.items() if isinstance(inner, dict) and _is_flag(inner)}
        if said:
            names += [name for name in properties if name in said]
            schema = {**schema, "properties": {
                name: {key: value for key, value in inner.items() if key != "required"} if name in said else inner
                for name, inner in properties.items()
            }}  # fmt: skip
            names = [name for name in names if name not in said or properties[name]["required"]]
    if not names or not all(isinstance(name, str) for name in names):
        return schema
    return {**schema, "required": list(dict.fromkeys(names))}


def _is_flag(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("required"), bool)


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
