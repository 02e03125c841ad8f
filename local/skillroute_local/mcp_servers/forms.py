"""How clients write down their MCP servers: where in a file, in which fields, and which variables they put in.

    Claude, Cursor, Windsurf, Cline, Kiro, ...   {"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}
    VS Code                                      {"servers": {"git": {"type": "stdio", "command": "uvx"}}, "inputs": []}
    Codex, in TOML                               [mcp_servers.git]
    opencode                                     {"mcp": {"git": {"type": "local", "command": ["uvx", "a-server"]}}}
    Zed                                          {"context_servers": {"git": {"command": "uvx", "args": []}}}

docs/import.md has the table, and tests/unit/local/mcp_servers/test_forms.py a test of each of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Syntax = Literal["braces", "dollar", "opencode", "none"]
"""Of variables: `${NAME}` and its like; `$NAME` as well; `{env:NAME}` and `{file:PATH}`; none at all."""

_DOLLAR_FOLDERS = {".gemini", ".qwen"}
_DOLLAR_FILES = {"gemini-extension.json", "qwen-extension.json", "crush.json", ".crush.json"}


class EntryError(ValueError):
    """A problem with a field, which comes first: `.command is missing`."""


@dataclass(frozen=True, slots=True)
class Written:
    """The servers at one place of a file.

    Attributes
    ----------
    within : str
        The place, for messages: ``mcpServers``.
    entries : object
        What is there, by the server's name; no mapping where the file is wrong.
    syntax : str
    off : frozenset of str
        The names of those that the file switches off elsewhere.
    twice : tuple of str
        The names of entries that are left out, since one before them has theirs.
    """

    within: str
    entries: object
    syntax: Syntax = "braces"
    off: frozenset[str] = frozenset()
    twice: tuple[str, ...] = ()


def written(path: Path, document: Mapping[str, Any], workspace: Path) -> Iterator[Written]:
    """Yield each place where a file has servers.

    Parameters
    ----------
    workspace : Path
        The project whose servers are read of a file that has those of several (`~/.claude.json`).
    """
    braces: Syntax = "dollar" if path.parent.name in _DOLLAR_FOLDERS or path.name in _DOLLAR_FILES else "braces"
    mcp = _mapping(document.get("mcp"))
    project = _mapping(_mapping(document.get("projects")).get(str(workspace)))
    off = frozenset(_texts(project.get("disabledMcpServers")))
    if "mcpServers" in project:  # before the person's own, as Claude Code has it
        yield Written(f"projects.{workspace}.mcpServers", project["mcpServers"], off=off)
    if "mcpServers" in document:
        entries, twice = _by_name(document["mcpServers"])
        yield Written("mcpServers", entries, braces, off | _switched_off(document, mcp), twice)
    if "servers" in document:
        yield Written("servers", document["servers"])
    if "servers" in mcp:  # VS Code's settings; opencode of its second version writes its own fields there
        is_opencode = path.name.startswith("opencode.")
        yield Written("mcp.servers", mcp["servers"], "opencode" if is_opencode else "braces")
    elif path.name.startswith("opencode.") or any(map(_is_server, mcp.values())):
        servers = {name: entry for name, entry in mcp.items() if _is_server(entry)}
        yield Written("mcp", servers, "opencode" if braces == "braces" else braces)
    within_settings = _mapping(_mapping(document.get("settings")).get("mcp"))
    if "servers" in within_settings:
        yield Written("settings.mcp.servers", within_settings["servers"])
    for place, syntax in _OTHER_PLACES.items():
        if place in document:
            yield Written(place, document[place], syntax)
    if isinstance(extensions := document.get("extensions"), dict) and any(map(_is_extension, extensions.values())):
        yield Written("extensions", {name: one for name, one in extensions.items() if _is_extension(one)}, "none")


_OTHER_PLACES: dict[str, Syntax] = {
    "mcp_servers": "none",  # Codex
    "context_servers": "none",  # Zed
    "amp.mcpServers": "braces",
}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _is_server(entry: object) -> bool:
    return isinstance(entry, dict) and not {"command", "url"}.isdisjoint(entry)


def _is_extension(entry: object) -> bool:
    """Return whether an entry is an extension of Goose that is an MCP server: others are built in."""
    if not isinstance(entry, dict):
        return False
    return not {"cmd", "uri"}.isdisjoint([*entry, *_mapping(entry.get("config"))])


def _by_name(entries: object) -> tuple[object, tuple[str, ...]]:
    """Return servers by their names, where Continue lists them with their names within, and the names of the others."""
    if (
        not isinstance(entries, list)
        or not entries
        or not all(isinstance(one, dict) and "name" in one for one in entries)
    ):
        return entries, ()
    found: dict[str, Any] = {}
    twice: list[str] = []
    for one in entries:
        name = str(one["name"])
        if name in found:
            twice.append(name)
        else:
            found[name] = {key: value for key, value in one.items() if key != "name"}
    return found, tuple(twice)


def _switched_off(document: Mapping[str, Any], mcp: Mapping[str, Any]) -> frozenset[str]:
    """Return the servers that a file of Gemini CLI or Qwen Code leaves out elsewhere than in their entries."""
    named = frozenset(map(str, _mapping(document.get("mcpServers"))))
    allowed = mcp.get("allowed")
    return frozenset(_texts(mcp.get("excluded"))) | (
        named - frozenset(_texts(allowed)) if isinstance(allowed, list) else frozenset()
    )


def is_off(entry: object) -> bool:
    """Return whether an entry is switched off by itself."""
    if not isinstance(entry, dict):
        return False
    return entry.get("disabled") is True or entry.get("enabled") is False


def plain(entry: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return an entry in the fields of Claude's `mcp.json`, whichever client wrote it.

    What is named by its variable (Codex's `bearer_token_env_var`) comes from the environment.

    Raises
    ------
    EntryError
        The environment has no such variable, or a field is wrong.

    Examples
    --------
    >>> plain({"type": "local", "command": ["npx", "-y", "a"], "environment": {"A": "1"}}, {})
    {'type': 'stdio', 'command': 'npx', 'args': ['-y', 'a'], 'env': {'A': '1'}}
    """
    found = {**entry, **_mapping(entry.get("config"))}  # of Goose, formerly
    found = {_NAMES.get(name, name): value for name, value in found.items()}
    if isinstance(command := found.get("command"), list) and isinstance(found.get("args"), list | None):
        found["command"], found["args"] = (command or [None])[0], [*command[1:], *(found.get("args") or [])]
    elif isinstance(command, dict):  # of Zed, formerly
        found |= {"command": command.get("path"), **{key: command[key] for key in ("args", "env") if key in command}}
    if "httpUrl" in found:
        found |= {"url": found["httpUrl"], "type": "http"}
        found.pop("command", None)
    if isinstance(kind := found.get("type"), str):
        found["type"] = _TYPES.get(kind, kind)
    if found.get("type") is None:
        found.pop("type", None)
    headers = {**_mapping(_mapping(found.pop("requestOptions", None)).get("headers"))}
    for name, variable in _mapping(found.pop("env_http_headers", None)).items():
        headers[name] = _set(environment, variable, f"env_http_headers.{name}")
    if token := found.pop("bearer_token_env_var", None):
        headers["Authorization"] = f"Bearer {_set(environment, token, 'bearer_token_env_var')}"
    if headers:
        found["headers"] = {**_mapping(found.get("headers")), **headers}
    passed = {name: environment[name] for name in _passed_on(found) if name in environment}
    if passed:
        found["env"] = {**passed, **_mapping(found.get("env"))}
    return found


