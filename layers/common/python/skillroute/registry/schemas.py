"""Reading a server or an agent as its owner sends it: a registry's server.json, an agent card, or our own plain names.

Each is read on its own, so that one that is wrong never spoils the others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.catalogue.schemas import MAX_BYTES, SWITCHES, item_warnings, read_item, switch_problems
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.hidden_text import hidden_warnings, name_warnings, visible_fields
from skillroute.core.input.json_input import MAX_PROBLEMS, examined_json, together, validated
from skillroute.core.input.known_fields import MAX_WARNINGS, KnownFields
from skillroute.core.input.url_credentials import credential_warnings, masked_json
from skillroute.registry.model import AgentSkill, EntityContent, EntityKind, tag_key
from skillroute.registry.read_back import Parsed, read_back
from skillroute.registry.shapes import AgentInput, EntityInput, ServerInput, capability_names

MAX_ENTITIES = 100
"""Servers or agents of one call."""

MAX_PATH = 256
"""Characters of a path, its slash included."""

_SHOWN = 64  # characters of a key in the name of a place
_NOT_IN_PATHS = re.compile(r"[^\w./-]+")
_BESIDE_SLASHES = re.compile(r"[-/]++")


_READ_APART: Mapping[EntityKind, frozenset[str]] = {
    "server": frozenset({"name", "title", "path", "tools"}),
    "agent": frozenset({"name", "path"}),
}
"""Fields whose texts are refused where they hold what nobody sees, and a server's tools, which are read one by one."""


@dataclass(frozen=True, slots=True)
class EntityGiven:
    """A server or an agent as it was read.

    Attributes
    ----------
    is_enabled : bool or None
        None leaves it as it is.
    tools : tuple of ItemContent or None
        All tools of a server, by the server's name in the catalogue. None leaves them as they are.
    """

    content: EntityContent
    is_enabled: bool | None
    tools: tuple[ItemContent, ...] | None


def read_server(raw: object) -> EntityGiven:
    """Check one server and return it with its tools.

    The document kept of it is all of it but `tools`, which live in the catalogue, and `is_enabled`, which may change
    without it. What the API answers of a server is taken as well (`read_back`).

    Raises
    ------
    InvalidInput
        Something is wrong with it; `field` is relative to the server, such as ``tools.3.name``.
    """
    outer, problems = _examined(raw, "server")
    inner = _wrapped(outer)
    if inner is None:
        return together(problems, lambda: _server(outer, outer))
    return together(problems, lambda: _listed_server(outer, inner))


