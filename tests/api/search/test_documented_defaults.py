"""A field that is sent as the document's default is the same as one that is left out: generated clients send them."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import fill
from tests.builders import System
from tests.openapi import published

TIMES = {"metadata", "timing"}
"""What no two answers have alike."""

SEARCHES = [
    ("/api/v1/search", {"query": "the flowers are thirsty", "mode": mode, "strategy": strategy})
    for mode in ("hybrid", "semantic", "lexical")
    for strategy in ("hierarchical", "direct", "hybrid")
]
MESSAGES = [("/api/v1/search/messages", {"text": "flowers", "mode": mode}) for mode in ("hybrid", "lexical")]


def defaults_of(method: str, path: str) -> dict[str, Any]:
    """Return the fields of a route's body that the document has defaults of."""
    document = published()
    schema = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    name = (schema.get("$ref") or schema["anyOf"][0]["$ref"]).rpartition("/")[2]
    fields = document["components"]["schemas"][name]["properties"].items()
    return {field: shown["default"] for field, shown in fields if "default" in shown}


@pytest.fixture
def garden(system: System, client: TestClient) -> System:
    system.store_message("The flowers", "They are thirsty.")
    for skill_id, server in (("garden", "green"), ("kitchen", "white"), ("office", "grey"), ("cellar", "black")):
        system.create(skill_id, description=f"What is done in the {skill_id}.")
        tools = [
            {"server": server, "name": f"{verb}_{skill_id}", "description": f"{verb} flowers, in the {skill_id}."}
            for verb in ("water", "sell")
        ]
        for written in client.put("/api/v1/tools", json=tools).json()["results"]:
            client.put(f"/api/v1/tools/{written['id']}/skills", json={"skills": [{"skill_id": skill_id}]})
    return system


@pytest.mark.parametrize(("path", "asked"), [*SEARCHES, *MESSAGES], ids=str)
def test_a_search_with_all_defaults_of_the_document_finds_the_same(
    garden: System, client: TestClient, path: str, asked: dict[str, Any]
) -> None:
    sent = {**defaults_of("post", path), **asked}
    assert len(sent) > len(asked)
    answers = [client.post(path, json=body).json() for body in (asked, sent)]
    bare, given = ({name: value for name, value in answer.items() if name not in TIMES} for answer in answers)
    assert bare == given
    assert bare.get("tools") or bare.get("results") or asked["mode"] != "hybrid"


def test_an_item_that_is_switched_off_stays_so_when_a_patch_has_the_defaults_of_the_document(
    system: System, client: TestClient
) -> None:
    path = f"/api/v1/tools/{fill(system)['item']}"
    client.patch(path, json={"is_active": False})
    sent = defaults_of("patch", "/api/v1/tools/{item_id}")
    assert client.patch(path, json=sent).json()["is_active"] is False
    assert client.patch(path, json={"is_active": None}).json()["is_active"] is False


def test_a_prompt_written_over_with_the_defaults_of_the_document_stays_a_prompt(client: TestClient) -> None:
    prompt = {"type": "prompt", "server": "green", "name": "greet", "description": "Greets."}
    item_id = client.put("/api/v1/tools", json=[prompt]).json()["results"][0]["id"]
    body = {"description": "Greets kindly."} | defaults_of("put", "/api/v1/tools/{item_id}")
    answer = client.put(f"/api/v1/tools/{item_id}", json=body)
    assert (answer.status_code, answer.json().get("type")) == (200, "prompt")
