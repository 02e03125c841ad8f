"""The catalogue over HTTP: writing, listing, reading and deleting items, and how soon a search knows of it.

Requests of tools among them (decision 42).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.errors.model import TextRefused

from tests.builders import System, item

SCHEMA = {"type": "object", "properties": {"zebra": {"type": "string"}, "apple": {}, "mango": {}}, "required": []}


def put(client: TestClient, *items: Any) -> dict[str, Any]:
    response = client.put("/api/v1/tools", json={"items": list(items)})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def statuses(answer: dict[str, Any]) -> list[str]:
    return [result["status"] for result in answer["results"]]


def found(client: TestClient, query: str, **body: Any) -> list[str]:
    response = client.post("/api/v1/search", json={"query": query, "strategy": "direct", **body})
    assert response.status_code == 200, response.text
    return [tool["name"] for tool in response.json()["tools"]]


# PUT


def test_each_item_is_created_then_unchanged_then_updated(client: TestClient) -> None:
    first = put(client, item("a"), item("b"))
    assert (first["created"], first["updated"], first["unchanged"], first["failed"]) == (2, 0, 0, 0)
    again = put(client, item("a"), item("b", description="Something else."))
    assert statuses(again) == ["unchanged", "updated"]
    assert [result["id"] for result in again["results"]] == [result["id"] for result in first["results"]]


def test_a_result_says_what_became_of_an_item(client: TestClient) -> None:
    answer = put(client, item("a", server="s", type="prompt"), item("b"))
    assert answer["results"][0] == {
        "index": 0,
        "status": "created",
        "id": 2,  # ids are given in order of server, type and name
        "server": "s",
        "type": "prompt",
        "name": "a",
        "error": None,
        "errors": [],
        "warnings": [],
        "refusal": None,
    }
    assert answer["results"][1]["server"] is None
    assert answer["degraded"] == []


def test_a_result_says_when_the_model_does_not_take_the_text_and_nothing_that_its_server_said(
    system: System, client: TestClient
) -> None:
    system.embedder.refuses = lambda text: "poison" in text.lower()
    for _ in range(2):
        answer = put(client, item("a"), item("bad", description="Poison."))
        assert [result["refusal"] for result in answer["results"]] == [None, TextRefused.public_message]
        assert (answer["failed"], answer["degraded"]) == (0, ["embedding_refused"])
    assert "400" not in json.dumps(answer)


def test_results_come_in_the_order_of_the_request(client: TestClient) -> None:
    answer = put(client, item("z"), {"name": ""}, item("a"), 7, item("m"))
    assert [(r["index"], r["name"]) for r in answer["results"]] == [(0, "z"), (1, None), (2, "a"), (3, None), (4, "m")]


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({}, "name"),
        ({"name": None}, "name"),
        ({"name": ""}, "name"),
        ({"name": " \t"}, "name"),
        ({"name": "x" * 257}, "name"),
        ({"name": 5}, "name"),
        ({"name": "new\nline"}, "name"),
        ({"name": "nul\x00"}, "name"),
        ({"name": "a", "type": "agent"}, "type"),
        ({"name": "a", "type": None}, "type"),
        ({"name": "a", "description": 5}, "description"),
        ({"name": "a", "description": "x" * 50_001}, "description"),
        ({"name": "a", "input_schema": []}, "input_schema"),
        ({"name": "a", "input_schema": "{}"}, "input_schema"),
        ({"name": "a", "annotations": True}, "annotations"),
        ({"name": "a", "tags": "one"}, "tags"),
        ({"name": "a", "tags": ["x" * 65]}, "tags.0"),
        ({"name": "a", "tags": ["t"] * 51}, "tags"),
        ({"name": "a", "server": "x" * 257}, "server"),
        ({"name": "a", "metadata": 1}, "metadata"),
        ({"name": "a", "input_schema": {"deep\x00": 1}}, "input_schema.<key>"),
        ({"name": "a", "metadata": {"big": "x" * 300_000}}, "item"),
        (None, "item"),
        ("a", "item"),
        ([], "item"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_one_bad_item_never_spoils_the_others(client: TestClient, bad: Any, field: str) -> None:
    answer = put(client, item("before"), bad, item("after"))
    assert statuses(answer) == ["created", "failed", "created"]
    error = answer["results"][1]["error"]
    assert error["field"] == field
    assert error["message"]
    assert client.get("/api/v1/tools").headers["X-Total-Count"] == "2"


def test_the_second_of_two_equal_keys_in_a_call_fails_and_names_the_first(client: TestClient) -> None:
    answer = put(client, item("same", description="first"), item("other"), item("same", description="second"))
    assert statuses(answer) == ["created", "created", "failed"]
    assert "item 0" in answer["results"][2]["error"]["message"]
    assert client.get("/api/v1/tools/1").json()["description"] in {"first", "Does what a test wants."}
    same = client.get("/api/v1/tools", params={"name": "same"}).json()
    assert [each["description"] for each in same] == ["first"]


def test_the_same_name_on_another_server_or_of_another_type_is_another_item(client: TestClient) -> None:
    answer = put(client, item("same"), item("same", server="s"), item("same", type="prompt"))
    assert statuses(answer) == ["created"] * 3
    assert len({result["id"] for result in answer["results"]}) == 3


@pytest.mark.parametrize("wrapped", [lambda items: {"items": items}, lambda items: items], ids=["object", "list"])
def test_items_come_in_an_object_or_as_a_bare_list(client: TestClient, wrapped: Any) -> None:
    assert client.put("/api/v1/tools", json=wrapped([item("a")])).json()["created"] == 1


@pytest.mark.parametrize("type_", ["tool", "prompt", "resource"])
def test_the_answer_of_an_mcp_server_can_be_pasted(client: TestClient, type_: str) -> None:
    listed = {
        f"{type_}s": [
            {
                "name": "get_weather",
                "title": "Weather",
                "description": "Current weather",
                "inputSchema": SCHEMA,
                "outputSchema": {"type": "string"},
                "annotations": {"readOnlyHint": True},
                "_meta": {"vendor": 1},
            }
        ]
    }
    assert client.put("/api/v1/tools", json=listed).json()["created"] == 1
    stored = client.get("/api/v1/tools/1").json()
    assert stored["type"] == type_
    assert stored["input_schema"] == SCHEMA
    assert stored["output_schema"] == {"type": "string"}
    assert stored["annotations"] == {"readOnlyHint": True}
    assert stored["metadata"] == {"title": "Weather", "_meta": {"vendor": 1}}


def test_no_items_are_no_error(client: TestClient) -> None:
    assert put(client)["results"] == []


def test_500_items_are_taken_and_501_are_refused_whole(client: TestClient) -> None:
    many = [item(f"tool_{n}") for n in range(501)]
    refused = client.put("/api/v1/tools", json={"items": many})
    assert refused.status_code == 422
    assert "500" in refused.json()["detail"][0]["msg"]
    assert client.get("/api/v1/tools").headers["X-Total-Count"] == "0"
    assert put(client, *many[:500])["created"] == 500


def test_only_what_changed_is_embedded_again(system: System, client: TestClient) -> None:
    put(client, *(item(f"kept{n}") for n in range(5)), item("changed"))
    system.embedder.calls.clear()
    assert put(client, *(item(f"kept{n}") for n in range(5)))["unchanged"] == 5
    assert system.embedder.texts == []
    answer = put(client, *(item(f"kept{n}") for n in range(5)), item("changed", description="A new text."))
    assert statuses(answer) == ["unchanged"] * 5 + ["updated"]
    assert system.embedder.texts
    assert all("changed" in text or "new text" in text for text in system.embedder.texts)
    assert not any("kept" in text for text in system.embedder.texts)


def test_what_is_not_part_of_the_text_is_stored_without_embedding_again(system: System, client: TestClient) -> None:
    put(client, item("a"))
    system.embedder.calls.clear()
    answer = put(client, item("a", annotations={"readOnlyHint": True}, tags=["new"], extra=1))
    assert statuses(answer) == ["updated"]
    assert system.embedder.calls == []
    stored = client.get("/api/v1/tools/1").json()
    assert (stored["annotations"], stored["tags"], stored["is_embedded"]) == ({"readOnlyHint": True}, ["new"], True)


def test_items_written_while_the_model_is_away_are_found_by_words_and_by_meaning_later(
    system: System, client: TestClient
) -> None:
    system.embedder.away = True
    answer = put(client, item("send_invoice", description="Bill a customer."))
    assert (statuses(answer), answer["degraded"]) == (["created"], ["embedding_unavailable"])
    assert client.get("/api/v1/tools/1").json()["is_embedded"] is False
    assert found(client, "bill a customer", mode="lexical") == ["send_invoice"]
    system.embedder.away = False
    assert found(client, "send invoice bill a customer") == [], "it has no vector yet"
    again = put(client, item("send_invoice", description="Bill a customer."))
    assert (statuses(again), again["degraded"]) == (["unchanged"], [])
    assert client.get("/api/v1/tools/1").json()["is_embedded"] is True
    assert found(client, "send invoice bill a customer") == ["send_invoice"]


def test_a_changed_text_without_a_model_loses_its_old_vector(system: System, client: TestClient) -> None:
    put(client, item("a", description="Weather in Rome."))
    system.embedder.away = True
    put(client, item("a", description="Invoices."))
    assert client.get("/api/v1/tools/1").json()["is_embedded"] is False
    system.embedder.away = False
    system.clock.advance(60)
    assert found(client, "weather in Rome") == []


def test_unknown_fields_are_kept_in_metadata(client: TestClient) -> None:
    put(client, item("a", uri="file:///x", nested={"deep": [1, None]}, metadata={"own": True}))
    assert client.get("/api/v1/tools/1").json()["metadata"] == {
        "uri": "file:///x",
        "nested": {"deep": [1, None]},
        "own": True,
    }


def test_schemas_keep_the_order_of_their_properties(client: TestClient) -> None:
    put(client, item("a", input_schema=SCHEMA))
    stored = client.get("/api/v1/tools/1").json()["input_schema"]
    assert json.dumps(stored) == json.dumps(SCHEMA)


def test_another_order_of_keys_is_no_change(client: TestClient) -> None:
    put(client, item("a", input_schema={"a": 1, "b": 2}))
    assert statuses(put(client, item("a", input_schema={"b": 2, "a": 1}))) == ["unchanged"]


def test_names_are_trimmed_and_unicode_comes_back_as_it_was(client: TestClient) -> None:
    put(client, item("  会議を予約 🗓️ ", description="é ☕", tags=["α"]))
    stored = client.get("/api/v1/tools/1").json()
    assert (stored["name"], stored["description"], stored["tags"]) == ("会議を予約 🗓️", "é ☕", ["α"])


def test_with_the_database_down_every_catalogue_route_answers_503(system: System, client: TestClient) -> None:
    put(client, item("a"))
    system.database.down = True
    for response in (
        client.put("/api/v1/tools", json=[item("b")]),
        client.get("/api/v1/tools"),
        client.get("/api/v1/tools/1"),
        client.delete("/api/v1/tools/1"),
    ):
        assert response.status_code == 503
        assert response.json()["detail"] == "PostgreSQL cannot be reached"
    system.database.down = False
    assert client.get("/api/v1/tools").headers["X-Total-Count"] == "1"


# GET


@pytest.fixture
def listed(client: TestClient) -> TestClient:
    put(
        client,
        item("a", server="s1", tags=["red"]),
        item("b", server="s1", tags=["red", "blue"]),
        item("c", server="s2", type="prompt"),
        item("d", type="resource", tags=["blue"]),
    )
    return client


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({}, "abcd"),
        ({"type": "tool"}, "ab"),
        ({"type": "prompt"}, "c"),
        ({"server": "s1"}, "ab"),
        ({"server": "unknown"}, ""),
        ({"name": "c"}, "c"),
        ({"tag": "red"}, "ab"),
        ({"tag": "blue"}, "bd"),
        ({"tag": "blue", "server": "s1"}, "b"),
        ({"tag": "blue", "type": "resource"}, "d"),
        ({"skill_id": "unknown"}, ""),
        ({"name": "%"}, ""),
    ],
    ids=str,
)
def test_the_list_shows_what_fits_all_conditions(listed: TestClient, params: dict[str, str], names: str) -> None:
    response = listed.get("/api/v1/tools", params=params)
    assert response.status_code == 200
    assert sorted(each["name"] for each in response.json()) == list(names)
    assert response.headers["X-Total-Count"] == str(len(names))


def test_the_list_pages_by_id_and_says_the_total(client: TestClient) -> None:
    put(client, *(item(f"tool_{n}") for n in range(12)))
    pages = [client.get("/api/v1/tools", params={"limit": 5, "offset": offset}) for offset in (0, 5, 10, 15)]
    ids = [[each["id"] for each in page.json()] for page in pages]
    assert ids == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12], []]
    assert {page.headers["X-Total-Count"] for page in pages} == {"12"}


def test_the_list_shows_a_skills_items(system: System, client: TestClient) -> None:
    system.skill("one_skill", None)
    system.tool("in_it", None, skills=["one_skill"])
    system.tool("not_in_it", None)
    (only,) = client.get("/api/v1/tools", params={"skill_id": "one_skill"}).json()
    assert (only["name"], only["skill_ids"], only["primary_skill_id"]) == ("in_it", ["one_skill"], "one_skill")


def test_an_item_is_read_whole(client: TestClient) -> None:
    put(client, item("a", server="s", input_schema=SCHEMA, tags=["t"]))
    stored = client.get("/api/v1/tools/1").json()
    times = {name: stored.pop(name) for name in ("created_at", "updated_at")}
    assert all(time.endswith("Z") and "T" in time for time in times.values()), times
    assert len(stored.pop("content_hash")) == 64
    assert stored == {
        "id": 1,
        "org_id": None,
        "server": "s",
        "type": "tool",
        "name": "a",
        "description": "Does what a test wants.",
        "input_schema": SCHEMA,
        "output_schema": None,
        "annotations": None,
        "tags": ["t"],
        "metadata": {},
        "requests": None,
        "is_active": True,
        "is_switched_off": False,
        "is_quarantined": False,
        "is_embedded": True,
        "skill_ids": [],
        "primary_skill_id": None,
    }


@pytest.mark.parametrize("method", ["get", "delete"])
def test_an_unknown_id_is_404_with_a_sentence(client: TestClient, method: str) -> None:
    response = getattr(client, method)("/api/v1/tools/999")
    assert (response.status_code, response.json()["detail"]) == (404, "no item with id 999")


# DELETE


def test_a_deleted_item_is_gone(client: TestClient) -> None:
    put(client, item("a"))
    response = client.delete("/api/v1/tools/1")
    assert (response.status_code, response.content) == (204, b"")
    assert client.get("/api/v1/tools/1").status_code == 404
    assert client.delete("/api/v1/tools/1").status_code == 404
    assert statuses(put(client, item("a"))) == ["created"]


# Search sees it at once


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_a_written_tool_is_found_by_the_very_next_search_and_a_deleted_one_is_not(
    client: TestClient, mode: str
) -> None:
    assert found(client, "send an invoice", mode=mode) == []
    put(client, item("send_invoice", description="Send an invoice to a customer."))
    assert found(client, "send an invoice", mode=mode) == ["send_invoice"]
    put(client, item("send_invoice", description="Send an invoice to a customer, twice."))
    put(client, item("pay_invoice", description="Send an invoice back."))
    assert sorted(found(client, "send an invoice", mode=mode)) == ["pay_invoice", "send_invoice"]
    client.delete("/api/v1/tools/1")
    assert found(client, "send an invoice", mode=mode) == ["pay_invoice"]


def test_a_changed_description_and_schema_show_in_the_very_next_search(client: TestClient) -> None:
    put(client, item("send_invoice", description="Send an invoice.", input_schema={"a": 1}))
    found(client, "send invoice")
    put(client, item("send_invoice", description="Send an invoice now.", input_schema={"a": 2}))
    answer = client.post("/api/v1/search", json={"query": "send an invoice"}).json()
    (tool,) = answer["tools"]
    assert (tool["description"], tool["input_schema"]) == ("Send an invoice now.", {"a": 2})


# Requests that an item serves


def test_requests_come_back_with_their_sources_from_both_reads_and_change_the_version(client: TestClient) -> None:
    given = ["cut my film", {"text": "shorten a clip", "source": "person"}]
    [result] = put(client, item("a"))["results"]
    path = f"/api/v1/tools/{result['id']}"
    before = client.get(path)
    assert before.json()["requests"] is None
    assert statuses(put(client, item("a", requests=given))) == ["updated"]
    shown = [{"text": "cut my film", "source": "import"}, {"text": "shorten a clip", "source": "person"}]
    after = client.get(path)
    assert after.json()["requests"] == client.get("/api/v1/tools").json()[0]["requests"] == shown
    assert after.headers["etag"] != before.headers["etag"]
    # AND what was read can be put back, and nothing said of them leaves them there
    assert statuses(put(client, after.json())) == ["unchanged"]
    assert statuses(put(client, item("a"))) == ["unchanged"]
    body = {name: value for name, value in after.json().items() if name != "requests"}
    assert client.put(path, json=body | {"tags": ["new"]}).json()["requests"] == shown
    assert client.put(path, json=body | {"requests": []}).json()["requests"] == []


def test_a_dry_run_says_that_requests_would_change_and_changes_none(client: TestClient) -> None:
    [result] = put(client, item("a"))["results"]
    tried = client.put("/api/v1/tools?dry_run=true", json={"items": [item("a", requests=["cut my film"])]})
    assert statuses(tried.json()) == ["updated"]
    assert client.get(f"/api/v1/tools/{result['id']}").json()["requests"] is None


def test_requests_that_are_none_are_refused_with_the_item_alone(client: TestClient) -> None:
    answer = put(client, item("a", requests=["x"] * 9), item("b", requests=["x" * 301]), item("c"))
    assert statuses(answer) == ["failed", "failed", "created"]
    assert [result["errors"][0]["field"] for result in answer["results"][:2]] == ["requests", "requests.0.text"]


def test_a_server_written_with_its_tools_writes_their_requests_or_leaves_them(client: TestClient) -> None:
    def put_server(**tool: Any) -> list[dict[str, Any]]:
        server = {"name": "film", "description": "Films.", "tools": [{"name": "cut", **tool}]}
        assert client.put("/api/v1/servers", json={"servers": [server]}).json()["failed"] == 0
        [stored] = client.get("/api/v1/tools").json()
        requests: list[dict[str, Any]] = stored["requests"]
        return requests

    shown = [{"text": "shorten my clip", "source": "import"}]
    assert put_server(requests=["shorten my clip"]) == shown
    assert put_server(description="Cuts.") == shown
    assert put_server(description="Cuts.", requests=[]) == []


def test_a_search_finds_a_tool_by_its_requests_and_no_longer_without_them(client: TestClient) -> None:
    def similarity() -> float:
        body = {"query": "shorten my holiday clip", "strategy": "direct", "mode": "semantic", "tool_threshold": 0.0}
        [tool] = client.post("/api/v1/search", json=body).json()["tools"]
        value: float = tool["similarity"]
        return value

    put(client, item("a"))
    before = similarity()
    put(client, item("a", requests=["shorten my holiday clip"]))
    assert similarity() > before + 0.2
    put(client, item("a", requests=[]))
    assert similarity() == before


def test_a_search_finds_a_tool_by_what_its_server_says_and_no_longer_without_it(client: TestClient) -> None:
    def similarity(description: str) -> float:
        server = {"name": "Film", "path": "/film", "description": description}
        assert client.put("/api/v1/servers", json={"servers": [server]}).json()["failed"] == 0
        body = {"query": "shorten my holiday clip", "strategy": "direct", "mode": "semantic", "tool_threshold": 0.0}
        [tool] = client.post("/api/v1/search", json=body).json()["tools"]
        value: float = tool["similarity"]
        return value

    put(client, item("a", server="film"))
    before = similarity("")
    assert similarity("Shorten my holiday clip.") > before + 0.02
    assert similarity("") == pytest.approx(before)
