"""PATCH of items, and deleting many in one call, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System


def test_patch_switches_an_item_off_and_on(client: TestClient, system: System) -> None:
    [tool] = system.put("water_plants")
    path = f"/api/v1/tools/{tool}"
    before = client.get(path)
    off = client.patch(path, json={"is_active": False})
    assert (off.status_code, off.json()["is_active"], off.json()["is_switched_off"]) == (200, False, True)
    assert off.headers["etag"] == client.get(path).headers["etag"] != before.headers["etag"]
    assert [item["is_active"] for item in client.get("/api/v1/tools").json()] == [False]
    assert client.get("/api/v1/search/tools?query=water plants&threshold=0").json() == []
    stale = client.patch(path, json={"is_active": True}, headers={"if-match": before.headers["etag"]})
    assert (stale.status_code, stale.json()["code"]) == (412, "version_conflict")
    assert client.patch(path, json={}).json() == off.json()
    # AND what was read can be written back, which switches nothing
    assert client.put(path, json=off.json()).json() == off.json()
    on = client.patch(path, json={"is_active": True}, headers={"if-match": off.headers["etag"]})
    assert (on.status_code, on.json()["is_active"]) == (200, True)
    assert len(client.get("/api/v1/search/tools?query=water plants&threshold=0").json()) == 1


@pytest.mark.parametrize("body", [{"is_active": "no"}, {"description": "x"}, []])
def test_patch_takes_nothing_else(shared_client: TestClient, body: Any) -> None:
    assert shared_client.patch("/api/v1/tools/1", json=body).status_code == 422


def test_many_items_are_deleted_with_a_result_each(client: TestClient, system: System) -> None:
    first, second = system.put("cut", "join", server="film")
    answer = client.post("/api/v1/tools/delete", json={"ids": [second, 999, second]}).json()
    assert (answer["deleted"], answer["failed"], answer["more"]) == (1, 2, False)
    nothing = {"status": "failed", "server": None, "type": None, "name": None}
    assert answer["results"] == [
        {
            "index": 0,
            "id": second,
            "status": "deleted",
            "server": "film",
            "type": "tool",
            "name": "join",
            "error": None,
        },
        {**nothing, "index": 1, "id": 999, "error": {"code": "item_not_found", "detail": "no item with id 999"}},
        {
            **nothing,
            "index": 2,
            "id": second,
            "error": {"code": "invalid_request", "detail": "ids.2: the same id as ids.0 of this call"},
        },
    ]

    answer = client.post("/api/v1/tools/delete", json={"server": "film"}).json()
    assert [result["id"] for result in answer["results"]] == [first]
    assert client.get("/api/v1/tools").json() == []


@pytest.mark.parametrize(
    "body",
    [{}, {"ids": []}, {"ids": [1], "server": "a"}, {"ids": [1], "type": "tool"}, {"ids": [0]}, {"ids": [1] * 501}],
)
def test_what_to_delete_is_said_in_one_way(shared_client: TestClient, body: Any) -> None:
    assert shared_client.post("/api/v1/tools/delete", json=body).status_code == 422


def test_a_version_is_of_one_item(shared_client: TestClient) -> None:
    response = shared_client.post("/api/v1/tools/delete", json={"ids": [1]}, headers={"if-match": '"a"'})
    assert response.status_code == 422
