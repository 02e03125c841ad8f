"""The types that a JSON Schema describes, as the stubs of all languages write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from skillroute.mcp.signature import resolved

MAX_STEPS = 2_000
"""Schemas within a schema that are looked at; those beyond are of any type."""

_LEVELS = 12
_MAX_VALUES = 64
_VALUE_CHARS = 200
_NO_LETTER = re.compile(r"[^A-Za-z0-9_]+")

Primitive = Literal["any", "null", "string", "integer", "number", "boolean"]


@dataclass(frozen=True, slots=True)
class Plain:
    """A type without parts."""

    name: Primitive


@dataclass(frozen=True, slots=True)
class Values:
    """One of some texts, numbers, booleans or null."""

    values: tuple[str | int | bool | None, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list."""

    item: Type


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object with any names."""

    value: Type


@dataclass(frozen=True, slots=True)
class Member:
    """A named value of an object."""

    name: str
    type: Type
    is_required: bool
    about: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object with known names."""

    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of one of some types."""

    types: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A type that is defined by its name."""

    name: str


Type = Plain | Values | ListOf | MapOf | Record | OneOf | Reference

ANY, NULL = Plain("any"), Plain("null")


@dataclass(frozen=True, slots=True)
class Described:
    """The type that a schema describes, and those that it refers to, by their names."""

    type: Type
    defined: Mapping[str, Type]


@dataclass
class Names:
    """The names that stubs of one answer have taken; another of the same name gets a number behind it."""

    reserved: frozenset[str]
    taken: set[str] = field(default_factory=set)

    def new(self, wanted: str) -> str:
        """Return an identifier that is like a name and not taken.

        Examples
        --------
        >>> names = Names(frozenset({"class"}))
        >>> names.new("get-it"), names.new("get it"), names.new("class"), names.new("2nd"), names.new("")
        ('get_it', 'get_it_2', 'class_', '_2nd', '_')
        """
        plain = _NO_LETTER.sub("_", wanted)[:_VALUE_CHARS] or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        plain = f"{plain}_" if plain in self.reserved else plain
        others = (f"{plain}_{number}" for number in count(2))
        name = plain if plain not in self.taken else next(other for other in others if other not in self.taken)
        self.taken.add(name)
        return name


def described(schema: Mapping[str, Any], prefix: str, names: Names) -> Described:
    """Return the types of a schema; names of definitions begin with a prefix."""
    reader = _Reader(schema, prefix, names)
    found = reader.type(schema, _LEVELS)
    return Described(found, _without_circles(reader.defined))


