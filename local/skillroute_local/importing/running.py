"""MCP servers that run, or are started: what they list becomes items. An `mcp.json` names many of them."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skillroute.core.input.url_credentials import masked_url

from skillroute_local.errors import LocalError, Misused
from skillroute_local.importing.content import Broken, Content, Document
from skillroute_local.importing.model import Choices, Reading, Refuse, Row, Scope, Unreadable
from skillroute_local.importing.pointers import pointer
from skillroute_local.importing.served_skills import skill_rows
from skillroute_local.importing.skill_files import Room
from skillroute_local.importing.tools_list import listed
from skillroute_local.importing.values import size_of
from skillroute_local.mcp_servers.model import LISTS, HttpServer, Limits, Listing, McpServer, ServerError, StdioServer

_MAX_INSTRUCTIONS = 10_000

_CLIENT_FILES = {
    "mcp.json", ".mcp.json", "mcp-config.json", "mcp_config.json", "mcp_settings.json", "cline_mcp_settings.json",
    "claude_desktop_config.json", ".claude.json", "gemini-extension.json", "opencode.json", "opencode.jsonc",
    "crush.json", ".crush.json", "librechat.yaml",
}  # fmt: skip
_SETTINGS = {
    "settings.json": {".vscode", ".cursor", ".gemini", ".qwen", ".claude", ".zed", "zed", ".amp", "amp", "User"},
    "config.toml": {".codex"},
    "config.yaml": {"goose", ".continue"},
}
"""Files that are a client's in these folders; VS Code keeps a person's own in `Code/User`."""

# What is wrong with an entry of the file is about no server that is listed.
_OF_NO_SERVER = ""


def is_client_file(path: Path) -> bool:
    """Return whether a file is called as clients call their `mcp.json`."""
    return (
        path.name in _CLIENT_FILES
        or path.suffix == ".code-workspace"
        or path.absolute().parent.name in _SETTINGS.get(path.name, ())
    )


def require_client_file(path: Path) -> None:
    """Raise `Unreadable` where a file is not called so: its content alone must not start programs."""
    if not is_client_file(path):
        raise Unreadable(
            path.name,
            "looks like an mcp.json, whose programs would be started: if they may be, add --format mcp-config",
        )


def is_config(content: Content) -> bool:
    """Return whether a source is an `mcp.json` by its content, be it with comments."""
    match content:
        case Document(value=dict() as value, path=path):
            from skillroute_local.mcp_servers.forms import written  # noqa: PLC0415

            return any(isinstance(place.entries, dict) for place in written(path, value, Path.cwd()))
        case Broken(path=path):
            from skillroute_local.mcp_servers.config import read_servers  # noqa: PLC0415

            try:
                read_servers(path, is_foreign=True)  # what it holds is looked at, and nothing of it used
            except LocalError:
                return False
            return True
        case _:
            return False


def read_config(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return what the servers of an `mcp.json` list; where a server is chosen, that one alone. Raises `Unreadable`."""
    from skillroute_local.mcp_servers.config import read_servers  # noqa: PLC0415

    path = content.path
    try:
        file = read_servers(path)
    except LocalError as error:
        raise Unreadable(path.name, _within(path.as_posix(), str(error))) from None
    for problem in file.problems:
        refuse(path.name, _within(path.as_posix(), problem), _OF_NO_SERVER)
    servers = [server for server in file.servers if choices.server in {None, server.name}]
    if choices.server and not servers:
        raise Unreadable(path.name, f"names no server {choices.server!r} that is switched on: check --server")
    notes = [f"{name} is switched off in it, and left out" for name in file.disabled]
    return read_listings(servers, path.name, choices, refuse, notes)


