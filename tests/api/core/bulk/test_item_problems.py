"""All that is wrong with one of many is named at once, fields with two names are taken, and nothing is lost unsaid."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System
from tests.portable_lines import imported

NUL = "NUL characters are not allowed"
NAMED = {
    "tools": {"name": "n"},
    "servers": {"name": "n"},
    "agents": {"name": "n"},
    "skills": {"id": "garden", "name": "Garden", "description": "Water the plants."},
    "mail/projects": {"key": "n", "name": "n"},
    "mail/products": {"key": "n", "name": "n"},
    "mail/agents": {"name": "n"},
    "mail/messages": {"key": "n", "project": "garden", "from": "Ann", "to": ["Ben"], "subject": "n"},
}


def put(client: TestClient, kind: str, thing: dict[str, Any]) -> dict[str, Any]:
    response = client.put(f"/api/v1/{kind}", json=[thing])
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["results"][0]
    return result


def errors(result: dict[str, Any]) -> list[str]:
    return [error["field"] for error in result["errors"]]


@pytest.mark.parametrize("kind", NAMED)
def test_what_cannot_be_stored_and_what_is_not_allowed_are_named_together(client: TestClient, kind: str) -> None:
    bad = {**NAMED[kind], "description": "\u0000", "name": 3, "body": "\u0000", "subject": "", "descripton": "x"}
    result = put(client, kind, bad)
    found = errors(result)
    expected = {"subject", "body"} if kind == "mail/messages" else {"name", "description"}
    assert (result["status"], expected <= set(found)) == ("failed", True), found
    assert len(found) == len(set(found))


def test_all_that_is_wrong_with_an_item_is_named(client: TestClient) -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"a": deep}
    item = {
        "name": "a",
        "type": "zz",
        "description": "\u0000",
        "tags": ["\u0000", 7],
        "input_schema": {"x": deep, "y": deep},
        "metadata": {"big": "x" * 300_000},
    }
    result = put(client, "tools", item | {"descripton": "x", "tagz": []})
    assert errors(result) == [
        "description",
        "tags.0",
        "input_schema.x.a....",
        "input_schema.y.a....",
        "item",
        "type",
        "tags.1",
    ]
    assert result["error"] == {"field": "description", "message": NUL}
    listed = {"server": {"name": 3, "description": "\u0000", "tools": [{"name": ""}]}, "tags": [7]}
    assert errors(put(client, "servers", listed)) == ["server.description", "server.name", "tags.0"]


def test_all_parts_of_a_tools_line_are_named(client: TestClient) -> None:
    line = {
        "kind": "tool",
        "name": "",
        "created_at": "yesterday",
        "is_switched_off": "no",
        "skills": {"assigned": [{"skill_id": "X", "confidence": 2}]},
    }
    [result] = imported(client, [line])
    assert {"created_at", "is_switched_off", "skills.assigned.0.confidence", "name"} <= set(errors(result))


def test_problems_without_end_are_few(client: TestClient) -> None:
    assert len(put(client, "tools", {"name": "n", "metadata": {"a": ["\u0000"] * 5_000}})["errors"]) == 20


# Names that mean the same


def test_an_items_type_has_two_names(client: TestClient, system: System) -> None:
    prompt = {"item_type": "prompt", "server": "syn", "name": "x"}
    assert (put(client, "tools", prompt)["type"], put(client, "tools", {**prompt, "type": "prompt"})["status"]) == (
        "prompt",
        "unchanged",
    )
    assert system.rows("SELECT type, metadata FROM mcp.tools") == [["prompt", {}]]
    [error] = put(client, "tools", {**prompt, "type": "tool"})["errors"]
    assert (error["field"], error["message"]) == (
        "item_type",
        "is another name of type, and has another value: give one of them",
    )
    schemas = {"name": "s", "inputSchema": {}, "input_schema": {"type": "object"}}
    assert errors(put(client, "tools", schemas)) == ["inputSchema"]
    id_ = put(client, "tools", prompt)["id"]
    written = client.put(f"/api/v1/tools/{id_}", json={"item_type": "prompt", "description": "Says hello."})
    assert (written.status_code, written.json()["description"]) == (200, "Says hello.")
    assert client.put(f"/api/v1/tools/{id_}", json={"item_type": "tool"}).status_code == 422


@pytest.mark.parametrize("path", ["/api/v1/search", "/api/v1/search/batch"])
def test_searches_take_either_name_of_the_type(client: TestClient, system: System, path: str) -> None:
    system.put("water")
    system.tool("prompt", None, type="prompt", description="Water.")

    def asked(**body: Any) -> Any:
        body = {"query": "water", "mode": "lexical", **body}
        answer = client.post(path, json={"searches": [body]} if path.endswith("batch") else body)
        if not path.endswith("batch"):
            return answer.json()
        [result] = answer.json()["results"]
        return result["answer"] or result["error"]

    for body in ({"type": "prompt"}, {"item_type": "prompt"}, {"type": "prompt", "item_type": "prompt"}):
        assert [tool["name"] for tool in asked(**body)["tools"]] == ["prompt"]
    assert "is another name of item_type" in str(asked(type="prompt", item_type="tool")["detail"])


def test_deletions_take_either_name_of_the_type(client: TestClient, system: System) -> None:
    system.put("water", server="green")
    body = {"server": "green", "item_type": "prompt"}
    assert client.post("/api/v1/tools/delete", json=body).json()["results"] == []
    assert client.post("/api/v1/tools/delete", json={**body, "type": "tool"}).status_code == 422


def test_a_message_has_one_sender(client: TestClient, system: System) -> None:
    client.put("/api/v1/mail/projects", json=[{"key": "garden", "name": "Garden"}])
    message = NAMED["mail/messages"]
    assert put(client, "mail/messages", {**message, "sender": "Ann"})["status"] == "created"
    assert errors(put(client, "mail/messages", {**message, "sender": "Bob"})) == ["sender"]


def test_another_word_for_switched_on_is_asked_about(client: TestClient) -> None:
    [warning] = put(client, "servers", {"name": "n", "is_active": False})["warnings"]
    assert warning["message"].endswith("did you mean is_enabled?")


# What is left aside is said


def test_an_item_is_not_switched_by_put(client: TestClient, system: System) -> None:
    new = put(client, "tools", {"name": "n", "is_active": False})
    assert (new["status"], [(each["field"], each["type"]) for each in new["warnings"]]) == (
        "created",
        [("is_active", "unchangeable_field")],
    )
    path = f"/api/v1/tools/{new['id']}"
    [problem] = client.put(path, json={"is_active": False}).json()["detail"]
    assert problem["loc"] == ["body", "is_active"]
    assert "PATCH" in problem["msg"]
    client.patch(path, json={"is_active": False})
    read = client.get(path).json()
    assert put(client, "tools", read)["warnings"] == []
    assert client.put(path, json=read).json() == read
    on = put(client, "tools", {"name": "n", "is_switched_off": False})
    assert (on["status"], [each["field"] for each in on["warnings"]]) == ("unchanged", ["is_switched_off"])
    assert client.get(path).json() == read
    server = put(client, "servers", {"name": "s", "tools": [{"name": "t", "is_active": False}]})
    assert [each["field"] for each in server["warnings"]] == ["tools.0.is_active"]


def test_a_field_that_metadata_has_otherwise_is_not_lost_unsaid(client: TestClient) -> None:
    item = {"name": "n", "id": "foreign-1", "metadata": {"id": 7}}
    result = put(client, "tools", item)
    assert [(each["field"], each["message"].split(",")[0]) for each in result["warnings"]] == [
        ("id", "is in metadata too")
    ]
    path = f"/api/v1/tools/{result['id']}"
    assert client.get(path).json()["metadata"] == {"id": 7}
    assert client.put(path, json=item).status_code == 422
    assert put(client, "tools", {**item, "metadata": {"id": "foreign-1"}})["warnings"] == []
