"""Compares an import with what is stored: names, and the fields that differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skillroute.agent_skills.schemas import AgentSkillGiven
from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.registry.schemas import EntityGiven
from skillroute_client.lines import key_of

from skillroute_local.client import Written
from skillroute_local.importing.check import Checked
from skillroute_local.importing.stored import Catalogue, Stored, key_of_item, mark_of, without_mark

ITEM_FIELDS = ("description", "input_schema", "output_schema", "annotations", "tags", "metadata")
_ENTITY_FIELDS = ("name", "description", "tags")
_DOCUMENT: dict[str, str] = {"servers": "server_json", "agents": "agent_card"}

What = Literal["created", "updated", "unchanged", "removed", "deleted"]


@dataclass(frozen=True, slots=True)
class Change:
    """The planned change of one item, server or agent.

    Attributes
    ----------
    name : str
        ``server/name`` of an item, with its type unless it is a tool; the path of a server or agent.
    detail : str
        The fields that differ.
    """

    kind: str
    what: What
    name: str
    detail: str = ""


def removed(row: Stored, what: What = "removed") -> Change:
    """Return the change of an item that would be removed, or deleted as it was removed long ago."""
    return Change("items", what, title(key_of_item(row)), "for good" if what == "deleted" else "")


def title(key: ItemKey) -> str:
    """Return what an item is called in a list of many."""
    name = f"{key.server}/{key.name}" if key.server else key.name
    return name if key.type == "tool" else f"{name} ({key.type})"


def title_of(valid: Checked) -> str:
    """Return what a row is called in a list of many."""
    value, content = valid.row.value, valid.content
    if isinstance(content, ItemContent):
        return title(content.key)
    if isinstance(content, EntityGiven | AgentSkillGiven):
        return content.content.path
    if valid.row.kind == "lines":
        kind, *names = key_of(value)
        return f"{kind} {'/'.join(name for name in names if name)}"
    return f"{valid.row.kind.removesuffix('s')} {value.get('name' if valid.row.kind == 'mail_agents' else 'key')}"


def differences(thing: Checked | ItemContent, catalogue: Catalogue) -> list[str]:
    """Return the fields in which something differs from what is stored; nothing of agent mail, which only lines have.

    What becomes of it the Skillroute says: this is for people, to see why.
    """
    if isinstance(thing, ItemContent):
        stored = catalogue.items(thing.key.server).get(thing.key)
        return _of_item(thing, stored) if stored else []
    if isinstance(thing.content, ItemContent):
        return differences(thing.content, catalogue)
    if isinstance(thing.content, AgentSkillGiven):
        return _of_agent_skill(thing.content, catalogue)
    if isinstance(thing.content, EntityGiven):
        return _of_entity(thing.row.kind, thing.content, catalogue)
    return _of_line(thing.row.value, catalogue) if thing.row.kind == "lines" else []


def _of_item(item: ItemContent, stored: Stored) -> list[str]:
    # The mark of one that an import switched off is none of its fields, and goes when it is switched on.
    stored, is_off = stored | {"metadata": without_mark(stored["metadata"])}, mark_of(stored)
    differing = [name for name in ITEM_FIELDS if _differs(stored[name], getattr(item, name))]
    if item.requests is not None and stored.get("requests", []) != [request._asdict() for request in item.requests]:
        differing.append("requests")
    return [*differing, "is_switched_off"] if is_off and not is_off.get("was_switched_off") else differing


def _of_line(line: Mapping[str, Any], catalogue: Catalogue) -> list[str]:
    stored = catalogue.lines().get(key_of(line), {})
    return sorted(name for name in {*stored, *line} if (stored.get(name) or None) != (line.get(name) or None))


def _of_entity(kind: Written, given: EntityGiven, catalogue: Catalogue) -> list[str]:
    content = given.content
    stored = catalogue.entities("servers" if kind == "servers" else "agents").get(content.path)
    if stored is None:
        return []
    differing = [name for name in _ENTITY_FIELDS if _differs(stored[name], getattr(content, name))]
    if stored[_DOCUMENT[kind]] != content.document:
        differing.append(_DOCUMENT[kind])
    if given.is_enabled is not None and stored["is_enabled"] != given.is_enabled:
        differing.append("is_enabled")
    return differing


def _of_agent_skill(given: AgentSkillGiven, catalogue: Catalogue) -> list[str]:
    stored = catalogue.agent_skills().get(given.content.path)
    if stored is None:
        return []
    before = {file["path"]: file["digest"] for file in stored["files"]}
    now = {file.path: file.digest for file in given.content.files}
    differing = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
    return differing if stored["frontmatter"] == given.content.frontmatter else ["frontmatter", *differing]


def _differs(stored: Any, incoming: Any) -> bool:
    return bool(stored != (list(incoming) if isinstance(incoming, tuple) else incoming))
