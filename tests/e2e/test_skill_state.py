"""Deactivated skills are gone from the very next search, in every server, and come back as they were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import HASHING, SOAK, Bare, Processes, answered
from tests.e2e.work import create_skill, skills_of, verified

ROUNDS = 200 if SOAK else 20
QUERY = "give the orchids in the greenhouse some water"


@pytest.fixture
def servers(home: Path, processes: Processes, database_url: str) -> tuple[Bare, Bare]:
    first, second = processes.bare(home, database_url, **HASHING), processes.bare(home, database_url, **HASHING)
    return first.ready(), second.ready()


@pytest.fixture
def tools(servers: tuple[Bare, Bare]) -> dict[str, int]:
    """A skill with a tool of its own, one with another, and a tool that is in both; ids by name."""
    server, _ = servers
    create_skill(server, "greenhouse", description="Water the orchids in the greenhouse.")
    create_skill(server, "kitchen", description="Cook a meal in the kitchen.")
    said = {
        "water_orchids": "Gives the orchids in the greenhouse some water.",
        "boil_potatoes": "Boils potatoes in the kitchen.",
        "water_herbs": "Gives the herbs in the kitchen and in the greenhouse some water.",
    }
    results = server.put(*({"name": name, "description": text} for name, text in said.items()))["results"]
    ids = {result["name"]: result["id"] for result in results}
    for name, skills in {
        "water_orchids": ["greenhouse"],
        "boil_potatoes": ["kitchen"],
        "water_herbs": ["greenhouse", "kitchen"],
    }.items():
        given = [{"skill_id": skill, "confidence": 0.9 - 0.2 * place} for place, skill in enumerate(skills)]
        answered(server.http.put(f"/api/v1/tools/{ids[name]}/skills", json={"skills": given}))
    return ids


def search(server: Bare, **request: Any) -> dict[str, Any]:
    return server.search(QUERY, mode="semantic", skill_threshold=0, tool_threshold=0, **request)


def switch(server: Bare, *, is_active: bool) -> None:
    changed = answered(server.http.patch("/api/v1/skills/greenhouse", json={"is_active": is_active}))
    assert changed["is_active"] is is_active


def matched(answer: dict[str, Any]) -> list[str]:
    assert answer["metadata"]["skill_ids_used"] == [skill["id"] for skill in answer["matched_skills"]]
    return answer["metadata"]["skill_ids_used"]


def assert_searched(server: Bare) -> None:
    answer = search(server)
    assert matched(answer) == ["greenhouse", "kitchen"]
    assert {tool["name"] for tool in answer["tools"]} == {"water_orchids", "water_herbs", "boil_potatoes"}
    [found] = answered(
        server.http.get(
            "/api/v1/search/skills", params={"query": QUERY, "mode": "semantic", "limit": 1, "threshold": 0}
        )
    )
    assert (found["id"], found["tool_count"]) == ("greenhouse", 2)


def assert_not_searched(server: Bare) -> None:
    answer = search(server)
    assert matched(answer) == ["kitchen"]
    assert {tool["name"] for tool in answer["tools"]} == {"water_herbs", "boil_potatoes"}
    found = answered(
        server.http.get("/api/v1/search/skills", params={"query": QUERY, "mode": "semantic", "threshold": 0})
    )
    assert [skill["id"] for skill in found] == ["kitchen"]
    # Its tools are still there, for whoever asks for all.
    direct = {tool["name"]: tool for tool in search(server, strategy="direct")["tools"]}
    assert direct.keys() == {"water_orchids", "water_herbs", "boil_potatoes"}


def test_the_very_next_search_of_every_server_knows(servers: tuple[Bare, Bare], tools: dict[str, int]) -> None:
    before = {name: skills_of(servers[0], tool_id) for name, tool_id in tools.items()}
    listed = answered(servers[0].http.get("/api/v1/skills/greenhouse/tools"))

    for number in range(ROUNDS):
        writer, reader = servers[number % 2], servers[1 - number % 2]

        switch(writer, is_active=False)
        assert_not_searched(reader)
        assert_not_searched(writer)
        for name, tool_id in tools.items():
            kept = [each | {"is_active": each["skill_id"] != "greenhouse"} for each in before[name]]
            assert skills_of(reader, tool_id) == kept
        assert answered(reader.http.get("/api/v1/skills/greenhouse/tools")) == listed
        names = [skill["id"] for skill in answered(reader.http.get("/api/v1/skills"))]
        assert names == ["kitchen"]

        switch(writer, is_active=True)
        assert_searched(reader)
        assert_searched(writer)
        assert {name: skills_of(reader, tool_id) for name, tool_id in tools.items()} == before

    verified(servers[0])
    verified(servers[1])