def _set(environment: Mapping[str, str], variable: object, field: str) -> str:
    if not isinstance(variable, str) or variable not in environment:
        raise EntryError(f".{field}: the environment variable {variable} is not set")
    return environment[variable]


_NAMES = {
    "environment": "env", "envs": "env", "cmd": "command", "uri": "url", "serverUrl": "url", "http_headers": "headers",
    "working_directory": "cwd", "workingDirectory": "cwd",
}  # fmt: skip
_TYPES = {"local": "stdio", "remote": "auto"}


def _passed_on(entry: dict[str, Any]) -> list[str]:
    """Return the variables that an entry wants passed on: Codex's `env_vars`, Goose's `env_keys`."""
    names: list[str] = []
    for field in ("env_vars", "env_keys"):
        listed = entry.pop(field, None)
        if listed is not None and not isinstance(listed, list):
            raise EntryError(f".{field} must be a list of names of variables")
        for one in listed or ():
            name = one.get("name") if isinstance(one, dict) else one
            names += [name] if isinstance(name, str) else []
    return names


def tools_of(entry: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the patterns of the tools that an entry takes, all where there are none, and of those that it leaves out.

    Examples
    --------
    >>> tools_of({"includeTools": ["read(*)", "list"], "disabledTools": ["drop"]})
    (('read', 'list'), ('drop',))
    """
    only, but = ([name for field in fields for name in _texts(entry.get(field))] for fields in (_ONLY, _BUT))
    taken = [name.partition("(")[0] for name in only]
    return () if "*" in taken else tuple(taken), tuple(name.partition("(")[0] for name in but)


_ONLY = ("includeTools", "enabled_tools", "enabledTools", "allowedTools", "available_tools", "tools")
_BUT = ("excludeTools", "disabled_tools", "disabledTools")
