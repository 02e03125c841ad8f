"""Servers and agents over HTTP: writing, listing, reading, enabling, disabling and deleting."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System, of_org

TOOL = {"name": "query-docs", "description": "Query the docs.", "inputSchema": {"type": "object", "b": 1, "a": 2}}
SERVER = {"path": "/c7", "name": "io.test/context7", "title": "Context7", "version": "1", "tags": ["Docs"]}
CARD = {
    "name": "Planner",
    "description": "Plans.",
    "url": "https://agents.test/planner",
    "capabilities": {"streaming": True, "pushNotifications": False},
    "skills": [{"id": "plan", "name": "Plan", "description": "Plans it.", "tags": ["x"], "examples": ["y"]}],
}
KINDS = pytest.mark.parametrize("kind", ["servers", "agents"])


def put(client: TestClient, kind: str, *entities: Any) -> dict[str, Any]:
    response = client.put(f"/api/v1/{kind}", json={kind: list(entities)})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def listed(client: TestClient, kind: str, **where: Any) -> list[str]:
    response = client.get(f"/api/v1/{kind}", params=where)
    assert response.status_code == 200, response.text
    return [each["path"] for each in response.json()]


# PUT


def test_a_server_s_result_says_what_became_of_it_and_of_its_tools(client: TestClient) -> None:
    answer = put(client, "servers", {**SERVER, "tools": [TOOL]}, {**SERVER, "path": "/other"})
    assert {key: answer[key] for key in ("created", "updated", "unchanged", "failed", "degraded")} == {
        "created": 2, "updated": 0, "unchanged": 0, "failed": 0, "degraded": [],
    }  # fmt: skip
    assert answer["results"][0] == {
        "index": 0,
        "status": "created",
        "id": 1,
        "path": "/c7",
        "name": "Context7",
        "tools": {"created": 1, "updated": 0, "unchanged": 0, "removed": 0, "refused": 0},
        "error": None,
        "errors": [],
        "warnings": [],
        "refusal": None,
    }
    assert answer["results"][1]["tools"] is None
    again = put(client, "servers", {**SERVER, "tools": []})
    assert (again["updated"], again["results"][0]["tools"]["removed"]) == (1, 1)


def test_an_agent_s_result_says_what_became_of_it(client: TestClient) -> None:
    assert put(client, "agents", CARD)["results"] == [
        {
            "index": 0,
            "status": "created",
            "id": 1,
            "path": "/planner",
            "name": "Planner",
            "error": None,
            "errors": [],
            "warnings": [],
            "refusal": None,
        }
    ]
    assert put(client, "agents", CARD)["unchanged"] == 1


@KINDS
def test_one_that_is_wrong_never_spoils_the_others(client: TestClient, kind: str) -> None:
    answer = put(client, kind, {"name": "a"}, {"name": "b", "tags": ["x" * 65]}, None, {"name": "c"})
    assert [each["status"] for each in answer["results"]] == ["created", "failed", "failed", "created"]
    wrong, no_object = answer["results"][1]["error"], answer["results"][2]["error"]
    assert (wrong["field"], "64" in wrong["message"]) == ("tags.0", True)
    assert (no_object["field"], answer["failed"]) == (kind.removesuffix("s"), 2)
    assert listed(client, kind) == ["/a", "/c"]


def test_a_tool_that_is_wrong_is_named_by_its_place(client: TestClient) -> None:
    answer = put(
        client, "servers", {"name": "a", "tools": [TOOL, {"name": "b"}, {"name": "c", "type": 1}, {"name": ""}]}
    )
    assert answer["results"][0]["error"]["field"] == "tools.2.type"
    assert client.get("/api/v1/tools").json() == []


@KINDS
def test_they_come_in_an_object_or_as_a_bare_list(client: TestClient, kind: str) -> None:
    assert client.put(f"/api/v1/{kind}", json=[{"name": "a"}]).json()["created"] == 1
    for body in ({"items": []}, {kind: {}}, {kind: [], "more": 1}, 7, {}):
        assert client.put(f"/api/v1/{kind}", json=body).status_code == 422


@KINDS
def test_more_than_a_hundred_are_refused(client: TestClient, kind: str) -> None:
    assert client.put(f"/api/v1/{kind}", json=[{"name": f"n{n}"} for n in range(100)]).status_code == 200
    assert client.put(f"/api/v1/{kind}", json=[{"name": f"n{n}"} for n in range(101)]).status_code == 422


def test_what_a_registry_lists_can_be_pasted(client: TestClient) -> None:
    server = {"name": "io.test/weather", "description": "Forecasts.", "version": "1.0.0", "packages": []}
    page = {
        "servers": [{"server": server, "_meta": {"io.modelcontextprotocol.registry/official": {"status": "active"}}}],
        "metadata": {"count": 1, "nextCursor": "x"},
    }
    assert client.put("/api/v1/servers", json=page).json()["created"] == 1
    stored = client.get("/api/v1/servers/1").json()
    assert (stored["path"], stored["name"], stored["description"]) == (
        "/io.test/weather",
        "io.test/weather",
        "Forecasts.",
    )
    assert stored["server_json"] == page["servers"][0]


@KINDS
def test_without_the_model_the_answer_says_so(client: TestClient, system: System, kind: str) -> None:
    system.embedder.away = True
    assert put(client, kind, {"name": "a"})["degraded"] == ["embedding_unavailable"]
    assert client.get(f"/api/v1/{kind}/1").json()["is_embedded"] is False


# GET


def test_a_server_is_given_back_whole(client: TestClient) -> None:
    put(client, "servers", {**SERVER, "description": "Docs.", "is_enabled": True, "tools": [TOOL]})
    stored = client.get("/api/v1/servers/1").json()
    assert stored.pop("created_at").endswith("Z")
    assert stored.pop("updated_at").endswith("Z")
    assert stored == {
        "id": 1,
        "org_id": None,
        "path": "/c7",
        "name": "Context7",
        "description": "Docs.",
        "tags": ["Docs"],
        "is_enabled": True,
        "is_embedded": True,
        "tool_count": 1,
        "tools_server": "c7",
        "item_servers": ["c7"],
        "seen_outcome": None,
        "seen_at": None,
        "seen_error": None,
        "server_json": {**SERVER, "description": "Docs."},
    }
    [tool] = client.get("/api/v1/tools", params={"server": "c7"}).json()
    assert (tool["name"], list(tool["input_schema"])) == ("query-docs", ["type", "b", "a"])


def test_an_agent_is_given_back_whole(client: TestClient) -> None:
    put(client, "agents", CARD)
    stored = client.get("/api/v1/agents/1").json()
    assert (stored.pop("created_at")[-1], stored.pop("updated_at")[-1]) == ("Z", "Z")
    assert stored == {
        "id": 1,
        "org_id": None,
        "path": "/planner",
        "name": "Planner",
        "description": "Plans.",
        "tags": [],
        "is_enabled": True,
        "is_embedded": True,
        "capabilities": ["streaming"],
        "skills": [{"name": "Plan", "description": "Plans it."}],
        "agent_card": CARD,
    }


@KINDS
def test_a_list_pages_filters_and_says_the_total(client: TestClient, kind: str) -> None:
    put(
        client,
        kind,
        {"name": "b", "tags": ["Docs"]},
        {"name": "a", "tags": ["docs", "x"], "is_enabled": False},
        {"name": "c"},
    )
    assert listed(client, kind) == ["/a", "/b", "/c"]
    page = client.get(f"/api/v1/{kind}", params={"limit": 1, "offset": 1})
    assert ([each["path"] for each in page.json()], page.headers["X-Total-Count"]) == (["/b"], "3")
    assert listed(client, kind, tag="DOCS") == ["/a", "/b"]
    assert listed(client, kind, is_enabled="true") == ["/b", "/c"]
    assert listed(client, kind, is_enabled="false", tag="docs") == ["/a"]
    assert (
        listed(client, kind, path="/b") == listed(client, kind, path="b") == listed(client, kind, path="/b/") == ["/b"]
    )
    assert listed(client, kind, path="/none") == []
    for wrong in ({"is_enabled": "yes"}, {"limit": 0}, {"offset": -1}, {"path": "\x00"}, {"tag": "x" * 65}):
        assert client.get(f"/api/v1/{kind}", params=wrong).status_code == 422, wrong


# POST enable, disable; DELETE


@KINDS
def test_it_is_disabled_and_enabled_again(client: TestClient, kind: str) -> None:
    put(client, kind, {"name": "a"})
    for word, is_enabled in (("disable", False), ("disable", False), ("enable", True), ("enable", True)):
        response = client.post(f"/api/v1/{kind}/1/{word}")
        assert (response.status_code, response.json()["is_enabled"]) == (200, is_enabled)
        assert client.get(f"/api/v1/{kind}/1").json() == response.json()


def test_tools_of_a_disabled_server_are_listed_as_inactive_and_not_found(client: TestClient) -> None:
    """Decision 38."""
    put(client, "servers", {**SERVER, "tools": [TOOL]})
    query = {"query": "query the docs", "strategy": "direct", "tool_threshold": 0}
    for word, is_active, names in (("disable", False, []), ("enable", True, ["query-docs"])):
        assert client.post(f"/api/v1/servers/1/{word}").json()["tool_count"] == 1
        [tool] = client.get("/api/v1/tools").json()
        assert (tool["name"], tool["is_active"]) == ("query-docs", is_active)
        assert client.get(f"/api/v1/tools/{tool['id']}").json()["is_active"] is is_active
        assert [each["name"] for each in client.post("/api/v1/search", json=query).json()["tools"]] == names


def test_a_deleted_server_is_gone_and_so_are_its_tools(client: TestClient) -> None:
    put(client, "servers", {**SERVER, "tools": [TOOL]})
    assert client.delete("/api/v1/servers/1").status_code == 204
    assert (client.get("/api/v1/servers/1").status_code, listed(client, "servers")) == (404, [])
    assert client.get("/api/v1/tools").json() == []
    assert client.delete("/api/v1/servers/1").status_code == 404


@KINDS
@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("DELETE", ""), ("POST", "/enable"), ("POST", "/disable")])
def test_ids_are_checked_before_anything_is_looked_up(client: TestClient, kind: str, method: str, suffix: str) -> None:
    for wrong in ("0", "-1", "x", "1.5", str(2**63)):
        assert client.request(method, f"/api/v1/{kind}/{wrong}{suffix}").status_code == 422
    unknown = client.request(method, f"/api/v1/{kind}/999{suffix}")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, f"no {kind.removesuffix('s')} with id 999")


@KINDS
@pytest.mark.parametrize(("method", "suffix"), [("DELETE", ""), ("POST", "/enable"), ("POST", "/disable")])
def test_a_server_is_no_agent_and_an_agent_no_server(client: TestClient, kind: str, method: str, suffix: str) -> None:
    put(client, kind, {"name": "a"})
    other = {"servers": "agents", "agents": "servers"}[kind]
    assert client.request(method, f"/api/v1/{other}/1{suffix}").status_code == 404
    assert listed(client, kind, is_enabled="true") == ["/a"]


@KINDS
def test_the_organisation_comes_from_the_caller_never_from_the_body(
    client: TestClient, system: System, kind: str
) -> None:
    put(client, kind, {"name": "a", "org_id": "acme"})
    assert client.get(f"/api/v1/{kind}/1").json()["org_id"] is None
    single = kind.removesuffix("s")
    [outcome] = system.parts.registry.sync(single, [{"name": "b"}], of_org("acme")).outcomes  # type: ignore[arg-type]
    assert outcome.id is not None
    assert client.get(f"/api/v1/{kind}/{outcome.id}").status_code == 404


def test_tools_of_a_server_are_found_by_tool_search_at_once(client: TestClient) -> None:
    put(client, "servers", {**SERVER, "tools": [TOOL, {"name": "draw_unicorn", "description": "Draws a unicorn."}]})

    def found() -> list[str]:
        body = {"query": "draw_unicorn", "strategy": "direct", "mode": "lexical"}
        return [tool["name"] for tool in client.post("/api/v1/search", json=body).json()["tools"]]

    assert found() == ["draw_unicorn"]
    put(client, "servers", {**SERVER, "tools": [TOOL]})
    assert found() == []
