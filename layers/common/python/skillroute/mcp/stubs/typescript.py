"""A tool as a function of TypeScript."""

from __future__ import annotations

import json
import re
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

_NAMES = {"any": "unknown", "integer": "number"}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_ABOUT_CHARS = 200
_RESERVED = frozenset(
    """
    break case catch class const continue debugger default delete do else enum export extends false finally for
    function if import in instanceof new null return super switch this throw true try typeof var void while with
    as implements interface let package private protected public static yield any boolean constructor declare get
    module require number set string symbol type from of await async never unknown object undefined Promise
    arguments eval bigint
    """.split()  # noqa: SIM905
)


def new_names() -> Names:
    """Return the names of an answer."""
    return Names(_RESERVED)


def stub(
    name: str, about: str, arguments: Mapping[str, Any] | None, result: Mapping[str, Any] | None, names: Names
) -> str:
    """Return the declaration of a tool, after those of the types that its schemas define."""
    function = names.new(name)
    taken = described(arguments or {"type": "object"}, function, names)
    given = None if result is None else described(result, f"{function}_Result", names)
    defined = {**taken.defined, **({} if given is None else given.defined)}
    text = comments.lines(about)
    is_optional = not isinstance(taken.type, Record) or not any(each.is_required for each in taken.type.members)
    returned = "unknown" if given is None else _type(given.type)
    return "\n".join(
        [
            *(f"type {each} = {_type(type_)};" for each, type_ in defined.items()),
            *(
                [f"/** {text[0]} */"]
                if len(text) == 1
                else ["/**", *(f" * {each}" for each in text), " */"]
                if text
                else []
            ),
            f"declare function {function}(args{'?' if is_optional else ''}: {_type(taken.type)}): Promise<{returned}>;",
        ]
    )


def _type(type_: Type) -> str:  # noqa: PLR0911 - one for each kind
    match type_:
        case Plain(name):
            return _NAMES.get(name, name)
        case Values(values):
            return " | ".join(json.dumps(value) for value in values)
        case ListOf(item):
            inner = _type(item)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case MapOf(value):
            return f"{{ [key: string]: {_type(value)} }}"
        case Record(members):
            return f"{{ {' '.join(map(_member, members))} }}"
        case OneOf(types):
            return " | ".join(map(_type, types))
        case Reference(name):
            return name


def _member(member: Member) -> str:
    name = member.name if _IDENTIFIER.fullmatch(member.name) else json.dumps(member.name)
    about = comments.line(member.about, _ABOUT_CHARS)
    comment = f"/** {about} */ " if about else ""
    return f"{comment}{name}{'' if member.is_required else '?'}: {_type(member.type)};"
