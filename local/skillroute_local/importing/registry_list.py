"""What an MCP registry lists, and single documents of it (`server.json`): they become servers of the registry."""

from __future__ import annotations

from typing import Any

from skillroute_local.importing.content import Content, document_of
from skillroute_local.importing.model import Choices, Reading, Refuse, Row
from skillroute_local.importing.values import entries, rows_of

_OF_A_SERVER = ("packages", "remotes", "repository", "tools")
_SCHEMA = "server.schema.json"
_OFFICIAL = "io.modelcontextprotocol.registry/official"


def is_list(content: Content) -> bool:
    """Return whether a document is a registry's list of servers, a list of such documents, or one of them."""
    value = document_of(content)
    if isinstance(value, dict) and isinstance(value.get("servers"), list):
        return True
    return _is_server(value[0] if isinstance(value, list) and value else value)


def read_list(content: Content, choices: Choices, refuse: Refuse) -> Reading:
    """Return the servers of a list, each in its latest version; those that are deleted are left out."""
    named = entries(document_of(content), content.path.name, "servers")
    rows = _latest(list(rows_of("servers", named, refuse)))
    return Reading(
        "servers",
        rows,
        sum(row.size for row in rows),
        partial="a registry's list does not say what it had before: delete servers by DELETE /api/v1/servers/{id}",
        notes=["--server is about items, and left aside: these are servers"] if choices.server else (),
    )


def _is_server(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    inner = value.get("server")
    if isinstance(inner, dict) and "name" not in value:
        return True
    is_named = isinstance(value.get("name"), str)
    return is_named and (_SCHEMA in str(value.get("$schema")) or any(key in value for key in _OF_A_SERVER))


def _latest(rows: list[Row]) -> list[Row]:
    """Return one row for each name: registries list every version of a server, mostly the oldest first."""
    latest: dict[object, Row] = {}
    for row in rows:
        name, official = _name(row.value), _official(row.value)
        if official.get("status") == "deleted":
            continue
        key = name if isinstance(name, str) else row.where  # it is refused later, and should not hide another one
        held = latest.get(key)
        if held is None or not _official(held.value).get("isLatest"):
            latest[key] = row
    return list(latest.values())


def _name(value: dict[str, Any]) -> object:
    inner = value.get("server")
    return inner.get("name") if isinstance(inner, dict) else value.get("name")


def _official(value: dict[str, Any]) -> dict[str, Any]:
    """Return what the official registry says of an entry, `{}` where it is another one's."""
    meta = value.get("_meta")
    official = meta.get(_OFFICIAL) if isinstance(meta, dict) else None
    return official if isinstance(official, dict) else {}
