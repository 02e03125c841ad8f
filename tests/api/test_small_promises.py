"""Small things that docs/api.md promises of all routes."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from tests.builders import System


@pytest.mark.parametrize("path", ["/health", "/ready", "/api/v1/verify"])
def test_a_parameter_that_nobody_knows_is_422_everywhere(shared_client: TestClient, path: str) -> None:
    response = shared_client.get(f"{path}?verbose=1")
    [found] = response.json()["detail"]
    assert (response.status_code, found["loc"]) == (422, ["query", "verbose"])
    assert shared_client.get(path).status_code == 200


@pytest.mark.parametrize("kind", ["", ",", " "])
def test_an_export_of_no_kind_is_not_one_of_all(shared_client: TestClient, kind: str) -> None:
    response = shared_client.get("/api/v1/export", params={"kind": kind})
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["query", "kind"])


def test_an_error_within_a_batch_is_the_one_of_the_search_alone(shared_client: TestClient) -> None:
    for body in ({"query": ""}, {"query": "x", "limt": 1}, {"query": "x", "limit": 0, "mode": "best"}):
        alone = shared_client.post("/api/v1/search", json=body).json()
        answer = shared_client.post("/api/v1/search/batch", json={"searches": [{"query": "x"}, body]}).json()
        error = answer["results"][1]["error"]
        assert (error["code"], error["detail"]) == (alone["code"], alone["detail"])


def test_null_is_the_default_mode_of_every_search(shared_client: TestClient) -> None:
    assert shared_client.post("/api/v1/search", json={"query": "x", "mode": None}).status_code == 200
    assert shared_client.post("/api/v1/search/registry", json={"query": "x", "mode": None}).status_code == 200
    assert shared_client.post("/api/v1/search/messages", json={"text": "x", "mode": None}).status_code == 200


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_search_within_a_server_has_no_details_that_nobody_asked_for(
    client: TestClient, system: System, mode: str
) -> None:
    system.put("water", server="green", description="Water the plants.")
    asked = {"query": "water the plants", "server": "green", "mode": mode}
    plain = client.post("/api/v1/search", json=asked).json()
    assert {"explain", "duplicates"}.isdisjoint({*plain, *plain["tools"][0]})
    assert plain["unknown_servers"] == []
    explained = client.post("/api/v1/search", json=asked | {"explain": True, "server": ["green", "red"]}).json()
    assert explained["tools"][0]["explain"] is not None
    assert (explained["unknown_servers"], explained["tools"][0]["duplicates"]) == (["red"], None)