class _Reader:
    """Reads one schema, in a bounded number of steps."""

    def __init__(self, root: Mapping[str, Any], prefix: str, names: Names) -> None:
        self.defined: dict[str, Type] = {}
        self._root = root
        self._prefix = prefix
        self._names = names
        self._named: dict[str, Reference] = {}
        self._left = MAX_STEPS

    def type(self, schema: object, levels: int) -> Type:
        self._left -= 1
        if not isinstance(schema, Mapping) or levels == 0 or self._left < 0:
            return ANY
        found = self._described(schema, levels)
        return one_of([found, NULL]) if schema.get("nullable") is True else found

    def _described(self, schema: Mapping[str, Any], levels: int) -> Type:
        if isinstance(schema.get("$ref"), str):
            return self._reference(schema["$ref"])
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            return _values(values)
        if "properties" in schema or isinstance(schema.get("allOf"), list):
            members = self._members(schema, levels)
            if members:
                return Record(tuple(members.values()))
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return one_of([self.type(choice, levels - 1) for choice in schema[key][:_MAX_VALUES]])
        parts = schema.get("allOf")
        if "type" not in schema and isinstance(parts, list) and parts:
            return self.type(parts[0], levels - 1)
        named = schema.get("type")
        return one_of([self._of_type(each, schema, levels) for each in (named if isinstance(named, list) else [named])])

    def _of_type(self, named: object, schema: Mapping[str, Any], levels: int) -> Type:
        match named:
            case "array":
                return ListOf(self.type(schema.get("items"), levels - 1))
            case "object":
                return MapOf(self.type(schema.get("additionalProperties"), levels - 1))
            case "null" | "string" | "integer" | "number" | "boolean":
                return Plain(named)
        return ANY

    def _members(self, schema: Mapping[str, Any], levels: int) -> dict[str, Member]:
        """Return the members of an object, with those of the parts that it is made of."""
        self._left -= 1
        found: dict[str, Member] = {}
        if levels == 0 or self._left < 0:
            return found
        parts = schema.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            leads_to = resolved(part["$ref"], self._root) if isinstance(part, Mapping) and "$ref" in part else part
            if isinstance(leads_to, Mapping):
                found |= self._members(leads_to, levels - 1)
        required = schema.get("required")
        needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
        properties = schema.get("properties")
        for name, about in (properties if isinstance(properties, Mapping) else {}).items():
            text = about.get("description") if isinstance(about, Mapping) else None
            shown = text if isinstance(text, str) else ""
            found[name] = Member(name, self.type(about, levels - 1), is_required=False, about=shown)
        return {
            name: Member(name, each.type, each.is_required or name in needed, each.about)
            for name, each in found.items()
        }

    def _reference(self, pointer: str) -> Type:
        if pointer not in self._named:
            leads_to = resolved(pointer, self._root)
            if not isinstance(leads_to, Mapping):
                return ANY
            name = self._names.new(f"{self._prefix}_{pointer.rsplit('/', 1)[-1].strip('#') or 'Self'}")
            self._named[pointer] = Reference(name)  # before what it leads to, which may lead back
            self.defined[name] = self.type(leads_to, _LEVELS)
        return self._named[pointer]


def one_of(types: list[Type]) -> Type:
    """Return a union of types, flat and without repetition; of any other and any type it is any."""
    flat = [inner for each in types for inner in (each.types if isinstance(each, OneOf) else (each,))]
    distinct = list(dict.fromkeys(flat))
    if ANY in distinct or not distinct:
        return ANY
    return distinct[0] if len(distinct) == 1 else OneOf(tuple(distinct))


def _values(values: list[Any]) -> Type:
    """Return the type of an enumeration; a long one, or one of objects, is of the types of its values."""
    plain = [value for value in values if value is None or isinstance(value, (str, int, bool))]
    is_short = len(values) <= _MAX_VALUES and all(
        len(value) <= _VALUE_CHARS for value in plain if isinstance(value, str)
    )
    if plain and len(plain) == len(values) and is_short:
        distinct = {(type(value), value): value for value in plain}
        return Values(tuple(distinct.values()))
    return one_of([_type_of(value) for value in values])


def _type_of(value: object) -> Type:
    if value is None:
        return NULL
    names: dict[type, Primitive] = {str: "string", bool: "boolean", int: "integer", float: "number"}
    return Plain(names.get(type(value), "any"))


def _without_circles(defined: Mapping[str, Type]) -> dict[str, Type]:
    """Return definitions, of any type where one is nothing but itself in the end: no language has such types."""
    direct = {name: set(_direct(type_)) for name, type_ in defined.items()}

    def reaches_itself(name: str) -> bool:
        seen: set[str] = set()
        ahead = list(direct[name])
        while ahead:
            next_ = ahead.pop()
            if next_ == name:
                return True
            if next_ not in seen:
                seen.add(next_)
                ahead.extend(direct.get(next_, ()))
        return False

    return {name: ANY if reaches_itself(name) else type_ for name, type_ in defined.items()}


def _direct(type_: Type) -> Iterator[str]:
    """Return the definitions that a type is, other than by a list or an object."""
    if isinstance(type_, Reference):
        yield type_.name
    elif isinstance(type_, OneOf):
        for each in type_.types:
            yield from _direct(each)
