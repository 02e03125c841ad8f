"""Requests of the Model Context Protocol, of each revision, and what the specification's own models say of answers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from fastapi.testclient import TestClient
from mcp_types import methods

STATELESS = "2026-07-28"
HANDSHAKE = ("2025-03-26", "2025-06-18", "2025-11-25")
REVISIONS = (*HANDSHAKE, STATELESS)

META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
}
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_ids = itertools.count(1)


def request(method: str, params: Mapping[str, Any] | None = None, revision: str = STATELESS) -> dict[str, Any]:
    """Return the body of a request."""
    given = dict(params or {}) | ({"_meta": META} if revision == STATELESS else {})
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, **({"params": given} if given else {})}


def headers(body: Mapping[str, Any], revision: str = STATELESS) -> dict[str, str]:
    """Return the headers that a client of a revision sends with a body."""
    sent = {"accept": "application/json, text/event-stream"}
    if body["method"] == "initialize":
        return sent
    if revision == STATELESS:
        sent["mcp-method"] = body["method"]
        name = body.get("params", {}).get(_NAMED_BY.get(body["method"], ""))
        sent |= {} if name is None else {"mcp-name": name}
    return sent | {"mcp-protocol-version": revision}


def ask(
    client: TestClient, method: str, params: Mapping[str, Any] | None = None, revision: str = STATELESS, **more: str
) -> Any:
    """Send a request, and return the response; `more` are headers."""
    body = request(method, params, revision)
    response = client.post("/mcp", json=body, headers=headers(body, revision) | more)
    assert response.headers["content-type"] == "application/json"
    assert response.json()["id"] == body["id"]
    return response


def result(client: TestClient, method: str, params: Any = None, revision: str = STATELESS, **more: str) -> Any:
    """Return the result of a request that succeeds, which the specification's model of the revision accepts."""
    response = ask(client, method, params, revision, **more)
    assert response.status_code == 200, response.text
    found = response.json()["result"]
    methods.validate_client_request(method, revision, request(method, params, revision).get("params"))
    methods.validate_server_result(method, revision, found)
    return found


def call(client: TestClient, tool: str, arguments: Any = None, revision: str = STATELESS, **more: str) -> Any:
    """Return the result of calling a tool."""
    return result(client, "tools/call", {"name": tool, "arguments": arguments or {}}, revision, **more)


def error(response: Any) -> tuple[int, int]:
    """Return the HTTP status and the code of an error, as the specification has it."""
    answer = response.json()
    assert answer["jsonrpc"] == "2.0"
    assert set(answer) == {"jsonrpc", "id", "error"}
    assert answer["error"]["message"]
    return response.status_code, answer["error"]["code"]