def read_one(target: str, choices: Choices, refuse: Refuse) -> Reading:
    """Return what one server lists: one at an address, else one that a command line starts."""
    if not choices.server:
        raise Misused("--mcp needs --server: the name by which the catalogue knows the server")
    if target.startswith(("http://", "https://")):
        return read_listings([HttpServer(choices.server, "--mcp", target)], "--mcp", choices, refuse, ())
    try:
        command, *args = shlex.split(target)
    except ValueError as error:
        raise Misused(f"--mcp: must be an address or a command line: {error or 'it is empty'}") from None
    return read_listings([StdioServer(choices.server, "--mcp", command, tuple(args))], "--mcp", choices, refuse, ())


def read_listings(
    servers: Sequence[McpServer], where: str, choices: Choices, refuse: Refuse, notes: Sequence[str]
) -> Reading:
    """Return what servers list. One that hangs, dies or lies is refused, and stops no other one."""
    from skillroute_local.mcp_servers.listing import list_servers  # noqa: PLC0415 (the client takes 0.7 s)

    limits = Limits(connect_s=choices.timeout_s, list_s=choices.timeout_s)
    rows: list[Row] = []
    registered: list[Row] = []
    scopes: list[Scope] = []
    said = list(notes)
    left_out: list[str] = []
    for server, listing in zip(servers, list_servers(servers, limits, Room), strict=True):
        if isinstance(listing, ServerError):
            # There is no field to correct where the option names it.
            refuse(where, str(listing).replace("--mcp.url", "--mcp").replace("--mcp.command", "--mcp"), server.name)
            continue
        for problem in listing.problems:
            refuse(where, problem, server.name)
        answer: dict[str, list[Any]] = {field: [] for _, field in LISTS.values()}
        # The files of skills are resources as well, and would be found twice.
        of_skills = frozenset().union(*(skill.uris for skill in listing.skills))
        for entry in listing.items:
            if entry.kind == "resource" and entry.value["uri"] in of_skills:
                continue
            answer[LISTS[entry.kind][1]].append(entry.value)
        reading = listed(answer, pointer(f"{where}#", server.name), server.name, refuse, only_its_own=True)
        rows += reading.rows
        scopes += reading.scopes
        left_out += reading.left_out
        for row, notes_of in skill_rows(listing.skills, server.name, f"{where}#", refuse):
            rows.append(row)
            left_out += notes_of
        said.append(f"{server.name} lists {_counted(Counter(entry.kind for entry in listing.items))}")
        if choices.register:
            row = _registered(server, listing, pointer(f"{where}#", server.name), with_address=choices.with_address)
            registered.append(row)
            if choices.with_address and "remotes" not in row.value:
                left_out.append(f"{row.where}: the address: {_why_no_address(server)}")
    # Last: servers come without tools, and so keep those that are there.
    rows += registered
    return Reading("items", rows, sum(row.size for row in rows), scopes=scopes, notes=said, left_out=left_out)


def _registered(server: McpServer, listing: Listing, where: str, *, with_address: bool) -> Row:
    """Return a server as the registry takes it: what it says of itself, and nothing of how it is started.

    Its address, where that is asked for, must hold nothing that looks like a secret.
    """
    value: dict[str, Any] = {
        "path": f"/{server.name}",
        "name": server.name,
        "title": listing.title or server.name,
        "description": listing.instructions[:_MAX_INSTRUCTIONS],
        "version": listing.version,
    }
    if with_address and isinstance(server, HttpServer) and masked_url(server.url) == server.url:
        kind = "sse" if server.transport == "sse" else "streamable-http"
        value["remotes"] = [{"type": kind, "url": server.url}]
    return Row("servers", where, value, size_of(value))


def _why_no_address(server: McpServer) -> str:
    if isinstance(server, HttpServer):
        return "it holds what looks like a secret: register it without that, and set an identity (docs/identity.md)"
    return "it is started by a command, and is called by skillroute connect alone"


def _counted(counts: Counter[str]) -> str:
    named = [f"{counts[kind]} {kind if counts[kind] == 1 else f'{kind}s'}" for kind in LISTS if counts[kind]]
    return ", ".join(named) or "nothing"


def _within(path: str, problem: str) -> str:
    return problem.removeprefix(path).lstrip(": ")
