"""Schemas of strangers in a form that every client of MCP takes.

The TypeScript SDK refuses a whole list of tools for one schema: it wants objects where JSON Schema allows `true`, a
list or nothing where servers write null, and compiles each output schema, which fails where a reference leads nowhere,
or where a keyword has a value of the wrong kind (`"type": "any"`, `"minLength": "1"`). Its texts, and what clients
send, stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_VALUES = ("const", "default", "enum", "example", "examples")
_NOT_COMPILED = {"$schema", "pattern", "patternProperties", "format", "id", "$anchor", "$dynamicAnchor", "$async"}
"""Of an output schema: dialects that the compiler lacks, names that no reference here uses, and expressions that mean
something else in JavaScript."""

_PLACE = re.compile(r"[0-9]{1,9}")  # in a list
_MAX_DEPTH = 200
_MAX_HOPS = 20


def strict_input(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the schema of a tool's arguments: of an object, whose properties are objects.

    Examples
    --------
    >>> strict_input({"properties": {"any": True, "none": False}, "required": None})
    {'type': 'object', 'properties': {'any': {}, 'none': {'not': {}}}}
    """
    return _of_object(schema if isinstance(schema, Mapping) else {})


def strict_output(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the schema of a tool's result; None where it has none, or one that cannot be compiled.

    Examples
    --------
    >>> strict_output({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}) is None
    True
    """
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return None
    shown = _of_object(_without({**schema, "$id": None}, _NOT_COMPILED))
    shown.pop("$id")  # two tools of one server may have the same
    leads = all(_is_schema(_target(reference, shown)) for reference in _references(shown))
    return shown if leads and _is_compiled(shown) else None


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
    if isinstance(schema, Mapping):
        return schema
    return {"not": {}} if schema is False else {}


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
        for key, inner in (value if is_named else _with_null(value)).items()
        if is_named or not (key in keywords or (key == "enum" and inner == []))
    }


def _with_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema that says `nullable` as JSON Schema does: beside no type, the compiler fails of it."""
    if "nullable" not in schema:
        return schema
    shown = {key: value for key, value in schema.items() if key != "nullable"}
    if schema["nullable"] is True:
        kind = shown.get("type")
        if isinstance(kind, str | list):
            shown["type"] = [*([kind] if isinstance(kind, str) else kind), "null"]
        for key in ("anyOf", "oneOf"):
            if isinstance(shown.get(key), list):
                shown[key] = [*shown[key], {"type": "null"}]
    return shown


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


def _target(reference: Any, root: Any) -> Any:
    """Return what a reference leads to, None where that is nothing within the schema."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    place = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping) and name in place:
            place = place[name]
        elif isinstance(place, list) and _PLACE.fullmatch(name) and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place


def _is_compiled(root: Mapping[str, Any]) -> bool:
    """Return whether all keywords have values of their kind, within the schema and where its references lead."""
    found: list[Any] = [root]
    seen: set[int] = set()
    while found:
        schema = found.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        for key, value in schema.items():
            if key in _KINDS and not _KINDS[key](value):
                return False
            if key == "$ref":
                if _is_ring(schema, root):
                    return False
                found.append(_target(value, root))
            elif key in _MAPS or key == "dependencies":
                found += value.values()
            elif key in _SCHEMAS:
                found += value if isinstance(value, list) else [value]
    return True


def _is_ring(schema: Any, root: Any) -> bool:
    """Return whether a schema is a reference to a reference, and so on for ever."""
    for _ in range(_MAX_HOPS):
        if not isinstance(schema, Mapping) or "$ref" not in schema:
            return False
        schema = _target(schema["$ref"], root)
    return True


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping | bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_is_schema, value))


def _are_types(value: Any) -> bool:
    kinds = [value] if isinstance(value, str) else value
    return isinstance(kinds, list) and len(kinds) > 0 and all(kind in _TYPES for kind in kinds)


def _is_dependencies(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        _is_schema(inner) or (isinstance(inner, list) and all(isinstance(name, str) for name in inner))
        for inner in value.values()
    )


def _by(kind: Callable[[Any], bool], *keywords: str) -> dict[str, Callable[[Any], bool]]:
    return dict.fromkeys(keywords, kind)


_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE_SCHEMAS = (
    "not", "if", "then", "else", "contains", "propertyNames", "additionalProperties", "additionalItems",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_SCHEMAS = frozenset({*_LISTS_OF_SCHEMAS, *_SINGLE_SCHEMAS, "items"})
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "type": _are_types,
    "enum": _is_list,
    "required": _is_list,
    "uniqueItems": lambda value: isinstance(value, bool),
    "items": lambda value: _is_schema(value) or (_is_list(value) and all(map(_is_schema, value))),
    "dependencies": _is_dependencies,
    **_by(_are_schemas, *_LISTS_OF_SCHEMAS),
    **_by(_is_schema, *_SINGLE_SCHEMAS),
    **_by(_is_number, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    **_by(_is_number, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    **_by(lambda value: isinstance(value, Mapping), *_MAPS),
}
"""Keywords that are compiled, and whether a value is of their kind."""
