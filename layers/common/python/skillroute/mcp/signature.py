"""A tool's arguments in a line, as programmers write them: a fifth of the tokens of the schema that says the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from skillroute.mcp.rpc import to_text

Schema = Mapping[str, Any]

MAX_CHARS = 1000
"""Characters of a signature; what is longer ends in `…`."""

MAX_STEPS = 2_000
"""Schemas within a schema that are looked at for one signature; those beyond are `any`. Levels and choices bound each
branch, but branches multiply: without this a schema of 70 KB could take minutes."""

_LEVELS = 3  # objects and lists within each other that are spelled out
_HOPS = 16  # references and unions in a row, which may lead in circles
_CHOICES = 6  # values of an enumeration, or types of a union
_LOOKED_AT = 24  # of either, since many may be the same
_NAMES_PER_STEP = 100  # of an object's properties, which are sorted
_REFERENCE_CHARS = 1000
_VALUE_CHARS = 64
_FORMATS = {"date-time": "datetime", "date": "date", "time": "time", "uri": "url", "email": "email"}
_NAMES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "object", "array": "list"}
_SILENT = frozenset({"type", "title", "description", "$schema", "$id", "$comment", "$defs", "definitions", "examples"})
"""Keywords that say nothing about which arguments there are; any other one may."""


def signature(name: str, schema: Schema | None) -> str:
    """Return a tool's name with its arguments, those that must be given first; `?` marks the others.

    Where the arguments cannot be written in a line, as with a union of objects, `…` stands for them.

    Examples
    --------
    >>> signature("create_event", {"properties": {"title": {"type": "string"}, "attendees": {"type": "array",
    ...     "items": {"type": "string"}}}, "required": ["title"]})
    'create_event(title: str, attendees?: [str])'
    """
    whole = f"{name}({_Line(schema or {}).arguments()})"
    return whole if len(whole) <= MAX_CHARS else f"{whole[: MAX_CHARS - 1]}…"


class _Line:
    """Writes the types of one schema, in a bounded number of steps."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MAX_STEPS

    def arguments(self) -> str:
        """Return the arguments that the schema as a whole describes."""
        members = self._members(self._root, _HOPS)
        if members:
            return self._written(members, _LEVELS)
        says_more = any(key not in _SILENT and value not in (None, False, [], {}) for key, value in self._root.items())
        return "…" if says_more else ""

    def _members(self, schema: object, hops: int) -> dict[str, tuple[object, bool]]:
        """Return the properties of an object, with whether each is required, also those that references lead to."""
        if not isinstance(schema, Mapping) or hops == 0 or not self._has_step():
            return {}
        found: dict[str, tuple[object, bool]] = {}
        parts = schema.get("allOf")
        for part in [resolved(schema.get("$ref"), self._root), *(parts if isinstance(parts, list) else ())]:
            if self._left > 0:
                found |= self._members(part, hops - 1)
        properties, required = schema.get("properties"), schema.get("required")
        own = properties if isinstance(properties, Mapping) else {}
        needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
        self._left -= (len(own) + len(needed) + len(found)) // _NAMES_PER_STEP
        found |= {name: (about, False) for name, about in own.items()}
        return {name: (about, is_needed or name in needed) for name, (about, is_needed) in found.items()}

    def _written(self, members: Mapping[str, tuple[object, bool]], levels: int) -> str:
        ordered = sorted(members.items(), key=lambda member: not member[1][1])  # stable: else as the schema has them
        return _joined(
            f"{name[:MAX_CHARS]}{'' if is_needed else '?'}: {self._type(about, levels, _HOPS)}"
            for name, (about, is_needed) in ordered
        )

    def _type(self, schema: object, levels: int, hops: int) -> str:
        if not isinstance(schema, Mapping) or levels == 0 or hops == 0 or not self._has_step():
            return "any"
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            return _union(_value(value) for value in values)
        elsewhere = self._elsewhere(schema)
        if elsewhere is not None:
            return _union(self._type(choice, levels, hops - 1) for choice in elsewhere if not _is_null(choice))
        named, parts = schema.get("type"), schema.get("allOf")
        if named is None and "properties" not in schema and isinstance(parts, list) and parts:
            members = self._members(schema, hops)
            return self._object(members, levels) if members else self._type(parts[0], levels, hops - 1)
        if isinstance(named, list):
            return _union(self._of_type(kind, schema, levels) for kind in named if kind != "null")
        return self._of_type(named, schema, levels)

    def _elsewhere(self, schema: Schema) -> list[Any] | None:
        """Return the schemas of which one describes the value; None where the schema does so itself."""
        if isinstance(schema.get("$ref"), str):
            return [resolved(schema["$ref"], self._root)]
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return list(schema[key][: 2 * _LOOKED_AT])
        return None

    def _of_type(self, named: object, schema: Schema, levels: int) -> str:
        if named == "array":
            items = schema.get("items")
            return f"[{self._type(items, levels - 1, _HOPS)}]" if isinstance(items, Mapping) else "list"
        if named == "object" or (named is None and "properties" in schema):
            return self._object(self._members(schema, _HOPS) if levels > 1 else {}, levels)
        if named == "string":
            format_ = schema.get("format")
            return _FORMATS.get(format_, "str") if isinstance(format_, str) else "str"
        return _NAMES.get(named, "any") if isinstance(named, str) else "any"

    def _object(self, members: Mapping[str, tuple[object, bool]], levels: int) -> str:
        return f"{{{self._written(members, levels - 1)}}}" if members and levels > 1 else "object"

    def _has_step(self) -> bool:
        self._left -= 1
        return self._left >= 0


def _joined(parts: Iterator[str]) -> str:
    """Join parts, as many as can be shown: a schema may have a hundred thousand."""
    shown, size = [], 0
    for part in parts:
        shown.append(part)
        size += len(part)
        if size > MAX_CHARS:
            break
    return ", ".join(shown)


def _union(types: Iterable[str]) -> str:
    distinct: dict[str, None] = {}
    for type_ in islice(types, _LOOKED_AT):
        distinct[type_[: MAX_CHARS + 1]] = None
        if len(distinct) > _CHOICES:
            return "|".join([*list(distinct)[:_CHOICES], "…"])
    return "|".join(distinct) or "any"


def _value(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "object" if isinstance(value, dict) else "list"
    text = to_text(value[:_VALUE_CHARS] if isinstance(value, str) else value)
    return text if len(text) <= _VALUE_CHARS else f"{text[: _VALUE_CHARS - 1]}…"


def _is_null(schema: object) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "null"


def resolved(reference: object, root: Schema) -> object:
    """Return what a reference within the schema leads to; None where it leads nowhere, or elsewhere."""
    found: object = root
    if not isinstance(reference, str) or not reference.startswith("#") or len(reference) > _REFERENCE_CHARS:
        return None
    for part in reference.split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
