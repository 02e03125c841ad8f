"""Many clients change the same tools and skills at once: nobody sees an error, and afterwards all agrees."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import httpx
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute_local.examples import EXAMPLES, read_jsonl

from tests.e2e.load import RandomCalls, race
from tests.e2e.processes import HASHING, SOAK, Processes, Server, Up, answered
from tests.e2e.work import AT_ONCE, create_skill, given_up, rows_of, settle, skills_of, verified

CLIENTS = 10
FOR_S = 30.0 if SOAK else 2.0
AT_MOST_S = FOR_S + 30.0  # on a busy machine, until every change succeeded
SETTINGS = {} if SOAK else HASHING  # the long version runs with the real model

_SKILLS = tuple(itertools.islice(read_jsonl(EXAMPLES / "skills.jsonl"), 6))
_SERVERS = ("calendar", "mail", "tasks", "documents")
_TOOLS = tuple(
    {**row, "server": f"raced {row['server']}"}
    for server in _SERVERS
    for row in itertools.islice((row for row in read_jsonl(EXAMPLES / "tools.jsonl") if row["server"] == server), 4)
)


class Client(RandomCalls):
    """Changes tools, skills and what belongs to what."""

    def __init__(self, server: Server, seed: int, ids: dict[str, int]) -> None:
        super().__init__(server.client(), seed)
        self._ids = ids  # of all clients: what one has written the others use
        self._calls = (
            (5, self.classify, {200, 404, 409}),
            (5, self.assign, {200, 404, 409}),
            (2, self.write_tool, {200}),
            (1, self.delete_tool, {204, 404}),
            (1, self.delete_skill, {204, 404}),
            (3, self.create_skill, {201, 409}),
            (3, self.switch, {200, 404, 409}),
            (1, self.review, {200, 404, 409}),
            (1, self.search, {200}),
        )

    def classify(self) -> httpx.Response:
        body = {"tool_id": self._tool_id(), "force_reclassify": self._random.random() < 0.5}
        return self._http.post("/api/v1/skills/classify", json=body)

    def assign(self) -> httpx.Response:
        chosen = self._random.sample(_SKILLS, self._random.randint(0, 4))
        given = [{"skill_id": each["id"], "confidence": self._random.choice([0.2, 0.5, 1.0])} for each in chosen]
        return self._http.put(f"/api/v1/tools/{self._tool_id()}/skills", json={"skills": given})

    def write_tool(self) -> httpx.Response:
        items = [dict(each) for each in self._random.sample(_TOOLS, 2)]
        if self._random.random() < 0.5:
            items[0]["description"] += f" Edition {self._random.randint(1, 9)}."
        response = self._http.put("/api/v1/tools", json={"items": items})
        if response.is_success:
            results = response.json()["results"]
            self.wrong += [f"write_tool: {result}" for result in results if result["status"] == "failed"]
            self._ids |= {f"{result['server']}/{result['name']}": result["id"] for result in results if result["id"]}
        return response

    def delete_tool(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/tools/{self._tool_id()}")

    def delete_skill(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/skills/{self._skill()['id']}")

    def create_skill(self) -> httpx.Response:
        return self._http.post("/api/v1/skills", json=self._skill())

    def switch(self) -> httpx.Response:
        # More often on than off, so that there is something to classify into.
        is_active = self._random.random() < 0.7
        return self._http.patch(f"/api/v1/skills/{self._skill()['id']}", json={"is_active": is_active})

    def review(self) -> httpx.Response:
        response = self._http.get("/api/v1/skills/suggestions")
        if not response.json():
            return response
        url = f"/api/v1/skills/suggestions/{self._random.choice(response.json())['id']}"
        decision = self._random.choice(["merge", "reject"])
        body = {"skill_id": self._skill()["id"]} if decision == "merge" else {}
        return self._http.post(f"{url}/{decision}", json=body)

    def search(self) -> httpx.Response:
        query = self._random.choice(_TOOLS)["description"]
        return self._http.post("/api/v1/search", json={"query": query, "include_schemas": False})

    def _tool_id(self) -> int:
        return self._random.choice(list(self._ids.values()))

    def _skill(self) -> dict[str, Any]:
        return self._random.choice(_SKILLS)


def test_nobody_sees_an_error_and_afterwards_all_agrees(home: Path, processes: Processes) -> None:
    server = processes.up(home, "--no-examples", **SETTINGS, **AT_ONCE).ready()
    for skill in _SKILLS:
        create_skill(server, skill["id"], **{name: value for name, value in skill.items() if name != "id"})
    ids = {f"{each['server']}/{each['name']}": each["id"] for each in server.put(*_TOOLS)["results"]}

    clients = [Client(server, seed, ids) for seed in range(CLIENTS)]
    changes = ("classify", "assign", "create_skill", "delete_skill", "switch")
    race(clients, changes, often=1, for_s=FOR_S, at_most_s=AT_MOST_S)

    settle(server)
    assert given_up(server) == []
    report = verified(server)
    assert not_searched(server) == []
    assert report["tools"] == len(server.items())
    assert_consistent(server)
    assert "Traceback" not in server.output


def not_searched(server: Up) -> list[list[Any]]:
    """Return the tools that no search can find."""
    with rows_of(server) as sql:
        return sql(
            "SELECT t.id, t.server, t.name, t.created_at::text FROM mcp.tools t WHERE NOT EXISTS (SELECT FROM "
            "mcp.documents d WHERE d.collection = :collection AND d.key = t.id::text) ORDER BY t.id",
            collection=TOOL_DOCUMENTS.value,
        )


def assert_consistent(server: Up) -> None:
    """What the API says of tools agrees with what it says of skills."""
    skills = answered(server.http.get("/api/v1/skills", params={"is_active": "all", "limit": 1000}))
    by_skill = set()
    for skill in skills:
        response = server.http.get(f"/api/v1/skills/{skill['id']}/tools", params={"limit": 1000})
        members = answered(response)
        assert skill["tool_count"] == int(response.headers["X-Total-Count"]) == len(members)
        by_skill |= {(each["tool_id"], skill["id"], each["confidence"], each["is_primary"]) for each in members}
    by_tool = set()
    for item in server.items():
        assigned = skills_of(server, item["id"])
        assert sum(each["is_primary"] for each in assigned) == min(1, len(assigned))
        by_tool |= {(item["id"], each["skill_id"], each["confidence"], each["is_primary"]) for each in assigned}
    assert by_tool == by_skill
