"""One server of a client's file: how it is started or reached, from the fields that `forms.plain` leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillroute_local.mcp_servers.forms import EntryError, plain, tools_of
from skillroute_local.mcp_servers.model import HttpServer, McpServer, StdioServer, ToolFilter
from skillroute_local.mcp_servers.variables import NOT_HERE, Variables

_MAX_NAME = 256  # as long as the catalogue takes the name of a server
_TYPES = {
    "stdio": "stdio",
    "http": "http", "streamable-http": "http", "streamableHttp": "http", "streamable_http": "http",
    "sse": "sse", "auto": "auto",
}  # fmt: skip
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"(?:[!-~](?:[ -~\t]*[!-~])?)?")
_KEYRING = re.compile(r"(Bearer )?keyring:([^\s:][^\n]{0,254})")

_OF_AN_EXTENSION = ' is started by an extension of its client: name its "command" here to have it'

Expand = Callable[[str], str]


def server_of(name: str, entry: object, where: str, variables: Variables) -> McpServer:
    """Return the server that an entry describes.

    Parameters
    ----------
    name : str
        What the file calls it.
    where : str
        The entry's place, which the server remembers.
    variables : Variables
        What is put in for `${...}`.

    Raises
    ------
    EntryError
        A field is missing or wrong.
    """
    if not name.strip() or len(name) > _MAX_NAME:
        raise EntryError(f": the name of a server has 1 to {_MAX_NAME} characters")
    if not isinstance(entry, dict):
        raise EntryError(' must be an object with "command" or "url"')
    entry = plain(entry, variables.environment)
    expand = variables.expand
    url = entry.get("url")
    tools = ToolFilter(*tools_of(entry))
    match _transport(entry, url):
        case "stdio":
            if variables.is_foreign:  # it is shown as it was written, and never started
                return _as_written(name, where, entry)
            command = _text(entry, "command", expand)
            if not command:
                raise EntryError(".command is missing: name the program that is the server")
            cwd = _text(entry, "cwd", expand)
            env = {**_env_file(entry, expand), **_mapping(entry, "env", expand)}
            return StdioServer(
                name, where, command, _texts(entry, "args", variables.of_entry(env).expand_known), env,
                _path(cwd, "cwd") if cwd else None,
                _switch(entry, "inheritEnv"),
                tools,
            )  # fmt: skip
        case transport:
            address = _text({"url": url}, "url", expand)
            if not re.match(r"https?://[^/\s]", address):
                raise EntryError(".url must begin with http:// or https://")
            headers = _headers(entry, expand, is_foreign=variables.is_foreign)
            return HttpServer(name, where, address, headers, transport, tools)  # type: ignore[arg-type]


def _as_written(name: str, where: str, entry: dict[str, Any]) -> StdioServer:
    """Return a server of a file that came from elsewhere, with no variable replaced and no file read."""
    command = _text(entry, "command", str)
    if not command:
        raise EntryError(".command is missing: name the program that is the server")
    cwd = _text(entry, "cwd", str)
    env = dict.fromkeys([*(["envFile"] if entry.get("envFile") else []), *_mapping(entry, "env", str)], "")
    return StdioServer(name, where, command, _texts(entry, "args", str), env, Path(cwd) if cwd else None)


def _transport(entry: dict[str, Any], url: object) -> str:
    named = entry.get("type", entry.get("transport"))
    if named is None:
        if "command" not in entry and url is None:
            raise EntryError(_OF_AN_EXTENSION if "settings" in entry else ' has neither "command" nor "url"')
        return "stdio" if "command" in entry else "auto"
    if not isinstance(named, str) or named not in _TYPES:
        raise EntryError(f".type must be one of {', '.join(name for name in _TYPES if name != 'auto')}")
    transport = _TYPES[named]
    if transport != "stdio" and url is None:
        raise EntryError(".url is missing")
    return transport


def _expanded(field: str, value: object, expand: Expand) -> str:
    if isinstance(value, bool | int | float):  # as people write ports and switches
        value = json.dumps(value)
    if not isinstance(value, str):
        raise EntryError(f".{field} must be a string")
    try:
        expanded = expand(value)
    except ValueError as error:
        raise EntryError(f".{field}: {error}") from error
    if "\0" in expanded:
        raise EntryError(f".{field} must not contain a NUL character")
    return expanded


def _text(entry: dict[str, Any], field: str, expand: Expand) -> str:
    value = entry.get(field)
    return "" if value is None else _expanded(field, value, expand).strip()


def _switch(entry: dict[str, Any], field: str) -> bool:
    value = entry.get(field, False)
    if not isinstance(value, bool):
        raise EntryError(f".{field} must be true or false")
    return value


def _texts(entry: dict[str, Any], field: str, expand: Expand) -> tuple[str, ...]:
    values = entry.get(field) or []
    if not isinstance(values, list):
        raise EntryError(f".{field} must be a list of strings")
    return tuple(_expanded(f"{field}[{index}]", value, expand) for index, value in enumerate(values))


def _mapping(entry: dict[str, Any], field: str, expand: Expand) -> dict[str, str]:
    values = entry.get(field) or {}
    if not isinstance(values, dict):
        raise EntryError(f".{field} must be an object of strings")
    return {key: _expanded(f"{field}.{key}", value, expand) for key, value in values.items() if value is not None}


def _headers(entry: dict[str, Any], expand: Expand, *, is_foreign: bool) -> dict[str, str]:
    """Return the headers. What HTTP does not allow is named here: later its value would be in the error."""
    given = _mapping(entry, "headers", expand)
    for name, value in given.items():
        if is_foreign and _KEYRING.fullmatch(value):
            raise EntryError(f".headers.{name}: a secret of the keyring {NOT_HERE}")
    headers = {name: _of_keyring(name, value) for name, value in given.items()}
    for name, value in headers.items():
        if not _HEADER.fullmatch(name):
            raise EntryError(f".headers: {name!r} is no name of a header")
        if not _HEADER_VALUE.fullmatch(value):
            raise EntryError(
                f".headers.{name} has a character that HTTP does not allow: printable ASCII without spaces at the ends"
            )
    return headers


def _of_keyring(header: str, value: str) -> str:
    """Return a header's value, or the secret of the system's keyring that it names: ``keyring:NAME``."""
    named = _KEYRING.fullmatch(value)
    if named is None:
        return value
    from skillroute.core.errors.model import SecretUnavailable  # noqa: PLC0415 (few entries name one)
    from skillroute.identity.places import of_keyring  # noqa: PLC0415

    try:
        return f"{named[1] or ''}{of_keyring(named[2])}"
    except SecretUnavailable as error:
        raise EntryError(f".headers.{header}: {error}") from None


def _env_file(entry: dict[str, Any], expand: Expand) -> dict[str, str]:
    name = _text(entry, "envFile", expand)
    if not name:
        return {}
    from dotenv import dotenv_values  # noqa: PLC0415 (few files name one)

    path = _path(name, "envFile")
    try:
        if not path.is_file():
            raise EntryError(f".envFile: there is no file {path}")
        values = dotenv_values(path, interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise EntryError(f".envFile: {path} cannot be read ({reason})") from error
    return {key: value for key, value in values.items() if value is not None}


def _path(name: str, field: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise EntryError(f".{field}: no user has the folder {name.partition('/')[0]} is") from error
