"""A registered server's document as the `server.json` that clients of MCP registries read."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from skillroute.catalogue.model import JsonObject
from skillroute.registry.published.entries import Entry

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
OFFICIAL = "io.modelcontextprotocol.registry/official"
"""Where clients look for the status of an entry, in other registries too."""

_PUBLISHER = "io.modelcontextprotocol.registry/publisher-provided"
_MAX_TEXT = 100
# Documents of 2025 before the names were changed.
_RENAMED = {
    "registry_type": "registryType",
    "registry_name": "registryType",
    "registry_base_url": "registryBaseUrl",
    "file_sha256": "fileSha256",
    "runtime_hint": "runtimeHint",
    "runtime_arguments": "runtimeArguments",
    "package_arguments": "packageArguments",
    "environment_variables": "environmentVariables",
    "is_required": "isRequired",
    "is_secret": "isSecret",
    "is_repeated": "isRepeated",
    "value_hint": "valueHint",
}
_MAX_DEPTH = 12


def published(
    entry: Entry, *, name: str, description: str, document: JsonObject, created_at: datetime
) -> dict[str, Any]:
    """Return the entry as the API answers it.

    Fields of the document that a `server.json` does not have, and parts that have not its form, are left out, and the
    others stay. Values of what is secret are left out always: who reads the list is not who runs the server.
    """
    # Loaded by the first who asks: making them takes 10 ms, which every start of the catalogue would wait for.
    from skillroute.registry.published.shapes import HttpTransport, Icon, Package, Repository  # noqa: PLC0415

    inner = document.get("server")
    fields = inner if isinstance(inner, dict) and "name" not in document else document
    server: dict[str, Any] = {
        "$schema": SCHEMA,
        "name": entry.name,
        "title": _cut(name),
        "description": _cut(" ".join(description.split())) or _cut(name),
        "version": entry.version,
    }
    website = fields.get("websiteUrl", fields.get("website_url"))
    if isinstance(website, str) and website.startswith(("https://", "http://")):
        server["websiteUrl"] = website
    if repository := _shaped(Repository, _renamed(fields.get("repository"), _MAX_DEPTH)):
        server["repository"] = repository
    for key, shape in (("packages", Package), ("remotes", HttpTransport), ("icons", Icon)):
        given = fields.get(key)
        parts = [_today(key, each) for each in given] if isinstance(given, list) else []
        if kept := [part for part in (_shaped(shape, part) for part in parts) if part]:
            server[key] = kept
    meta = fields.get("_meta")
    if isinstance(meta, dict) and isinstance(meta.get(_PUBLISHER), dict):
        server["_meta"] = {_PUBLISHER: meta[_PUBLISHER]}
    official = {
        "status": "active" if entry.is_enabled else "deleted",
        "publishedAt": _time(created_at),
        "updatedAt": _time(entry.updated_at),
        "isLatest": entry.is_latest,
    }
    return {"server": server, "_meta": {OFFICIAL: official}}


def _today(key: str, part: Any) -> Any:
    """Return a package or a remote in today's form, without the values of secrets."""
    part = _renamed(part, _MAX_DEPTH)
    if not isinstance(part, dict):
        return part
    if key == "remotes" and "type" not in part and "transport_type" in part:
        part["type"] = part.pop("transport_type")
    if key == "remotes" and part.get("type") == "streamable":
        part["type"] = "streamable-http"
    if key == "packages":
        if "identifier" not in part and "name" in part:
            part["identifier"] = part.pop("name")
        part.setdefault("transport", {"type": "stdio"})
        if part.get("version") in ("", "latest"):
            del part["version"]
    return part


def _renamed(value: Any, depth: int) -> Any:
    if depth == 0:
        return None
    if isinstance(value, list):
        return [_renamed(each, depth - 1) for each in value]
    if not isinstance(value, dict):
        return value
    # Null is what many write for a field that is absent; the schema has no field that takes it.
    named = {_RENAMED.get(key, key): _renamed(each, depth - 1) for key, each in value.items() if each is not None}
    # Both spellings may be there, and the later one has replaced the other.
    if any(value.get(key) is True for key in ("isSecret", "is_secret")):
        named = {key: each for key, each in named.items() if key not in {"value", "default"}}
    return named


def _shaped(shape: type[BaseModel], value: Any) -> dict[str, Any] | None:
    """Return the fields of a value that a shape has; None where it has not the shape."""
    try:
        return shape.model_validate(value).model_dump(by_alias=True, exclude_unset=True)
    except ValidationError:
        return None


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1].rstrip()}…"


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
