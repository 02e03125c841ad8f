"""Reading the file in which a client keeps its MCP servers: JSON, with comments and trailing commas, TOML or YAML.

`forms` knows where each client has them in it, and `entry` what one of them says.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skillroute_local.errors import Misused
from skillroute_local.mcp_servers.entry import server_of
from skillroute_local.mcp_servers.forms import EntryError, is_off, written
from skillroute_local.mcp_servers.model import HttpServer, McpServer, ServersFile
from skillroute_local.mcp_servers.variables import Variables

_MAX_BYTES = 4 * 1024 * 1024
# What is not closed goes to the end: else each of many would be looked for there.
_STRINGS_AND_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STRINGS_AND_LAST_COMMAS = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|,(?=\s*[}\]])')


def read_servers(
    path: Path,
    *,
    environment: Mapping[str, str] | None = None,
    workspace: Path | None = None,
    is_foreign: bool = False,
) -> ServersFile:
    """Read the MCP servers that a file names. One that is wrong does not spoil the others.

    Parameters
    ----------
    environment : mapping or None
        Where variables are looked up; None takes this process's.
    workspace : Path or None
        What `${workspaceFolder}` stands for; None takes the working directory.
    is_foreign : bool
        Whether the file came from elsewhere: nothing of this machine is put into it. Its programs are not to be
        started, and no stored login is used for its servers.

    Raises
    ------
    LocalError
        It cannot be read, or names no servers at all.
    """
    document = _document(path)
    workspace = (workspace or Path.cwd()).resolve()
    places = list(written(path, document, workspace))
    if not places:
        raise Misused(
            f'{path} names no servers: it must have "mcpServers" (Claude, Cursor, Gemini), "servers" (VS Code), '
            '"mcp_servers" (Codex), "mcp" (opencode), "context_servers" (Zed) or "amp.mcpServers" (Amp)'
        )
    variables = Variables(
        environment={} if is_foreign else os.environ if environment is None else environment,
        inputs=_inputs(document),
        workspace=workspace,
        folder=path.absolute().parent,
        is_foreign=is_foreign,
    )
    servers: dict[str, McpServer] = {}
    disabled: list[str] = []
    problems: list[str] = []
    for place in places:
        if not isinstance(place.entries, dict):
            raise Misused(f"{path}: {place.within} must be an object with a server under each name")
        problems += [
            f"{path}: {place.within}: a second server {name} is left out: rename one of them" for name in place.twice
        ]
        for name, entry in place.entries.items():
            where = f"{path}: {place.within}.{name}"
            if is_off(entry) or name in place.off:
                disabled += [name] if name not in disabled else []
            elif name in servers:
                problems.append(f"{where} is left out: {servers[name].where} has its name")
            else:
                try:
                    server = server_of(name, entry, where, replace(variables, syntax=place.syntax))
                    if isinstance(server, HttpServer) and not is_foreign:
                        server = replace(server, config=path.absolute())
                    servers[name] = server
                except EntryError as error:
                    problems.append(f"{where}{error}")
    return ServersFile(tuple(servers.values()), tuple(disabled), tuple(problems))


def _document(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        text = path.read_text("utf-8-sig") if size <= _MAX_BYTES else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise Misused(f"{path} cannot be read ({reason}): name the mcp.json of your client") from error
    if size > _MAX_BYTES:
        raise Misused(f"{path} has {size} bytes, more than {_MAX_BYTES}: it is no mcp.json")
    document = _parsed(path, text)
    if not isinstance(document, dict):
        raise Misused(f'{path} must be an object with "mcpServers" or "servers"')
    return document


def _parsed(path: Path, text: str) -> Any:
    if path.suffix in {".yaml", ".yml"}:
        from skillroute_local.importing.model import Unreadable  # noqa: PLC0415 (few clients write YAML)
        from skillroute_local.importing.yaml_text import load_yaml  # noqa: PLC0415

        try:
            return load_yaml(text, str(path))
        except Unreadable as error:
            raise Misused(str(error)) from error
    is_toml = path.suffix == ".toml"
    try:
        return tomllib.loads(text) if is_toml else json.loads(_without_comments(text))
    except (ValueError, RecursionError) as error:
        raise Misused(f"{path} is not {'TOML' if is_toml else 'JSON'}: {error}") from error


def _without_comments(text: str) -> str:
    def blank(found: re.Match[str]) -> str:
        return found[1] or re.sub(r"[^\n]", " ", found[0])  # so that lines and columns of errors stay right

    return _STRINGS_AND_LAST_COMMAS.sub(blank, _STRINGS_AND_COMMENTS.sub(blank, text))


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
