"""Searches stay within what Lambda carries, whatever was found, and say what they left out (decision 36)."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from fastapi.testclient import TestClient
from skillroute.core.answer_size import MAX_ANSWER_BYTES, on_the_way

NUMBER = 50
LONG = "\x01" * 35_000
"""A description that is seven times as long on the way."""


def put(client: TestClient, path: str, name: str, rows: list[dict[str, Any]], per_call: int = 20) -> None:
    for start in range(0, len(rows), per_call):
        report = client.put(path, json={name: rows[start : start + per_call]}).json()
        assert report["failed"] == 0, report["results"]


def asked(client: TestClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    response = client.post(f"/api/v1/search{path}", json=body)
    assert response.status_code == 200, response.text[:500]
    assert on_the_way(response.content) < MAX_ANSWER_BYTES
    found: dict[str, Any] = response.json()
    return found


EVERY_TOOL = {"query": "water", "limit": NUMBER, "strategy": "direct", "mode": "lexical"}


class TestTools:
    @staticmethod
    def fill(client: TestClient, **fields: Any) -> None:
        rows = [{"name": f"water_{n}", "description": "water", **fields} for n in range(NUMBER)]
        put(client, "/api/v1/tools", "items", rows)

    @pytest.mark.parametrize(("unit", "number"), [("x", 240_000), ('"', 120_000)])
    def test_schemas_beyond_the_room_are_left_out_and_named(self, client: TestClient, unit: str, number: int) -> None:
        self.fill(client, input_schema={"x": unit * number})
        first = asked(client, "", EVERY_TOOL)
        tools, omitted = first["tools"], first["metadata"]["schemas_omitted"]
        # THEN every tool is there, the best of them with schemas, and the others are named in their order
        assert len(tools) == NUMBER
        assert 5 < NUMBER - len(omitted) < NUMBER
        assert [tool["id"] for tool in tools if tool["input_schema"] is None] == omitted
        assert [tool["id"] for tool in tools][-len(omitted) :] == omitted
        assert first["metadata"]["degraded"] == []
        # AND it does not depend on what is remembered
        assert asked(client, "", EVERY_TOOL)["metadata"]["schemas_omitted"] == omitted
        few = asked(client, "", {**EVERY_TOOL, "limit": 5})
        assert few["metadata"]["schemas_omitted"] == []
        assert all(tool["input_schema"] for tool in few["tools"])

    def test_schemas_have_the_room_that_explanations_and_duplicates_leave(self, client: TestClient) -> None:
        servers = [f"{chr(34) * 250}{n}" for n in range(NUMBER)]
        self.fill(client, input_schema={"x": "x" * 240_000})
        rows = [{"name": "water", "server": server, "description": "a well of water"} for server in servers]
        put(client, "/api/v1/tools", "items", rows)
        answer = asked(client, "", {**EVERY_TOOL, "limit": 50, "explain": True, "collapse_duplicates": True})
        assert max(len(tool["duplicates"]) for tool in answer["tools"]) == NUMBER - 1
        assert all(tool["explain"] for tool in answer["tools"])
        assert 0 < len(answer["metadata"]["schemas_omitted"]) < NUMBER

    def test_descriptions_that_have_no_room_together_are_cut(self, client: TestClient) -> None:
        self.fill(client, input_schema={"x": "y"})
        put(
            client, "/api/v1/tools", "items", [{"name": f"long_{n}", "description": f"water {LONG}"} for n in range(25)]
        )
        body = {**EVERY_TOOL, "query": "long water"}
        answer = asked(client, "", body)
        assert answer["metadata"]["descriptions_cut"] is True
        cut = [tool["description"] for tool in answer["tools"] if tool["description"].endswith("…")]
        assert len(cut) == 25
        assert all(len(text) > 5_000 for text in cut)
        assert "water" in {tool["description"] for tool in answer["tools"]}, "short ones stay"
        assert asked(client, "", {**body, "limit": 3})["metadata"]["descriptions_cut"] is False

        listed = client.get("/api/v1/search/tools", params={"query": "long water", "limit": 50, "mode": "lexical"})
        assert on_the_way(listed.content) < MAX_ANSWER_BYTES
        assert listed.headers["X-Descriptions-Cut"] == "true"
        few = client.get("/api/v1/search/tools", params={"query": "long water", "limit": 2, "mode": "lexical"})
        assert "X-Descriptions-Cut" not in few.headers


class TestRegistry:
    EVERYTHING: ClassVar[dict[str, Any]] = {"query": "water", "max_results": 50}

    def test_schemas_and_cards_beyond_the_room_are_left_out_and_named(self, client: TestClient) -> None:
        # GIVEN tools with schemas, and agents with cards, of 200 KB each, and quotes among them
        tools = [{"name": f"water_{n}", "description": "water", "inputSchema": {"x": "y" * 200_000}} for n in range(25)]
        put(client, "/api/v1/servers", "servers", [{"name": "water", "tools": tools}])
        agents = [{"name": f"water {n}", "description": "water", "x": '"' * 100_000} for n in range(25)]
        put(client, "/api/v1/agents", "agents", agents)
        # WHEN
        answer = asked(client, "/registry", self.EVERYTHING)
        # THEN everything is found, the best with what they have, and the others are named in their order
        metadata = answer["metadata"]
        assert (len(answer["tools"]), len(answer["agents"])) == (25, 25)
        for found, name, value, omitted in [
            (answer["tools"], "db_id", "inputSchema", metadata["schemas_omitted"]),
            (answer["agents"], "id", "agent_card", metadata["cards_omitted"]),
        ]:
            assert 3 < len(omitted) < 23
            assert [each[name] for each in found if each[value] is None] == omitted
            assert [each[name] for each in found][-len(omitted) :] == omitted
        few = asked(client, "/registry", {"query": "water", "max_results": 3})
        assert few["metadata"]["schemas_omitted"] == few["metadata"]["cards_omitted"] == []
        assert all(agent["agent_card"]["x"] for agent in few["agents"])

    def test_descriptions_that_have_no_room_together_are_cut(self, client: TestClient) -> None:
        short = {"name": "short water", "description": "water", "tools": [{"name": "t", "description": "water"}]}
        tools = [{"name": f"water_{n}", "description": f"water {LONG}"} for n in range(10)]
        servers = [{"name": f"water {n}", "description": f"water {LONG}", "tools": tools} for n in range(8)]
        put(client, "/api/v1/servers", "servers", [short, *servers], per_call=2)
        answer = asked(client, "/registry", {**self.EVERYTHING, "explain": True})
        assert answer["metadata"]["descriptions_cut"] is True
        shown = [server["description"] for server in answer["servers"]]
        shown += [tool["description"] for server in answer["servers"] for tool in server["matching_tools"]]
        assert sorted(set(shown), key=len)[0] == "water"
        assert sum(text.endswith("…") for text in shown) == 88

    def test_explanations_have_what_room_is_left(self, client: TestClient) -> None:
        name = "water " + '"' * 200
        agents = [
            {"name": f"{name}{n}", "path": f"/a{n}", "description": "water", "x": "y" * 60_000} for n in range(100)
        ]
        for start in range(0, 100, 50):
            put(client, "/api/v1/agents", "agents", agents[start : start + 50], per_call=50)
        more = [{"name": f"{name}{n}", "path": f"/b{n}", "description": "water"} for n in range(900)]
        put(client, "/api/v1/agents", "agents", more, per_call=100)
        answer = asked(client, "/registry", {**self.EVERYTHING, "query": f"water a{'x' * 60}", "explain": True})
        assert answer["metadata"]["explain_omitted"] == 1_000 - len(answer["explain"])
        assert len(answer["explain"]) > 50


def pages(client: TestClient, **request: Any) -> list[list[dict[str, Any]]]:
    """Return the pages of a search of messages, by its cursors."""
    found, cursor = [], None
    while True:
        answer = asked(client, "/messages", {"text": "water", "limit": 1000, "cursor": cursor, **request})
        found.append(answer["results"])
        cursor = answer.get("next_cursor")
        if cursor is None:
            return found


@pytest.fixture(scope="module")
def to_many(shared_client: TestClient) -> TestClient:
    """Messages to 300 agents whose names are a kilobyte each, and quotes: 25 of them are 7 MB."""
    put(shared_client, "/api/v1/mail/projects", "projects", [{"key": "p", "name": "P"}])
    names = [str(n) + "\U0001d518" * 250 for n in range(300)]
    to = {"to": names[:100], "cc": names[100:200], "bcc": names[200:]}
    message = {"project": "p", "from": "a", "subject": "water", "body": '"' * 300, **to}
    messages = [{"key": f"m{n}", **message} for n in range(25)]
    put(shared_client, "/api/v1/mail/messages", "messages", messages, per_call=2)
    return shared_client


@pytest.mark.parametrize(
    "request_",
    [{}, {"mode": "semantic"}, {"mode": "hybrid"}, {"ranking": "recency"}, {"text": "", "ack_required": False}],
)
def test_a_page_of_messages_to_many_ends_before_it_is_too_large(to_many: TestClient, request_: dict[str, Any]) -> None:
    # WHEN they are read page by page
    found = pages(to_many, **request_)
    # THEN each comes once
    assert len(found) > 1
    ids = [each["id"] for page in found for each in page]
    assert len(set(ids)) == len(ids) == 25


class TestMessages:
    @pytest.fixture(autouse=True)
    def _projects(self, client: TestClient) -> None:
        put(client, "/api/v1/mail/projects", "projects", [{"key": "p", "name": "P"}])

    @pytest.mark.parametrize("kind", ["agent", "project"])
    def test_a_page_of_descriptions_ends_before_it_is_too_large(self, client: TestClient, kind: str) -> None:
        name = "name" if kind == "agent" else "key"
        rows = [{name: f"k{n}", "name": f"k{n}", "description": f"water {LONG}"} for n in range(25)]
        put(client, f"/api/v1/mail/{kind}s", f"{kind}s", rows, per_call=4)
        found = pages(client, doc_kind=kind)
        assert len(found) > 1
        assert len({each["id"] for page in found for each in page}) == 25

    def test_what_is_redacted_counts_as_it_is_shown(self, client: TestClient) -> None:
        to = {role: [f"{role}{n}" for n in range(100)] for role in ("to", "cc", "bcc")}
        messages = [{"key": f"m{n}", "project": "p", "from": "a", "subject": "water", **to} for n in range(30)]
        put(client, "/api/v1/mail/messages", "messages", messages)
        nothing = {"project_set": {"allowed_project_ids": []}}
        hidden = {"redact_agent_names": True, "placeholder": '"' * 256}
        found = pages(client, scope=nothing, redaction=hidden)
        assert len(found) > 1
        assert sum(map(len, found)) == 30
