"""Where a tool is called: the address of its registered server, or the operation that it was imported from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from skillroute.calling.model import Endpoint, Operation
from skillroute.catalogue.model import Item
from skillroute.core.caller import Caller
from skillroute.core.outbound.credentials import ServerRef
from skillroute.core.postgres.database import Database

_HTTP = ("streamable-http", "http", "streamableHttp", "streamable_http")


class NotCallable(Exception):
    """A tool that cannot be called from here; `str(error)` says why, and what would make it callable."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a tool is called, and as which server: that one's credentials are sent, and those of no other."""

    at: Endpoint | Operation
    server: ServerRef | None


class CallableServers:
    """Finds where a tool is called."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def target(self, item: Item, caller: Caller) -> Target:
        """Return where an item that the caller sees is called. Raises `NotCallable` and `DatabaseUnavailable`."""
        name = item.content.key.server
        operation = _operation(item.content.metadata)
        found = self._server(item, caller) if name else None
        if found is not None and not found[2]:
            raise NotCallable(f"the server {name!r} is switched off")
        if operation is not None:
            return Target(operation, _registered_above(found, operation))
        if not name:
            raise NotCallable("it names no server that it could be called on")
        if found is None:
            raise NotCallable(
                f"no server {name!r} is registered that it could be called on: register it with its address "
                "(remotes) by `skillroute import` or PUT /api/v1/servers"
            )
        ref, document, _ = found
        endpoint = endpoint_of(document)
        if endpoint is None:
            raise NotCallable(
                f"the server {name!r} has no address here: its `remotes` name no URL of streamable HTTP or SSE: "
                "PUT /api/v1/servers writes them. Servers that are started on a person's own machine are called by "
                "`skillroute connect`"
            )
        return Target(endpoint, ServerRef(ref.id, ref.org_id, ref.name, endpoint.url))

    def _server(self, item: Item, caller: Caller) -> tuple[ServerRef, Mapping[str, Any], bool] | None:
        rows = self._database.read(
            lambda session: session.run(
                "server_of_item",
                org_id=caller.org_id,
                item_org_id=item.org_id,
                server=item.content.key.server,
            )
        )
        if not rows:
            return None
        id_, org_id, name, document, is_enabled = rows[0]
        return ServerRef(id_, org_id, name, ""), document, is_enabled


def _document_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = document.get("server")
    return inner if isinstance(inner, dict) and "remotes" not in document else document


def _remotes(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return type and URL of what a `server.json` has under `remotes`."""
    remotes = _document_of(document).get("remotes")
    found = [remote for remote in remotes if isinstance(remote, dict)] if isinstance(remotes, list) else []
    pairs = [(remote.get("type", remote.get("transport_type")), remote.get("url")) for remote in found]
    return [(str(type_ or _HTTP[0]), url) for type_, url in pairs if isinstance(url, str) and url]


def endpoint_of(document: Mapping[str, Any]) -> Endpoint | None:
    """Return where a server is reached, by streamable HTTP where it has both; addresses to be filled in are none."""
    remotes = [(type_, url) for type_, url in _remotes(document) if "{" not in url]
    http = next((url for type_, url in remotes if type_ in _HTTP), None)
    if http is not None:
        return Endpoint(http, "streamable-http")
    sse = next((url for type_, url in remotes if type_ == "sse"), None)
    return None if sse is None else Endpoint(sse, "sse")


def _operation(metadata: Mapping[str, Any]) -> Operation | None:
    """Return the operation that `skillroute import` wrote to a tool. Raises `NotCallable` where its address lacks."""
    call = metadata.get("http")
    if not isinstance(call, dict):
        return None
    method, url, path, arguments = (call.get(name) for name in ("method", "url", "path", "arguments"))
    if not isinstance(url, str) or not url:
        raise NotCallable("its document names no address of the interface: import it with a server's URL")
    if "{" in url:
        raise NotCallable("the address of its interface has variables: import it with the values filled in")
    if not isinstance(method, str) or not isinstance(path, str):
        raise NotCallable("its operation lacks method or path: import it again")
    places = arguments if isinstance(arguments, dict) else {}
    return Operation(method, url, path, {name: place for name, place in places.items() if isinstance(place, dict)})


def _registered_above(
    found: tuple[ServerRef, Mapping[str, Any], bool] | None, operation: Operation
) -> ServerRef | None:
    """Return the server of an operation whose registered address is the operation's, or one that it lies below.

    Who writes tools chooses their address; a server's credentials go to the address alone that it is registered with:
    on the same host may be servers of others.
    """
    if found is None:
        return None
    ref, document, _ = found
    above = next((remote for _, remote in _remotes(document) if _lies_below(operation, remote)), None)
    return None if above is None else ServerRef(ref.id, ref.org_id, ref.name, above)


def _lies_below(operation: Operation, remote: str) -> bool:
    origin = _origin(remote)
    if not origin[1] or origin != _origin(operation.url):
        return False
    path = urlsplit(operation.url).path
    # A path that leads upwards ends elsewhere than it begins.
    segments = re.split(r"[/\\]", unquote(f"{path}/{operation.path}"))
    directory = urlsplit(remote).path.rstrip("/") + "/"
    return not {".", ".."} & set(segments) and f"{path.rstrip('/')}/".startswith(directory)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", None, None
    return parts.scheme, parts.hostname, port