def _listed_server(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> EntityGiven:
    """Read a server within what a registry lists."""
    ours = {key: outer[key] for key in ("path", "tags", "is_enabled", "tools") if key in outer}
    at_top = {"server", *ours}
    try:
        return _server({**inner, **ours}, {**outer, "server": _without(inner, "tools", "is_enabled")})
    except InvalidInput as error:
        raise error.moved(lambda field: field if field.split(".")[0] in at_top else f"server.{field}") from None


def _wrapped(outer: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the server within what a registry lists, beside which may stand what is ours; None for a plain one."""
    inner = outer.get("server")
    return inner if isinstance(inner, Mapping) and "name" not in outer else None


def _server(fields: Mapping[str, Any], document: Mapping[str, Any]) -> EntityGiven:
    given = validated(ServerInput, fields, whole="server")
    content = EntityContent(
        kind="server",
        path=_path(given),
        name=given.title or given.name,
        description=(given.description or "").strip(),
        tags=_distinct(given.tags or ()),
        document=_without(document, "tools", "is_enabled"),
    )
    tools = None if given.tools is None else _tools(given.tools, content)
    return EntityGiven(content, given.is_enabled, tools)


def read_agent(raw: object) -> EntityGiven:
    """Check one agent and return it, with the card but for `is_enabled`, which may change without it.

    What the API answers of an agent is taken as well (`read_back`).

    Raises `InvalidInput`; `field` is relative to the agent, such as ``skills.0.name``.
    """
    card, problems = _examined(raw, "agent")
    return together(problems, lambda: _agent(card))


def _agent(card: Mapping[str, Any]) -> EntityGiven:
    try:
        given = validated(AgentInput, card, whole="agent")
    except InvalidInput as error:
        raise error.moved(lambda field: _as_written(field, card)) from None
    content = EntityContent(
        kind="agent",
        path=_path(given),
        name=given.name,
        description=(given.description or "").strip(),
        tags=_distinct(given.tags or ()),
        capabilities=tuple(dict.fromkeys(given.capabilities or ())),
        skills=tuple(AgentSkill(skill.name, (skill.description or "").strip()) for skill in given.skills or ()),
        document=_without(card, "is_enabled"),
    )
    return EntityGiven(content, given.is_enabled, None)


def registry_warnings(kind: EntityKind, raw: object) -> list[FieldProblem]:
    """Return what is questionable about fields' names and texts, those of a server's tools included."""
    _, fields, _ = _READ_BACK[kind]
    hidden = hidden_warnings(_without(raw, "tools")) if isinstance(raw, Mapping) else []
    looks = name_warnings(raw, ("name",)) if isinstance(raw, Mapping) else []
    shown = credential_warnings(_without(raw, "tools")) if isinstance(raw, Mapping) else []
    found = [*fields.warnings(raw), *looks, *hidden, *shown]
    tools = raw.get("tools") if kind == "server" and isinstance(raw, Mapping) else None
    for place, tool in enumerate(tools if isinstance(tools, list) else ()):
        if len(found) >= MAX_WARNINGS:
            break
        found += item_warnings(tool, f"tools.{place}.")
        if isinstance(tool, Mapping):  # which of its tools are off, a server does not say
            found += switch_problems(tool, SWITCHES, f"tools.{place}.")
    return found[:MAX_WARNINGS]


def refuse_misspelt(kind: EntityKind, raw: Mapping[str, Any]) -> None:
    """Refuse names of fields that were probably meant for others. Raises `InvalidInput`."""
    _, fields, _ = _READ_BACK[kind]
    fields.refuse_misspelt(raw)


def _as_written(field: str, card: Mapping[str, Any]) -> str:
    """Return a place in a card, which by now has a list of capabilities, as it is called in the card as it came."""
    name, _, place = field.partition(".")
    if name != "capabilities" or not place or not isinstance(card["capabilities"], Mapping):
        return field
    names = capability_names(card["capabilities"])
    return f"{name}.{names[int(place)][:_SHOWN]}" if isinstance(names, list) else field


def _examined(raw: object, kind: EntityKind) -> tuple[Mapping[str, Any], list[FieldProblem]]:
    """Return what is read of it, and what cannot be stored; tools are read one by one, each with a limit of its own."""
    if not isinstance(raw, Mapping):
        raise InvalidInput(kind, "must be an object")
    within, fields, parsed = _READ_BACK[kind]
    raw = fields.without_shown(read_back(raw, within, fields, parsed))
    without_tools: Mapping[str, Any] = raw
    if kind == "server":
        without_tools, inner = _without(raw, "tools"), _wrapped(raw)
        if inner is not None:
            without_tools = {**without_tools, "server": _without(inner, "tools")}
    _, problems = examined_json(without_tools, whole=kind, most_bytes=MAX_BYTES)
    return raw if problems else _visible(_masked(raw), kind), problems


def _masked(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value if key == "tools" else masked_json(value) for key, value in raw.items()}


def _visible(raw: Mapping[str, Any], kind: EntityKind) -> dict[str, Any]:
    inner = _wrapped(raw) if kind == "server" else None
    fields = visible_fields(raw, _READ_APART[kind])
    return fields if inner is None else {**fields, "server": visible_fields(inner, _READ_APART[kind])}


def _path(given: EntityInput) -> str:
    """Return the path that was given, or one made of the name: the same for the same document, always."""
    if given.path is None:
        made = _BESIDE_SLASHES.sub(_one_slash, _NOT_IN_PATHS.sub("-", given.name.lower())).strip("-./")
        if not made:
            raise InvalidInput("path", "is missing, and cannot be derived from the name: give one")
        path = f"/{made}"
        if len(path) > MAX_PATH:  # cut, it might be another one's
            raise InvalidInput(
                "path",
                f"derived from the name has {len(path)} characters, at most {MAX_PATH} are allowed: give a shorter one",
            )
    else:
        path = f"/{given.path.removeprefix('/').rstrip('/')}"
        if path == "/" or "//" in path:
            raise InvalidInput("path", "must not have empty segments")
    if any(character.isspace() or not character.isprintable() or character in "?#" for character in path):
        raise InvalidInput("path", "blanks, control characters, ? and # are not allowed")
    if len(path) > MAX_PATH:
        raise InvalidInput("path", f"is {len(path)} characters; at most {MAX_PATH} are allowed")
    return path


def _one_slash(found: re.Match[str]) -> str:
    return "/" if "/" in found[0] else found[0]


def _distinct(tags: list[str] | tuple[()]) -> tuple[str, ...]:
    """Return tags as they were first spelt, each once."""
    first: dict[str, str] = {}
    for tag in tags:
        first.setdefault(tag_key(tag), tag)
    return tuple(first.values())


def _without(raw: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in keys}


def _tools(raw: list[Any], server: EntityContent) -> tuple[ItemContent, ...]:
    tools: list[ItemContent] = []
    problems: list[FieldProblem] = []
    places: dict[str, int] = {}
    for place, raw_tool in enumerate(raw):
        try:
            tool = _tool(raw_tool, server)
            if tool.key.name in places:
                raise InvalidInput("name", f"the same name as tool {places[tool.key.name]} of this server")
        except InvalidInput as error:
            problems += error.moved(partial(_in_tool, place)).problems
            if len(problems) >= MAX_PROBLEMS:
                break
        else:
            places[tool.key.name] = place
            tools.append(tool)
    if problems:
        raise InvalidInput.of(problems[:MAX_PROBLEMS])
    return tuple(tools)


def _in_tool(place: int, field: str) -> str:
    return f"tools.{place}" if field == "item" else f"tools.{place}.{field}"


def _tool(raw: object, server: EntityContent) -> ItemContent:
    tool = read_item(raw)
    if tool.key.type != "tool":
        raise InvalidInput("type", "must be tool: prompts and resources are written by PUT /api/v1/tools")
    if tool.key.server not in {"", server.tools_server, server.path}:
        raise InvalidInput("server", f"must be {server.tools_server}, or absent")
    return replace(tool, key=ItemKey(server.tools_server, "tool", tool.key.name))


_SHOWN_OF_BOTH = ["id", "org_id", "is_embedded", "created_at", "updated_at"]
_SHOWN_OF_SERVERS = ["tool_count", "tools_server", "item_servers", "seen_outcome", "seen_at", "seen_error"]
_SERVER_FIELDS = KnownFields.of(ServerInput, [*_SHOWN_OF_BOTH, *_SHOWN_OF_SERVERS])
_AGENT_FIELDS = KnownFields.of(AgentInput, _SHOWN_OF_BOTH)
_READ_BACK: Mapping[EntityKind, tuple[str, KnownFields, Parsed]] = {
    "server": ("server_json", _SERVER_FIELDS, lambda document: read_server(document).content),
    "agent": ("agent_card", _AGENT_FIELDS, lambda card: read_agent(card).content),
}
