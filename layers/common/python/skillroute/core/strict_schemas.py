"""Schemas of strangers in a form that every client of MCP takes.

The TypeScript SDK refuses a whole list of tools for one schema: it wants objects where JSON Schema allows `true`, a
list or nothing where servers write null, and compiles each output schema, which fails where a reference leads nowhere.
Its texts, and what clients send, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VALUES = ("const", "default", "enum", "example", "examples")
_NOT_COMPILED = {"$schema", "pattern", "patternProperties", "format"}
"""Of an output schema: dialects that the compiler lacks, and expressions that mean something else in JavaScript."""

_MAX_DEPTH = 200


def strict_input(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the schema of a tool's arguments: of an object, whose properties are objects.

    Examples
    --------
    >>> strict_input({"properties": {"any": True, "none": False}, "required": None})
    {'type': 'object', 'properties': {'any': {}, 'none': {'not': {}}}}
    """
    return _of_object(schema or {})


def strict_output(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the schema of a tool's result; None where it has none, or one that cannot be compiled.

    Examples
    --------
    >>> strict_output({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}) is None
    True
    """
    if schema is None or schema.get("type", "object") != "object":
        return None
    shown = _of_object(_without(schema, _NOT_COMPILED))
    return shown if all(_leads_somewhere(reference, shown) for reference in _references(shown)) else None


def _of_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = _strict(schema, 0)
    return shown if shown.get("type") == "object" else {"type": "object", **shown, **{"type": "object"}}


def _strict(schema: Any, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth > _MAX_DEPTH:
        return schema
    shown: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _VALUES:
            shown[key] = value
        elif key in _MAPS:
            if isinstance(value, Mapping):
                shown[key] = {name: _strict(_as_object(inner), depth + 1) for name, inner in value.items()}
        elif key == "required":
            if isinstance(value, list):
                shown[key] = [name for name in value if isinstance(name, str)]
        elif isinstance(value, list):
            shown[key] = [_strict(inner, depth + 1) for inner in value]
        else:
            shown[key] = _strict(value, depth + 1)
    return shown


def _as_object(schema: Any) -> Any:
    if schema is True or schema is None:
        return {}
    return {"not": {}} if schema is False else schema


def _without(value: Any, keywords: set[str], *, is_named: bool = False, depth: int = 0) -> Any:
    """Return a schema without some keywords; `is_named` where the keys are names and no keywords."""
    if isinstance(value, list):
        return [_without(inner, keywords, depth=depth + 1) for inner in value]
    if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
        return value
    return {
        key: inner
        if key in _VALUES and not is_named
        else _without(inner, keywords, is_named=key in _MAPS and not is_named, depth=depth + 1)
        for key, inner in value.items()
        if is_named or key not in keywords
    }


def _references(value: Any, *, is_named: bool = False, depth: int = 0) -> Iterator[Any]:
    """Yield what references name; an `$id` within counts as one that leads nowhere, since it moves their root."""
    if depth > _MAX_DEPTH:
        yield None
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner, depth=depth + 1)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not is_named and key in {"$ref", "$dynamicRef", "$recursiveRef"}:
                yield inner
            elif not is_named and key == "$id" and depth > 0:
                yield None
            elif is_named or key not in _VALUES:
                yield from _references(inner, is_named=key in _MAPS and not is_named, depth=depth + 1)


def _leads_somewhere(reference: Any, root: Any) -> bool:
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return False
    place = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping) and name in place:
            place = place[name]
        elif isinstance(place, list) and name.isascii() and name.isdigit() and int(name) < len(place):
            place = place[int(name)]
        else:
            return False
    return isinstance(place, Mapping | bool)
