"""Over HTTP through `sam local start-api`, by the template's routes; the functions check tokens, nobody else does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.api.core.http.test_no_such_route import UNKNOWN, methods_of
from tests.api.routes import SCOPES, filled
from tests.api.tokens import AUDIENCE, ISSUER, Signer, claims, key_set
from tests.sam.world import World

Make = Callable[..., AbstractContextManager[World]]

TOOL = {
    "type": "tool",
    "server": "garden",
    "name": "water_plants",
    "description": "Open the valves of the garden irrigation for some minutes.",
    "inputSchema": {"type": "object", "properties": {"minutes": {"type": "integer"}}},
}
SKILL = {
    "id": "gardening",
    "name": "Gardening",
    "description": "Look after a garden: watering, irrigation, plants, soil and seasons.",
}
QUERY = {"query": "open the valves of the irrigation in the garden", "strategy": "direct"}


class Api:
    """Requests with tokens of an issuer whose keys the functions know."""

    def __init__(self, url: str, signer: Signer) -> None:
        # The first request to a function starts its container.
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=120.0, trust_env=False)
        self._signer = signer

    def token(self, scope: str | None = "search", org: str | None = None, **others: Any) -> str:
        return self._signer.sign(claims(scope, org, **others))

    def ask(self, method: str, path: str, token: str | None, **request: Any) -> httpx.Response:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        return self._http.request(method, path, headers=headers, **request)

    def answered(self, status: int, method: str, path: str, token: str | None, **request: Any) -> Any:
        """Return the JSON of an answer that must have this status."""
        response = self.ask(method, path, token, **request)
        assert response.status_code == status, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def close(self) -> None:
        self._http.close()


@pytest.fixture(scope="module")
def api(make_world: Make) -> Iterator[Api]:
    signer = Signer("sam")
    parameters = ("AuthMode=jwt", f"JwtIssuer={ISSUER}", f"JwtAudience={AUDIENCE}")
    with (
        make_world(*parameters, SKILLROUTE_JWT_KEYS=key_set(signer.public())) as world,
        world.sam.serving("start-api") as url,
    ):
        api = Api(url, signer)
        yield api
        api.close()


def test_a_session_of_searches_and_changes(api: Api, say: Callable[[str], None]) -> None:
    search, catalog, skills = (api.token(scope, "acme") for scope in ("search", "catalog", "skills"))

    say("what is written is found by the next search, in another container")
    report = api.answered(200, "PUT", "/api/v1/tools", catalog, json={"items": [TOOL]})
    tool_id = report["results"][0]["id"]
    found = api.answered(200, "POST", "/api/v1/search", search, json=QUERY)
    assert [tool["name"] for tool in found["tools"]] == ["water_plants"]
    assert found["tools"][0]["input_schema"] == TOOL["inputSchema"]
    assert found["metadata"]["search_mode"] == "hybrid"

    say("another organisation neither finds nor sees nor changes it")
    others, other_catalog = api.token("search", "globex"), api.token("catalog", "globex")
    assert api.answered(200, "POST", "/api/v1/search", others, json=QUERY)["tools"] == []
    assert api.answered(200, "GET", "/api/v1/tools", others) == []
    api.answered(404, "GET", f"/api/v1/tools/{tool_id}", others)
    api.answered(404, "DELETE", f"/api/v1/tools/{tool_id}", other_catalog)

    say("a skill is made, changed, given the tool, and leads to it")
    api.answered(201, "POST", "/api/v1/skills", skills, json=SKILL)
    api.answered(409, "POST", "/api/v1/skills", skills, json=SKILL)
    changed = api.answered(200, "PATCH", "/api/v1/skills/gardening", skills, json={"keywords": ["garden"]})
    assert changed["keywords"] == ["garden"]
    given = {"skills": [{"skill_id": "gardening"}]}
    api.answered(200, "PUT", f"/api/v1/tools/{tool_id}/skills", skills, json=given)
    assert api.answered(200, "GET", "/api/v1/skills/gardening", search)["tool_count"] == 1
    [tool] = api.answered(200, "POST", "/api/v1/search", search, json=QUERY)["tools"]
    assert tool["skill_ids"] == ["gardening"]

    say("what is deleted is gone")
    api.answered(204, "DELETE", f"/api/v1/tools/{tool_id}", catalog)
    api.answered(404, "GET", f"/api/v1/tools/{tool_id}", search)
    assert api.answered(200, "POST", "/api/v1/search", search, json=QUERY)["tools"] == []
    api.answered(204, "DELETE", "/api/v1/skills/gardening", skills)


def test_the_official_client_speaks_with_the_container(api: Api, say: Callable[[str], None]) -> None:
    report = api.answered(200, "PUT", "/api/v1/tools", api.token("catalog", "soylent"), json={"items": [TOOL]})
    tool_id, sent = report["results"][0]["id"], {"authorization": f"Bearer {api.token('search', 'soylent')}"}

    async def session(mode: str) -> tuple[str | None, list[str], Any, Any]:
        async with (
            httpx2.AsyncClient(headers=sent, timeout=120.0, trust_env=False) as http,
            Client(streamable_http_client(f"{api.url}/mcp", http_client=http), mode=mode) as client,
        ):
            listed = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("search_tools", {"query": QUERY["query"], "budget_tokens": 400})
            details = await client.call_tool("get_tool_details", {"ids": [tool_id]})
            return client.protocol_version, listed, found.structured_content, details.structured_content

    for mode, revision in (("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")):
        say(f"a session in {revision}")
        spoken, listed, found, details = asyncio.run(session(mode))
        assert spoken == revision
        assert listed[0] == "search_tools"
        assert [tool["name"] for tool in found["tools"]] == ["water_plants"]
        assert details["tools"][0]["input_schema"] == TOOL["inputSchema"]

    say("who has no token is told who issues them, and nothing else")
    api.answered(401, "POST", "/mcp", None, json={})
    for path in ("", "/mcp"):
        metadata = api.answered(200, "GET", f"/.well-known/oauth-protected-resource{path}", None)
        assert metadata["authorization_servers"] == [ISSUER]


def test_who_has_no_good_token_is_refused_by_every_function(api: Api, say: Callable[[str], None]) -> None:
    requests: dict[str, tuple[str, str, Any]] = {
        "search": ("POST", "/api/v1/search", QUERY),
        "catalog": ("PUT", "/api/v1/tools", {"items": [TOOL]}),
        "skills": ("POST", "/api/v1/skills", SKILL),
    }
    for scope, (method, path, body) in requests.items():
        say(f"{method} {path}")
        now = int(time.time())
        strangers = Signer("stranger")
        bad = {
            "none": None,
            "expired": api.token(scope, "initech", iat=now - 7200, nbf=now - 7200, exp=now - 3600),
            "another audience": api.token(scope, "initech", aud="https://elsewhere.test"),
            "another issuer": api.token(scope, "initech", iss="https://elsewhere.test"),
            "another's key": strangers.sign(claims(scope, "initech")),
            "of no organisation": api.token(scope),
        }
        for what, token in bad.items():
            response = api.ask(method, path, token, json=body)
            assert response.status_code == 401, f"{what}: {response.status_code} {response.text}"
            assert response.headers["www-authenticate"].startswith("Bearer"), what
        lacking = api.ask(method, path, api.token("profile", "initech"), json=body)
        assert lacking.status_code == 403, lacking.text
        assert api.ask(method, path, api.token(scope, "initech"), json=body).status_code < 300


def test_greedy_routes_lead_each_path_to_the_function_that_has_it(api: Api, say: Callable[[str], None]) -> None:
    """Of a path that it has a function says 405 to a method that it lacks, of another one 404."""
    everything = api.token("admin", "umbrella")
    # Of /skills/classify, which is a skill's path as well, only methods are missing that Flask answers itself.
    for path in sorted({path for _, path in SCOPES if path.startswith("/api/")} - {"/api/v1/skills/classify"}):
        asked = filled(path).partition("?")[0]
        method = next((each for each in ("PATCH", "DELETE", "PUT", "POST") if each not in methods_of(path)), None)
        if method is None:
            continue  # it takes all of them, or one beside it does
        say(f"{method} {asked}")
        api.answered(401, method, asked, None)
        assert set(api.answered(405, method, asked, everything)) == {"detail", "code", "request_id"}
    for path in (each for each in UNKNOWN if each.startswith("/api/v1/")):
        say(path)
        api.answered(401, "POST", path, None)
        assert set(api.answered(404, "POST", path, everything)) == {"detail", "code", "request_id"}
    for path in ("/health", "/ready"):
        api.answered(401, "GET", path, None)
        api.answered(200, "GET", path, everything)
