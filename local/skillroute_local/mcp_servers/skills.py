"""Agent Skills that a server serves: `skills/list` of the extension, and the files with their digests verified.

https://github.com/modelcontextprotocol/ext-skills, of revision 2026-07-28.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

import anyio
from mcp.shared.exceptions import MCPError
from skillroute.agent_skills.model import SKILL_MD

from skillroute_local.mcp_servers.connection import Connection
from skillroute_local.mcp_servers.model import Limits, ServedSkill, ServerError
from skillroute_local.terminal_text import harmless

EXTENSION = "io.modelcontextprotocol/skills"

MAX_SKILLS = 1_000
"""Skills of a server that are read."""

MAX_RESOURCES = 512
"""Files of a skill that its entry may name, as the extension has it."""


class UnservedError(Exception):
    """A skill of a server cannot be taken; its text is the reason."""


class Room(Protocol):
    """Which files of a skill are taken, asked one after the other."""

    def take(self, path: str, size: int) -> bool:
        """Return whether there is room for a file, and note it."""
        ...

    def reasons(self) -> list[str]:
        """Return what was left out and why."""
        ...


@dataclass(frozen=True, slots=True)
class Skills:
    """The skills of a server, and what was wrong with others."""

    found: tuple[ServedSkill, ...] = ()
    problems: tuple[str, ...] = ()


async def read_skills(connection: Connection, limits: Limits, new_room: Callable[[], Room]) -> Skills:
    """Return the skills that a server lists, all their files read; none of one without the extension.

    One that cannot be taken is a problem, and spoils no other one.
    """
    if not connection.has_extension(EXTENSION):
        return Skills()
    found: list[ServedSkill] = []
    problems: list[str] = []
    with anyio.move_on_after(limits.list_s) as scope:
        try:
            for entry in await _entries(connection, limits, problems):
                try:
                    found.append(await _read(connection, entry, new_room()))
                except (UnservedError, MCPError, ServerError) as error:
                    if connection.has_ended:
                        raise
                    problems.append(f"{connection.server.name}: {_uri_of(entry)}: {error}")
        except (UnservedError, MCPError, ServerError) as error:
            problems.append(f"{connection.server.name}: skills/list: {error}")
    if scope.cancelled_caught:
        problems.append(
            f"{connection.server.name}: skills/list: skills that were not read in {limits.list_s:g} s are left out"
        )
    return Skills(tuple(found), tuple(map(harmless, problems)))


async def _entries(connection: Connection, limits: Limits, problems: list[str]) -> list[Any]:
    entries: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(limits.pages):
        page = await connection.ask("skills/list", {} if cursor is None else {"cursor": cursor})
        if not isinstance(page.get("skills"), list):
            raise UnservedError("its answer has no list of skills")
        entries += page["skills"]
        cursor = page.get("nextCursor")
        if not cursor or len(entries) > MAX_SKILLS:
            break
        if not isinstance(cursor, str) or cursor in seen:
            raise UnservedError(f"repeats the cursor {str(cursor)[:80]!r}")
        seen.add(cursor)
    if len(entries) > MAX_SKILLS:
        problems.append(f"{connection.server.name}: skills/list: skills after the first {MAX_SKILLS} are left out")
    return entries[:MAX_SKILLS]


async def _read(connection: Connection, entry: Any, room: Room) -> ServedSkill:
    """Read the files of an entry, each against its digest and size. Raises `UnservedError`, `MCPError`."""
    frontmatter = entry.get("frontmatter") if isinstance(entry, dict) else None
    uri = _uri_of(entry)
    root, slash, last = uri.rpartition("/")
    if last != SKILL_MD or not isinstance(frontmatter, dict):
        raise UnservedError("must have the uri of a SKILL.md, and frontmatter")
    if not uri.isprintable():  # it is shown wherever the skill is
        raise UnservedError("its uri must have printable characters alone")
    path = unquote(root.partition("://")[2])
    if path.rpartition("/")[2] != frontmatter.get("name"):
        raise UnservedError("frontmatter.name must be the last segment of its path")
    if entry.get("resources") == "dynamic":
        content = await _content(connection, uri)
        room.take(SKILL_MD, len(content))
        left_out = ("left out: all files but SKILL.md: they are made when they are read, and have no digests",)
        return ServedSkill(uri, path, frontmatter, {SKILL_MD: content}, left_out, frozenset({uri}))
    resources = _resources(entry.get("resources"), uri, root + slash)
    files: dict[str, bytes] = {}
    for name in sorted(resources, key=lambda name: (name != SKILL_MD, name)):
        resource = resources[name]
        if not room.take(name, resource["size"]):
            continue
        content = await _content(connection, resource["uri"])
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        if (len(content), digest) != (resource["size"], resource["digest"]):
            raise UnservedError(f"{name} is not what its digest and size say: it may have been changed")
        files[name] = content
    uris = frozenset(resource["uri"] for resource in resources.values())
    return ServedSkill(uri, path, frontmatter, files, tuple(map(harmless, room.reasons())), uris)


def _resources(given: Any, uri: str, below: str) -> dict[str, dict[str, Any]]:
    """Return the files of an entry by their paths in the skill. Raises `UnservedError`."""
    if not isinstance(given, list) or len(given) > MAX_RESOURCES:
        raise UnservedError(f'resources must be "dynamic" or a list of up to {MAX_RESOURCES} files')
    found: dict[str, dict[str, Any]] = {}
    for resource in given:
        match resource:
            case {"uri": str(of), "digest": str(), "size": int(size)} if of.startswith(below) and size >= 0:
                found[unquote(of.removeprefix(below))] = resource
            case _:
                raise UnservedError("each of its resources must have size, digest, and a uri below the skill's")
    if len(found) != len(given) or found.get(SKILL_MD, {}).get("uri") != uri:
        raise UnservedError("its resources must be its files, each once, SKILL.md among them")
    return found


async def _content(connection: Connection, uri: str) -> bytes:
    """Return the bytes of a resource. Raises `UnservedError`, `MCPError`, `ServerError`."""
    match (await connection.read_resource(uri)).get("contents"):
        case [{"text": str(text)}]:
            return text.encode("utf-8", "surrogatepass")
        case [{"blob": str(blob)}]:
            try:
                return base64.b64decode(blob, validate=True)
            except (binascii.Error, ValueError):
                raise UnservedError("the blob of one of its files is not base64") from None
        case _:
            raise UnservedError("reading one of its files gives neither a text nor a blob")


def _uri_of(entry: Any) -> str:
    uri = entry.get("uri") if isinstance(entry, dict) else None
    return uri if isinstance(uri, str) else "a skill without uri"
