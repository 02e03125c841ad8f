"""A tool as a function of Python, whose module begins with `IMPORTS`."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any

from skillroute.mcp.stubs import comments
from skillroute.mcp.stubs.types import (
    ListOf,
    MapOf,
    Member,
    Names,
    OneOf,
    Plain,
    Record,
    Reference,
    Type,
    Values,
    described,
)

IMPORTS = "from typing import Any, Literal, NotRequired, TypedDict, Union"
"""The imports of a module of stubs, which is a stub file (`.pyi`) of Python 3.11 or later."""

_NAMES = {"any": "Any", "null": "None", "string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_TYPES = frozenset({"Any", "Literal", "NotRequired", "TypedDict", "Union", "list", "dict", *_NAMES.values()})
_RESERVED = frozenset(keyword.kwlist) | _TYPES
_ABOUT_CHARS = 200


def new_names() -> Names:
    """Return the names of an answer."""
    return Names(_RESERVED)


def stub(
    name: str, about: str, arguments: Mapping[str, Any] | None, result: Mapping[str, Any] | None, names: Names
) -> str:
    """Return the function of a tool, after the types of its arguments and result.

    Arguments are given by their names, or as one dictionary where one of these names is no identifier.
    """
    function = names.new(name)
    writer = _Writer(function, names)
    taken = described(arguments or {"type": "object"}, function, names)
    given = None if result is None else described(result, f"{function}_Result", names)
    for each, type_ in {**taken.defined, **({} if given is None else given.defined)}.items():
        writer.define(each, type_)
    members = taken.type.members if isinstance(taken.type, Record) else ()
    if isinstance(taken.type, Record) and all(_is_identifier(each.name) for each in members):
        ordered = sorted(members, key=lambda each: not each.is_required)
        said = [
            f"{each.name}: {writer.type(each.type, each.name)}{'' if each.is_required else ' = ...'}"
            for each in ordered
        ]
        parameters = f"*, {', '.join(said)}" if said else ""
        told = [(each.name, each.about) for each in members]
    else:
        parameters, told = f"args: {writer.type(taken.type, 'args')}", []
    returned = "Any" if given is None else writer.type(given.type, "Result")
    lines = [
        *comments.lines(about),
        *(f"{each}: {comments.line(text, _ABOUT_CHARS)}" for each, text in told if text.strip()),
    ]
    body = f"def {function}({parameters}) -> {returned}: ..."
    return "\n".join([*writer.declarations, *(f"# {each}" for each in lines), body])


class _Writer:
    """Writes types, and declares the objects among them by names of their own."""

    def __init__(self, prefix: str, names: Names) -> None:
        self.declarations: list[str] = []
        self._prefix = prefix
        self._names = names

    def define(self, name: str, type_: Type) -> None:
        if isinstance(type_, Record):
            self._declare(name, type_.members)
        else:
            written = self.type(type_, name)
            self.declarations.append(f"{name} = {written}")

    def type(self, type_: Type, hint: str) -> str:  # noqa: PLR0911 - one for each kind
        match type_:
            case Plain(name):
                return _NAMES[name]
            case Values(values):
                return f"Literal[{', '.join(map(repr, values))}]"
            case ListOf(item):
                return f"list[{self.type(item, hint)}]"
            case MapOf(value):
                return f"dict[str, {self.type(value, hint)}]"
            case Record(members):
                name = self._names.new(f"{self._prefix}_{hint}")
                self._declare(name, members)
                return f'"{name}"'
            case OneOf(types):
                return f"Union[{', '.join(self.type(each, hint) for each in types)}]"
            case Reference(name):
                return f'"{name}"'

    def _declare(self, name: str, members: tuple[Member, ...]) -> None:
        written = [(each.name, self._member(each)) for each in members]
        if all(_is_identifier(each) and each not in _TYPES for each, _ in written):
            self.declarations.append("\n".join([f"class {name}(TypedDict):", *(f"    {n}: {t}" for n, t in written)]))
        else:
            fields = ", ".join(f"{n!r}: {t}" for n, t in written)
            self.declarations.append(f'{name} = TypedDict("{name}", {{{fields}}})')

    def _member(self, member: Member) -> str:
        written = self.type(member.type, member.name)
        return written if member.is_required else f"NotRequired[{written}]"


def _is_identifier(name: str) -> bool:
    """Return whether a name can be written as it is; two underscores before it would be taken for a private one."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
