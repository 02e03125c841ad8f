"""The formats of sources, and which of them a source has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skillroute_local.errors import Misused
from skillroute_local.importing import (
    agent_cards,
    agent_skills,
    backup,
    items,
    openapi,
    registry_list,
    running,
    tools_list,
)
from skillroute_local.importing.content import Broken, Content, Folder, Lines, content_of
from skillroute_local.importing.model import Choices, Reading, Refuse, Unreadable


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes
    ----------
    help : str
        What it is, for people.
    matches : callable
        Returns whether a source has it, by its content.
    read : callable
        Reads a source that has it, or is said to have it. Raises `Unreadable`.
    """

    help: str
    matches: Callable[[Content], bool]
    read: Callable[[Content, Choices, Refuse], Reading]


FORMATS: dict[str, Format] = {
    "backup": Format("what `skillroute export` wrote", backup.is_backup, backup.read_backup),
    "jsonl": Format("items, one JSON object a line", items.is_lines, items.read_item_lines),
    "agent-skills": Format("folders with a SKILL.md", agent_skills.is_folder, agent_skills.read_folder),
    "openapi": Format("an OpenAPI 3 document, JSON or YAML", openapi.is_document, openapi.read_operations),
    "mcp-config": Format("an mcp.json, whose servers are started or reached and listed", running.is_config,
                         running.read_config),
    "mcp-registry": Format("what an MCP registry lists, or one server.json", registry_list.is_list,
                           registry_list.read_list),
    "agent-cards": Format("an agent card of A2A, or a list of them", agent_cards.is_cards, agent_cards.read_cards),
    "tools-list": Format("an MCP server's answer to tools/list", tools_list.is_answer, tools_list.read_answer),
    "json": Format("an item, or a list of items", items.is_document, items.read_item_document),
}  # fmt: skip
"""In the order in which a source is tried: the first that matches it is its format."""


def read(path: Path, choices: Choices, refuse: Refuse, *, name: str | None = None) -> Reading:
    """Read a source, in the format that its content shows unless one is named.

    Raises
    ------
    Unreadable
        It has none of the formats, or not the one that is named; or it would start programs and is not named for it.
    """
    content = content_of(path)
    if name == "jsonl" and not isinstance(content, Folder):
        content = Lines(path)  # one line alone, or a first one that is broken, may be anything
    named = FORMATS if name is None else {name: FORMATS[name]}
    found = next((reader for reader in named.values() if reader.matches(content)), None)
    if found is not None:
        if name is None and found is FORMATS["mcp-config"]:
            running.require_client_file(path)
        return found.read(content, choices, refuse)
    if isinstance(content, Broken):
        raise content.error
    if name is not None:
        raise Unreadable(path.name, f"is not of format {name} ({FORMATS[name].help})")
    known = "; ".join(f"{name}: {reader.help}" for name, reader in FORMATS.items())
    raise Unreadable(path.name, f"has none of the formats ({known})")


def require_format(name: str | None) -> None:
    """Raise `LocalError` where a format is named that is none."""
    if name is not None and name not in FORMATS:
        raise Misused(f"--format: {name!r} is not one of {', '.join(FORMATS)}")
