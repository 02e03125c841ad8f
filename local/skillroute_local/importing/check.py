"""Checks rows as the API checks what it is sent: what is refused here names its place, and spoils no call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skillroute.agent_skills.schemas import AgentSkillGiven, read_agent_skill
from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.catalogue.schemas import read_item
from skillroute.core.errors.model import InvalidInput
from skillroute.registry.schemas import EntityGiven, read_agent, read_server

from skillroute_local.client import Written
from skillroute_local.importing.model import About, Refuse, Row, SkillPath

Content = ItemContent | AgentSkillGiven | EntityGiven | None
"""A row as the catalogue or the registry would store it; None of mail, which only the API reads."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A row that the API would take, and what it would store."""

    row: Row
    content: Content


def checked(rows: Iterable[Row], refuse: Refuse) -> Iterator[Checked]:
    """Yield the rows that the API would take, each thing once: the second of the same name is refused."""
    first: dict[tuple[Written, object], str] = {}
    for row in rows:
        try:
            content = _content(row)
        except InvalidInput as error:
            refuse(row.where, str(error), _key_of(row))
            continue
        key = _identity(row, content)
        if key is not None and key in first:
            refuse(row.where, f"{_named_by(row)} as {first[key]}")
            continue
        if key is not None:
            first[key] = row.where
        yield Checked(row, content)


def _content(row: Row) -> Content:
    match row.kind:
        case "items":
            return read_item(row.value)
        case "agent_skills":
            return read_agent_skill(row.value)
        case "servers":
            return read_server(row.value)
        case "agents":
            return read_agent(row.value)
        case _:
            return None


def _identity(row: Row, content: Content) -> tuple[Written, object] | None:
    if isinstance(content, ItemContent):
        return row.kind, content.key
    return None if content is None else (row.kind, content.content.path)


def _named_by(row: Row) -> str:
    return "name: the same server, type and name" if row.kind == "items" else "path: the same path"


def _key_of(row: Row) -> About:
    """Return which item or skill was refused, as far as it says so: it is not gone, though nothing of it is written."""
    if row.kind == "agent_skills":
        return SkillPath(row.value["path"])
    server, type_, name = row.value.get("server") or "", row.value.get("type", "tool"), row.value.get("name")
    if row.kind != "items" or not isinstance(server, str) or not isinstance(name, str):
        return None
    return ItemKey(server.strip(), type_, name.strip()) if type_ in {"tool", "prompt", "resource"} else None
