"""A tool's arguments in a line, as programmers write them: a fifth of the tokens of the schema that says the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from skillroute.mcp.rpc import to_text

Schema = Mapping[str, Any]

MAX_CHARS = 1000
"""Characters of a signature; what is longer ends in `…`."""

_LEVELS = 3  # objects and lists within each other that are spelled out
_CHOICES = 6  # values of an enumeration, or types of a union
_LOOKED_AT = 24  # of either, since many may be the same: references could multiply
_FORMATS = {"date-time": "datetime", "date": "date", "time": "time", "uri": "url", "email": "email"}
_NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "object", "array": "list"}


def signature(name: str, schema: Schema | None) -> str:
    """Return a tool's name with its arguments, those that must be given first; `?` marks the others.

    Examples
    --------
    >>> signature("create_event", {"properties": {"title": {"type": "string"}, "attendees": {"type": "array",
    ...     "items": {"type": "string"}}}, "required": ["title"]})
    'create_event(title: str, attendees?: [str])'
    """
    whole = f"{name}({_arguments(schema or {}, schema or {}, _LEVELS)})"
    return whole if len(whole) <= MAX_CHARS else f"{whole[: MAX_CHARS - 1]}…"


def _arguments(schema: Schema, root: Schema, levels: int) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, Mapping):
        return ""
    needed = {each for each in required if isinstance(each, str)} if isinstance(required, list) else set()
    ordered = sorted(properties, key=lambda name: name not in needed)  # stable: else as the schema has them
    return _joined(
        f"{name}{'' if name in needed else '?'}: {_type(properties[name], root, levels)}" for name in ordered
    )


def _joined(parts: Iterator[str]) -> str:
    """Join parts, as many as can be shown: a schema may have a hundred thousand."""
    shown, size = [], 0
    for part in parts:
        shown.append(part)
        size += len(part)
        if size > MAX_CHARS:
            break
    return ", ".join(shown)


def _type(schema: object, root: Schema, levels: int) -> str:
    if not isinstance(schema, Mapping) or levels == 0:
        return "any"
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        return _union(_value(each) for each in values)
    named = schema.get("type")
    if isinstance(named, list):
        return _union(_type({**schema, "type": each}, root, levels) for each in named if each != "null")
    elsewhere = _elsewhere(schema, root)
    if elsewhere is not None:
        return _union(_type(each, root, levels - 1) for each in elsewhere if not _is_null(each))
    return _of_type(named, schema, root, levels)


def _elsewhere(schema: Schema, root: Schema) -> list[Any] | None:
    """Return the schemas that one leads to instead of naming a type; None for one that does not."""
    if isinstance(schema.get("$ref"), str):
        return [_resolved(schema["$ref"], root)]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return list(schema[key][:1]) if key == "allOf" else list(schema[key])
    return None


def _of_type(named: object, schema: Schema, root: Schema, levels: int) -> str:
    if named == "array":
        return f"[{_type(schema['items'], root, levels - 1)}]" if isinstance(schema.get("items"), Mapping) else "list"
    if named == "object" or (named is None and "properties" in schema):
        inner = _arguments(schema, root, levels - 1) if levels > 1 else ""
        return f"{{{inner}}}" if inner else "object"
    if named == "string":
        return _FORMATS.get(str(schema.get("format")), "str")
    return _NAMES.get(str(named), "any")


def _union(types: Iterator[str]) -> str:
    distinct: dict[str, None] = {}
    for each in islice(types, _LOOKED_AT):
        distinct[each] = None
        if len(distinct) > _CHOICES:
            return "|".join([*list(distinct)[:_CHOICES], "…"])
    return "|".join(distinct) or "any"


def _value(value: object) -> str:
    text = to_text(value)
    return text if len(text) <= 64 else f"{text[:63]}…"


def _is_null(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def _resolved(reference: str, root: Schema) -> object:
    """Return what a reference within the schema leads to; None where it leads nowhere, or elsewhere."""
    found: object = root
    if not reference.startswith("#"):
        return None
    for part in reference.split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
