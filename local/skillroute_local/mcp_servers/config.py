"""Reading an `mcp.json`: Claude Code's and Desktop's form, VS Code's, and Cursor's.

    {"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"TOKEN": "${TOKEN}"}}}}
    {"servers": {"git": {"type": "stdio", "command": "uvx"}}, "inputs": [{"id": "token", "type": "promptString"}]}
    {"mcpServers": {"docs": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:KEY}"}}}}

VS Code allows comments and trailing commas in its file, and `settings.json` has `servers` within `mcp`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skillroute_local.errors import Misused
from skillroute_local.mcp_servers.entry import EntryError, server_of
from skillroute_local.mcp_servers.model import McpServer, ServersFile
from skillroute_local.mcp_servers.variables import Variables

_MAX_BYTES = 4 * 1024 * 1024
# What is not closed goes to the end: else each of many would be looked for there.
_STRINGS_AND_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STRINGS_AND_LAST_COMMAS = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|,(?=\s*[}\]])')


def read_servers(
    path: Path, *, environment: Mapping[str, str] | None = None, workspace: Path | None = None
) -> ServersFile:
    """Read the MCP servers that a file names. One that is wrong does not spoil the others.

    Parameters
    ----------
    environment : mapping or None
        Where variables are looked up; None takes this process's.
    workspace : Path or None
        What `${workspaceFolder}` stands for; None takes the working directory.

    Raises
    ------
    LocalError
        It cannot be read, or names no servers at all.
    """
    document = _document(path)
    within, entries = _entries(path, document)
    variables = Variables(
        environment=os.environ if environment is None else environment,
        inputs=_inputs(document),
        workspace=(workspace or Path.cwd()).resolve(),
    )
    servers: list[McpServer] = []
    disabled: list[str] = []
    problems: list[str] = []
    for name, entry in entries.items():
        where = f"{path}: {within}.{name}"
        if isinstance(entry, dict) and (entry.get("disabled") is True or entry.get("enabled") is False):
            disabled.append(name)
            continue
        try:
            servers.append(server_of(name, entry, where, variables))
        except EntryError as error:
            problems.append(f"{where}{error}")
    return ServersFile(tuple(servers), tuple(disabled), tuple(problems))


def _document(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        text = path.read_text("utf-8-sig") if size <= _MAX_BYTES else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Misused(f"{path} cannot be read ({reason}): name the mcp.json of your client") from error
    if size > _MAX_BYTES:
        raise Misused(f"{path} has {size} bytes, more than {_MAX_BYTES}: it is no mcp.json")
    try:
        document = json.loads(_without_comments(text))
    except (ValueError, RecursionError) as error:
        raise Misused(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Misused(f'{path} must be an object with "mcpServers" or "servers"')
    return document


def _without_comments(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"[^\n]", " ", found[0])  # so that lines and columns of errors stay right

    return _STRINGS_AND_LAST_COMMAS.sub(blank, _STRINGS_AND_COMMENTS.sub(blank, text))


def _entries(path: Path, document: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    mcp = document.get("mcp")
    for within, entries in (
        ("mcpServers", document.get("mcpServers")),
        ("servers", document.get("servers")),
        ("mcp.servers", mcp.get("servers") if isinstance(mcp, dict) else None),
    ):
        if isinstance(entries, dict):
            return within, entries
        if entries is not None:
            raise Misused(f"{path}: {within} must be an object with a server under each name")
    raise Misused(f'{path} names no servers: it must have "mcpServers" (Claude, Cursor) or "servers" (VS Code)')


def _inputs(document: dict[str, Any]) -> dict[str, str | None]:
    mcp = document.get("mcp")
    listed = document.get("inputs") or (mcp.get("inputs") if isinstance(mcp, dict) else None)
    known = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return {str(entry.get("id")): default for entry in known if isinstance(default := entry.get("default"), str | None)}


def unique(servers: Iterable[McpServer]) -> tuple[list[McpServer], list[str]]:
    """Return servers of several files, the first of each name, and what is wrong with the others."""
    taken: dict[str, McpServer] = {}
    problems = []
    for server in servers:
        if first := taken.get(server.name):
            problems.append(f"{server.where} has a name that is taken by {first.where}: rename one of them")
        else:
            taken[server.name] = server
    return list(taken.values()), problems
