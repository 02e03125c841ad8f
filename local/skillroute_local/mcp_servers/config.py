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
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from skillroute_local.errors import LocalError
from skillroute_local.mcp_servers.model import HttpServer, McpServer, ServersFile, StdioServer
from skillroute_local.mcp_servers.variables import Variables

_MAX_BYTES = 4 * 1024 * 1024
_MAX_NAME = 256  # as long as the catalogue takes the name of a server
_TYPES = {
    "stdio": "stdio",
    "http": "http", "streamable-http": "http", "streamableHttp": "http", "streamable_http": "http",
    "sse": "sse",
}  # fmt: skip
# What is not closed goes to the end: else each of many would be looked for there.
_STRINGS_AND_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STRINGS_AND_LAST_COMMAS = re.compile(r'("(?:\\.|[^"\\])*(?:"|\\?\Z))|,(?=\s*[}\]])')


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[ -~\t]*[!-~])?)?")


class _Wrong(ValueError):
    """What is wrong with a field, with the field in front."""


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
            servers.append(_server(name, entry, where, variables))
        except _Wrong as error:
            problems.append(f"{where}{error}")
    return ServersFile(tuple(servers), tuple(disabled), tuple(problems))


def _document(path: Path) -> dict[str, Any]:
    try:
        size = path.stat().st_size
        text = path.read_text("utf-8-sig") if size <= _MAX_BYTES else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise LocalError(f"{path} cannot be read ({reason}): name the mcp.json of your client") from error
    if size > _MAX_BYTES:
        raise LocalError(f"{path} has {size} bytes, more than {_MAX_BYTES}: it is no mcp.json")
    try:
        document = json.loads(_without_comments(text))
    except (ValueError, RecursionError) as error:
        raise LocalError(f"{path} is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise LocalError(f'{path} must be an object with "mcpServers" or "servers"')
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
            raise LocalError(f"{path}: {within} must be an object with a server under each name")
    raise LocalError(f'{path} names no servers: it must have "mcpServers" (Claude, Cursor) or "servers" (VS Code)')


def _inputs(document: dict[str, Any]) -> dict[str, str | None]:
    mcp = document.get("mcp")
    listed = document.get("inputs") or (mcp.get("inputs") if isinstance(mcp, dict) else None)
    known = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    return {str(entry.get("id")): default for entry in known if isinstance(default := entry.get("default"), str | None)}


def _server(name: str, entry: object, where: str, variables: Variables) -> McpServer:
    if not name.strip() or len(name) > _MAX_NAME:
        raise _Wrong(f": the name of a server has 1 to {_MAX_NAME} characters")
    if not isinstance(entry, dict):
        raise _Wrong(' must be an object with "command" or "url"')
    expand = variables.expand
    url = entry.get("url", entry.get("serverUrl"))
    match _transport(entry, url):
        case "stdio":
            command = _text(entry, "command", expand)
            if not command:
                raise _Wrong(".command is missing: name the program that is the server")
            cwd = _text(entry, "cwd", expand)
            return StdioServer(
                name, where, command, _texts(entry, "args", expand),
                {**_env_file(entry, expand), **_mapping(entry, "env", expand)},
                _path(cwd, "cwd") if cwd else None,
            )  # fmt: skip
        case transport:
            address = _text({"url": url}, "url", expand)
            if not re.match(r"https?://[^/\s]", address):
                raise _Wrong(".url must begin with http:// or https://")
            kind = "sse" if transport == "sse" else "http"
            return HttpServer(name, where, address, _headers(entry, expand), kind)  # type: ignore[arg-type]


def _transport(entry: dict[str, Any], url: object) -> str:
    named = entry.get("type", entry.get("transport"))
    if named is None:
        if "command" not in entry and url is None:
            raise _Wrong(' has neither "command" nor "url"')
        return "stdio" if "command" in entry else "http"
    if not isinstance(named, str) or named not in _TYPES:
        raise _Wrong(f".type must be one of {', '.join(_TYPES)}")
    transport = _TYPES[named]
    if transport != "stdio" and url is None:
        raise _Wrong(".url is missing")
    return transport


Expand = Callable[[str], str]


def _expanded(field: str, value: object, expand: Expand) -> str:
    if isinstance(value, bool | int | float):  # as people write ports and switches
        value = json.dumps(value)
    if not isinstance(value, str):
        raise _Wrong(f".{field} must be a string")
    try:
        expanded = expand(value)
    except ValueError as error:
        raise _Wrong(f".{field}: {error}") from error
    if "\0" in expanded:
        raise _Wrong(f".{field} must not contain a NUL character")
    return expanded


def _text(entry: dict[str, Any], field: str, expand: Expand) -> str:
    value = entry.get(field)
    return "" if value is None else _expanded(field, value, expand).strip()


def _texts(entry: dict[str, Any], field: str, expand: Expand) -> tuple[str, ...]:
    values = entry.get(field) or []
    if not isinstance(values, list):
        raise _Wrong(f".{field} must be a list of strings")
    return tuple(_expanded(f"{field}[{index}]", value, expand) for index, value in enumerate(values))


def _mapping(entry: dict[str, Any], field: str, expand: Expand) -> dict[str, str]:
    values = entry.get(field) or {}
    if not isinstance(values, dict):
        raise _Wrong(f".{field} must be an object of strings")
    return {key: _expanded(f"{field}.{key}", value, expand) for key, value in values.items() if value is not None}


def _headers(entry: dict[str, Any], expand: Expand) -> dict[str, str]:
    """Return the headers. What HTTP does not allow is named here: later its value would be in the error."""
    headers = _mapping(entry, "headers", expand)
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise _Wrong(f".headers: {name!r} is no name of a header")
        if not _HEADER_VALUE.fullmatch(value):
            raise _Wrong(
                f".headers.{name} has a character that HTTP does not allow: printable ASCII without spaces at the ends"
            )
    return headers


def _env_file(entry: dict[str, Any], expand: Expand) -> dict[str, str]:
    name = _text(entry, "envFile", expand)
    if not name:
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 (few files name one)

    path = _path(name, "envFile")
    try:
        if not path.is_file():
            raise _Wrong(f".envFile: there is no file {path}")
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise _Wrong(f".envFile: {path} cannot be read ({reason})") from error
    return {key: value for key, value in values.items() if value is not None}


def _path(name: str, field: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise _Wrong(f".{field}: there is no user whose folder {name.partition('/')[0]} is") from error


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
