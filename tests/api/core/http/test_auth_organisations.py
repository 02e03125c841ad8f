"""What an organisation's token sees and may change, on every route: global items and its own, and nobody else's.

Decision 26.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.routes import BODIES, Ids, Route, fill, filled, routes_of, stored
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system

BODIES_OF_LISTS: dict[Route, Any] = {
    ("POST", "/api/v1/search"): {"query": "water", "strategy": "direct", "limit": 50, "mode": "lexical"},
    ("POST", "/api/v1/search/batch"): {
        "searches": [{"query": "water", "strategy": "direct", "limit": 50, "mode": "lexical"}]
    },
    ("POST", "/api/v1/search/registry"): {"query": "water", "max_results": 50},
    ("POST", "/api/v1/search/agent-skills"): {"query": "water", "limit": 50},
    ("POST", "/api/v1/search/messages"): {"text": "water", "limit": 50},
}
"""What makes the searches answer with all that the caller may see."""
NOBODYS = dict.fromkeys(
    (
        "item",
        "suggestion",
        "server",
        "agent",
        "agent_skill",
        "project",
        "product",
        "mail_agent",
        "message",
        "state",
        "rule",
    ),
    2**40,
) | {"skill": "nobodys", "server_name": "local.skillroute/nobodys", "version": "latest"}


NO_LISTS = {"/health", "/ready", "/api/v1/verify", "/api/v1/export", "/api/v1/learning"}
NO_LISTS |= {"/api/v1/logins", "/api/v1/trust/changed", "/api/v1/trace", "/api/v1/access/rules"}
# (logins are of one person alone: tests/integration/identity/test_logins.py)
OF_ONES_OWN = {("POST", "/api/v1/servers/{server_id}/login"): 409, ("DELETE", "/api/v1/logins/{server_id}"): 404}
"""Of a global server each person has a login of their own: logins are off here (409), so there is none (404)."""


@pytest.fixture
def system(database_url: str, edge_indexes: Any) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system:
        system.chat.reply = {"description": "Watering the plants of a garden."}
        yield system


@pytest.fixture
def app(system: System) -> FastAPI:
    return app_over(system)


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def ids_of(system: System) -> dict[str | None, Ids]:
    """One of everything, of nobody (global) and of two organisations."""
    return {org: fill(system, org, f"_{org or 'global'}") for org in (None, "acme", "globex")}


def ask(client: TestClient, route: Route, org: str | None, ids: Ids, body: Any = None) -> Any:
    token = OURS.sign(claims("admin", org))
    return client.request(route[0], filled(route[1], **ids), headers=bearer(token), json=body or BODIES.get(route))


def reason(answer: Any, ids: Ids) -> str:
    """Return what an answer says, with nothing of the id that was asked for."""
    said = str(answer.json()["detail"])
    for id_ in ids.values():
        said = said.replace(f" {id_}", " ?")
    return said


def with_ids(app: FastAPI) -> list[Route]:
    routes = [(method, path) for method, path in routes_of(app) if "{" in path]
    assert len(routes) >= 12
    return routes


@pytest.mark.parametrize("org", ["acme", None], ids=str)
def test_anothers_ids_are_404_on_every_route_and_nothing_changes(
    system: System, app: FastAPI, client: TestClient, ids_of: dict[str | None, Ids], org: str | None
) -> None:
    before = stored(system)
    for route in with_ids(app):
        if route == ("PUT", "/api/v1/skills/{skill_id}"):
            continue  # it creates a skill of one's own, whoever else has the id
        refused = ask(client, route, org, ids_of["globex"])
        assert (route, refused.status_code) == (route, 404)
        # Not even that it is there can be told from the answer.
        assert reason(refused, ids_of["globex"]) == reason(ask(client, route, org, NOBODYS), NOBODYS)
    assert stored(system) == before
    assert system.chat.asked == []


def test_a_skill_is_put_as_ones_own_whoever_else_has_its_id(
    system: System, client: TestClient, ids_of: dict[str | None, Ids]
) -> None:
    route = ("PUT", "/api/v1/skills/{skill_id}")
    theirs = ask(client, ("GET", route[1]), "globex", ids_of["globex"]).json()
    answers = [ask(client, route, "acme", ids) for ids in (ids_of["globex"], NOBODYS)]
    assert [(each.status_code, each.json()["org_id"]) for each in answers] == [(201, "acme")] * 2
    assert ask(client, ("GET", route[1]), "globex", ids_of["globex"]).json() == theirs


def test_anothers_ids_in_bodies_are_refused_and_nothing_changes(
    system: System, client: TestClient, ids_of: dict[str | None, Ids]
) -> None:
    own, theirs = ids_of["acme"], ids_of["globex"]
    before = stored(system)
    classified = ask(client, ("POST", "/api/v1/skills/classify"), "acme", own, {"tool_id": theirs["item"]})
    assigned = ask(
        client, ("PUT", "/api/v1/tools/{item_id}/skills"), "acme", own, {"skills": [{"skill_id": theirs["skill"]}]}
    )
    merge = ("POST", "/api/v1/skills/suggestions/{suggestion_id}/merge")
    merged = ask(client, merge, "acme", own, {"skill_id": theirs["skill"]})
    unknown = ask(client, merge, "acme", own, {"skill_id": "nobodys"})
    assert classified.status_code == 404
    assert assigned.status_code in {404, 409, 422}
    assert (merged.status_code, unknown.status_code) == (404, 404)
    assert stored(system) == before


def test_what_is_global_is_read_and_not_changed(
    system: System, app: FastAPI, client: TestClient, ids_of: dict[str | None, Ids]
) -> None:
    before = stored(system)
    for route in with_ids(app):
        answer = ask(client, route, "acme", ids_of[None])
        # Of a global tool an organisation forgets what it has learned itself.
        is_allowed = route[0] == "GET" or route == ("DELETE", "/api/v1/learning/tools/{item_id}")
        # What is global was learned of requests that no member asked.
        is_hidden = "{state_id}" in route[1]
        usual = 404 if is_hidden else 200 if is_allowed else 403
        assert (route, answer.status_code) == (route, OF_ONES_OWN.get(route, usual))
        assert "www-authenticate" not in answer.headers  # no other token of the organisation would do
    assert stored(system) == before


def test_its_own_an_organisation_reads_and_changes(
    app: FastAPI, client: TestClient, ids_of: dict[str | None, Ids]
) -> None:
    for route in with_ids(app):
        body = {"skill_id": ids_of["acme"]["skill"]} if route[1].endswith("/merge") else None
        answer = ask(client, route, "acme", ids_of["acme"], body)
        # A suggestion is decided on once.
        assert answer.status_code in {200, 201, 204, 409}, (route, answer.text)


@pytest.mark.parametrize("org", ["acme", "initech", None], ids=str)
def test_every_list_and_search_shows_what_is_global_and_the_callers_own(
    client: TestClient, app: FastAPI, ids_of: dict[str | None, Ids], org: str | None
) -> None:
    visible = {each or "global" for each in (None, org) if each in ids_of}

    def seen(method: str, path: str, within: str, pick: str) -> set[str]:
        query = "&query=water" if path.startswith("/api/v1/search/") else ""
        paged = method == "GET" and path != "/api/v1/access/rules"
        route = (method, f"{path}?limit=50{query}" if paged else path)
        body = BODIES_OF_LISTS.get((method, path))
        answer = client.request(*route, headers=bearer(OURS.sign(claims("admin", org))), json=body)
        assert answer.status_code == 200, answer.text
        rows = answer.json()[within] if within else answer.json()
        if "x-total-count" in answer.headers:
            assert int(answer.headers["x-total-count"]) == len(rows)
        return {(row if pick in row else row["server"])[pick].rpartition("_")[2] for row in rows}

    lists = {
        ("GET", "/api/v1/access/rules", ""): "name",
        ("GET", "/api/v1/tools", ""): "name",
        ("GET", "/api/v1/skills", ""): "id",
        ("GET", "/api/v1/skills/suggestions", ""): "suggested_name",
        ("GET", "/api/v1/skills/suggestions/groups", ""): "name",
        ("GET", "/api/v1/servers", ""): "name",
        ("GET", "/api/v1/agents", ""): "name",
        ("GET", "/v0.1/servers", "servers"): "name",
        ("POST", "/api/v1/search", "tools"): "name",
        ("GET", "/api/v1/search/tools", ""): "name",
        ("GET", "/api/v1/search/skills", ""): "id",
        ("POST", "/api/v1/search/registry", "servers"): "server_name",
        ("POST", "/api/v1/search/registry", "tools"): "tool_name",
        ("POST", "/api/v1/search/registry", "agents"): "agent_name",
        ("GET", "/api/v1/agent-skills", ""): "description",
        ("POST", "/api/v1/search/agent-skills", "agent_skills"): "description",
        ("GET", "/api/v1/mail/projects", ""): "key",
        ("GET", "/api/v1/mail/products", ""): "key",
        ("GET", "/api/v1/mail/agents", ""): "description",
        ("GET", "/api/v1/mail/messages", ""): "key",
        ("POST", "/api/v1/search/messages", "results"): "key",
        ("GET", "/api/v1/learning/unserved", ""): "query",
        ("GET", "/api/v1/learning/judged", ""): "query",
        ("GET", "/api/v1/learning/receipts", ""): "query",
    }
    own = {org or "global"} & visible
    for (method, path, within), pick in lists.items():
        expected = own if "/learning/" in path else visible  # use is of those who asked, never of all
        assert (path, within, seen(method, path, within, pick)) == (path, within, expected)
    answering_lists = {
        (method, path)
        for method, path in routes_of(app)
        if method == "GET" and "{" not in path and path not in NO_LISTS
    }
    assert answering_lists <= {(method, path) for method, path, _ in lists}


@pytest.mark.parametrize("org", ["acme", "initech", None], ids=str)
def test_an_export_has_the_callers_own_alone(
    client: TestClient, ids_of: dict[str | None, Ids], org: str | None
) -> None:
    answer = client.get("/api/v1/export", headers=bearer(OURS.sign(claims("admin", org))))
    *lines, end = (json.loads(line) for line in answer.text.splitlines())
    tools = {line["name"].rpartition("_")[2] for line in lines if line["kind"] == "tool"}
    assert (tools, end["changed"]) == ({org or "global"} if org in ids_of else set(), [])
    others = {each or "global" for each in ids_of} - tools
    assert not [other for other in others for line in lines if f"_{other}" in json.dumps(line)]


def test_a_global_skill_shows_each_its_own_tools(
    system: System, client: TestClient, ids_of: dict[str | None, Ids]
) -> None:
    shared = ids_of[None]["skill"]
    for org in ("acme", "globex"):
        route = ("PUT", "/api/v1/tools/{item_id}/skills")
        assert ask(client, route, org, ids_of[org], {"skills": [{"skill_id": shared}]}).status_code == 200

    def tools(org: str | None) -> tuple[set[str], str]:
        answer = ask(client, ("GET", "/api/v1/skills/{skill_id}/tools"), org, ids_of[None])
        return {each["tool_name"] for each in answer.json()}, answer.headers["x-total-count"]

    assert tools("acme") == ({"water_plants_global", "water_plants_acme"}, "2")
    assert tools("initech") == tools(None) == ({"water_plants_global"}, "1")
    filtered = client.get(
        "/api/v1/tools", params={"skill_id": shared}, headers=bearer(OURS.sign(claims("search", "acme")))
    )
    assert {each["name"] for each in filtered.json()} == {"water_plants_global", "water_plants_acme"}


@pytest.mark.parametrize("named", ["globex", None, ""])
def test_an_organisation_named_in_a_body_counts_for_nothing(
    system: System, client: TestClient, ids_of: dict[str | None, Ids], named: str | None
) -> None:
    own, saying = ids_of["acme"], {"org_id": named}
    item = {"name": "written", "description": "Written by acme."} | saying
    written = ask(client, ("PUT", "/api/v1/tools"), "acme", own, {"items": [item]})
    assert written.json()["created"] == 1
    assert system.rows("SELECT org_id FROM mcp.tools WHERE name = 'written'") == [["acme"]]
    for kind in ("server", "agent"):
        ask(client, ("PUT", f"/api/v1/{kind}s"), "acme", own, {f"{kind}s": [{"name": "written"} | saying]})
    assert system.rows("SELECT org_id FROM mcp.registry_entities WHERE name = 'written'") == [["acme"], ["acme"]]

    before = stored(system)
    for kind in ("project", "product", "agent", "message"):
        route = ("PUT", f"/api/v1/mail/{kind}s")
        [thing] = BODIES[route][f"{kind}s"]
        [refused] = ask(client, route, "acme", own, {f"{kind}s": [thing | {"id": 1} | saying]}).json()["results"]
        assert (refused["status"], refused["error"]["field"]) == ("failed", "org_id"), route
    skill = "/api/v1/skills/{skill_id}"
    registry = ("POST", "/api/v1/search/registry")
    messages = ("POST", "/api/v1/search/messages")
    acknowledge = ("POST", "/api/v1/mail/messages/{message_id}/acknowledge")
    tools = [("POST", f"/api/v1/tools/search_messages{suffix}") for suffix in ("", "_product")]
    for route in (
        ("POST", "/api/v1/skills"),
        ("PUT", skill),
        ("PATCH", skill),
        registry,
        messages,
        acknowledge,
        *tools,
    ):
        assert ask(client, route, "acme", own, BODIES[route] | saying).status_code == 422, route
    search = ask(client, ("POST", "/api/v1/search"), "acme", own, {"query": "water", "strategy": "direct"} | saying)
    assert "globex" not in search.text
    assert stored(system) == before


def test_the_check_of_everything_is_for_who_belongs_to_no_organisation(client: TestClient) -> None:
    refused = ask(client, ("GET", "/api/v1/verify"), "acme", {})
    assert (refused.status_code, "www-authenticate" in refused.headers) == (403, False)
    assert ask(client, ("GET", "/api/v1/verify"), None, {}).status_code == 200


def test_where_an_organisation_is_required_every_route_refuses_tokens_of_none(
    database_url: str, edge_indexes: Any
) -> None:
    # GIVEN a claim whose name is misspelt in the settings: without the demand, its callers would be global ones
    with lent_system(
        database_url,
        edge_indexes,
        embedder=HashingEmbedder(),
        **{**JWT, "jwt_require_org": True},
        jwt_keys=KEYS,
        jwt_org_claim="org-id",
    ) as system:
        before = stored(system)
        app = app_over(system)
        client = TestClient(app)
        for route in routes_of(app):
            refused = ask(client, route, "acme", {})
            assert (route, refused.status_code) == (route, 401)
            assert refused.json()["detail"] == "the token lacks the claim 'org-id'"
            challenge, _, metadata = refused.headers["www-authenticate"].partition(", ")
            assert challenge == 'Bearer error="invalid_token"'
            assert metadata.startswith("resource_metadata=") is (route[1] == "/mcp")
        assert stored(system) == before
        good = client.get("/api/v1/tools", headers=bearer(OURS.sign(claims("search", **{"org-id": "acme"}))))
        assert good.status_code == 200


def test_the_subject_is_written_down_with_its_decision(
    system: System, client: TestClient, ids_of: dict[str | None, Ids]
) -> None:
    rejected = ask(client, ("POST", "/api/v1/skills/suggestions/{suggestion_id}/reject"), "acme", ids_of["acme"])
    assert rejected.json()["reviewed_by"] == "ann"
