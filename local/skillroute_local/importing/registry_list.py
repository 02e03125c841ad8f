"""Reads lists of MCP registries and single documents (`server.json`) as servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillroute.registry.published.version_order import version_order

from skillroute_local.importing.content import Content, document_of
from skillroute_local.importing.model import Choices, Reading, Refuse, Row
from skillroute_local.importing.values import entries, rows_of

_OF_A_SERVER = ("packages", "remotes", "repository", "tools")
_SCHEMA = "server.schema.json"
_OFFICIAL = ("io.modelcontextprotocol.registry/official", "io.modelcontextprotocol.registry")
_BESIDE = "x-io.modelcontextprotocol.registry"
_IS_LATEST = ("isLatest", "is_latest")
_PUBLISHED = ("publishedAt", "published_at", "release_date")


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
    """Return one row for each name, the latest: registries list every version of a server, in any order.

    The latest is what the registry says it is, else the highest version, else what was published last; of those that
    are equal in all, the last one.
    """
    latest: dict[object, tuple[_Order, Row]] = {}
    for row in rows:
        if _said(row.value, ("status",), str) == "deleted":
            continue
        name = _server(row.value).get("name")
        key = name if isinstance(name, str) else row.where  # it is refused later, and should not hide another one
        order = _order(row.value)
        if key not in latest or order >= latest[key][0]:
            latest[key] = order, row
    return [row for _, row in latest.values()]


_Order = tuple[bool, tuple[Any, ...], str]


def _order(value: dict[str, Any]) -> _Order:
    is_latest = _said(value, _IS_LATEST, bool) is True
    version = _said(value, ("version",), str) or ""
    return is_latest, version_order(version), _said(value, _PUBLISHED, str) or ""


def _server(value: dict[str, Any]) -> dict[str, Any]:
    inner = value.get("server")
    return inner if isinstance(inner, dict) and "name" not in value else value


def _said(value: dict[str, Any], names: tuple[str, ...], type_: type) -> Any:
    """Return what an entry says under one of these names, None where it does not."""
    places = [place[name] for place in _places(value) for name in names if isinstance(place.get(name), type_)]
    return places[0] if places else None


def _places(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield where an entry, of whatever age, says something of its version: what the official registry says first."""
    server = _server(value)
    for holder in (value, server):
        meta = holder.get("_meta")
        held = [meta.get(name) for name in _OFFICIAL] if isinstance(meta, dict) else []
        yield from (
            each for each in (*held, holder.get(_BESIDE), holder.get("version_detail")) if isinstance(each, dict)
        )
    yield server
