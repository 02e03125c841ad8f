"""Servers and agents as the API answers them, put back: the document within is what is written, with what was changed.

An answer has a document as it came, and beside it what is searched of it. Put back as it was read, it must be the same
document again, not one that holds itself; and what was changed beside it must be in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.known_fields import KnownFields
from skillroute.registry.model import EntityContent

_MAX_NESTED = 5
"""Documents within each other; those that were once written back as they were read hold themselves."""

Parsed = Callable[[Mapping[str, Any]], EntityContent]
"""Reads a document. Raises `InvalidInput`."""


def read_back(raw: Mapping[str, Any], within: str, fields: KnownFields, parsed: Parsed) -> Mapping[str, Any]:
    """Return what an answer stands for, as its owner would write it; anything but an answer as it is.

    Parameters
    ----------
    within : str
        The field of the answer that holds the document: ``server_json``, ``agent_card``.

    Raises
    ------
    InvalidInput
        What should be the document is none.
    """
    if within not in raw:
        return raw
    document = raw[within]
    if not isinstance(document, Mapping):
        raise InvalidInput(within, "must be an object")
    if within in document:
        _refuse_nests(document, within)
        document = read_back(fields.without_shown(document), within, fields, parsed)
    given = fields.without_shown({name: value for name, value in raw.items() if name != within})
    try:
        shown = _shown(parsed(document))
    except InvalidInput as error:
        raise error.moved(lambda field: f"{within}.{field}") from None
    changed = {name: value for name, value in given.items() if name not in shown or not _same(value, shown[name])}
    # Of a server the title is shown as its name, if it has one.
    name_field = "title" if within == "server_json" and (_inner(document) or document).get("title") else "name"
    if name_field == "name" and "name" in changed and "path" in given:
        changed["path"] = given["path"]  # which the name made, and the new one would make another
    return _with_changes(document, changed, name_field)


def _refuse_nests(document: Mapping[str, Any], within: str) -> None:
    """Refuse a document that holds itself again and again: each is read within the other."""
    inner, depth = document, 0
    while isinstance(inner.get(within), Mapping):
        inner, depth = inner[within], depth + 1
        if depth > _MAX_NESTED:
            raise InvalidInput(within, f"is nested in itself more than {_MAX_NESTED} times")


def _shown(content: EntityContent) -> dict[str, Any]:
    """Return the fields of an answer other than the document, as `ServerOut` and `AgentOut` do."""
    shown: dict[str, Any] = {
        "path": content.path,
        "name": content.name,
        "description": content.description,
        "tags": list(content.tags),
    }
    if content.kind == "agent":
        shown["capabilities"] = list(content.capabilities)
        shown["skills"] = [skill._asdict() for skill in content.skills]
    return shown


def _same(given: object, shown: object) -> bool:
    # Null stands for what is empty, as everywhere.
    return given == shown or (given is None and not shown)


def _with_changes(document: Mapping[str, Any], changed: Mapping[str, Any], name_field: str) -> dict[str, Any]:
    """Return a document with the changes of its fields, each where the document has it."""
    inner = _inner(document)
    if inner is not None:
        own = {name: value for name, value in changed.items() if name in {"name", "description"}}
        rest = {name: value for name, value in changed.items() if name not in own}
        return {**document, **rest, "server": {**inner, **_named(own, name_field)}}
    return {**document, **_named(_with_skills(document, changed), name_field)}


def _inner(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the server within what a registry lists; None for a plain document."""
    inner = document.get("server")
    return inner if isinstance(inner, Mapping) and "name" not in document else None


def _named(changed: Mapping[str, Any], name_field: str) -> dict[str, Any]:
    return {(name_field if name == "name" else name): value for name, value in changed.items()}


def _with_skills(card: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes whose skills have all that the card says of the skills of these names: ids, tags, examples."""
    skills = changed.get("skills")
    if not isinstance(skills, list):
        return dict(changed)
    stored = {skill["name"].strip(): skill for skill in card.get("skills") or ()}
    return {**changed, "skills": [_whole(skill, stored) for skill in skills]}


def _whole(skill: object, stored: Mapping[str, Mapping[str, Any]]) -> object:
    if not isinstance(skill, Mapping) or not isinstance(skill.get("name"), str):
        return skill  # refused later, by its place
    return {**stored.get(skill["name"].strip(), {}), **skill}
