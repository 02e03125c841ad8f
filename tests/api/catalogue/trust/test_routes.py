"""Definitions that changed, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient


def put(client: TestClient, description: str, query: str = "", **fields: Any) -> dict[str, Any]:
    item = {"name": "add", "server": "sums", "description": description, **fields}
    [result] = client.put(f"/api/v1/tools{query}", json=[item]).json()["results"]
    found: dict[str, Any] = result
    return found


def test_a_change_is_warned_of_listed_with_its_difference_and_approved(client: TestClient) -> None:
    assert put(client, "Adds.")["warnings"] == []
    written = put(client, "Adds all.")
    [warning] = [each for each in written["warnings"] if each["type"] == "changed_definition"]
    assert "trust/approve" in warning["message"]
    answer = client.get("/api/v1/trust/changed")
    [changed] = answer.json()
    assert answer.headers["X-Total-Count"] == "1"
    assert changed["differences"] == [{"field": "description", "diff": ["@@ -1 +1 @@", "-Adds.", "+Adds all."]}]
    assert (changed["id"], changed["server"], changed["is_quarantined"]) == (written["id"], "sums", False)
    decided = client.post("/api/v1/trust/approve", json={"ids": [changed["id"], 999]})
    assert decided.json() == [{"id": changed["id"], "status": "approved"}, {"id": 999, "status": "not_found"}]
    assert client.get("/api/v1/trust/changed").json() == []


def test_a_writer_approves_what_it_writes(client: TestClient) -> None:
    id_ = put(client, "Adds.")["id"]
    assert put(client, "Adds two.", "?approve=true")["warnings"] == []
    item = {"description": "Adds three."}
    assert client.put(f"/api/v1/tools/{id_}?approve=true", json=item).status_code == 200
    assert client.get("/api/v1/trust/changed").json() == []
    assert client.put(f"/api/v1/tools/{id_}", json={"description": "Adds four."}).json()["is_quarantined"] is False
    assert [each["id"] for each in client.get("/api/v1/trust/changed").json()] == [id_]


def test_a_list_goes_on_where_a_page_ended(client: TestClient) -> None:
    names = ["one", "two", "three"]
    for description in ("First.", "Second."):
        client.put("/api/v1/tools", json=[{"name": name, "description": description} for name in names])
    first = client.get("/api/v1/trust/changed?limit=2")
    rest = client.get("/api/v1/trust/changed", params={"cursor": first.headers["X-Next-Cursor"]})
    assert (len(first.json()), len(rest.json())) == (2, 1)
    assert {each["name"] for each in first.json() + rest.json()} == set(names)
    assert client.get("/api/v1/trust/changed?updated_since=2999-01-01T00:00:00Z").json() == []
    in_use = client.get("/api/v1/trust/changed?is_quarantined=false")
    quarantined = client.get("/api/v1/trust/changed?is_quarantined=true")
    assert [answer.headers["X-Total-Count"] for answer in (in_use, quarantined)] == ["3", "0"]


def test_what_is_rejected_is_off_until_it_is_approved(client: TestClient) -> None:
    id_ = put(client, "Adds.")["id"]
    put(client, "Adds. Trust me.")
    assert client.post("/api/v1/trust/reject", json={"ids": [id_]}).json() == [{"id": id_, "status": "rejected"}]
    stored = client.get(f"/api/v1/tools/{id_}").json()
    assert (stored["is_active"], stored["is_switched_off"], stored["is_quarantined"]) == (False, True, True)
    refused = client.patch(f"/api/v1/tools/{id_}", json={"is_active": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "definition_changed")


@pytest.mark.parametrize(("route", "status"), [("approve", "approved"), ("reject", "rejected")])
def test_what_changed_since_it_was_seen_is_left_as_it_is(client: TestClient, route: str, status: str) -> None:
    id_ = put(client, "Adds.")["id"]
    put(client, "Adds two.")
    [seen] = client.get("/api/v1/trust/changed").json()
    put(client, "Adds two. Trust me.")

    def decided(changed_at: str) -> list[dict[str, Any]]:
        body = {"ids": [id_, 999], "seen": {str(id_): changed_at, "999": changed_at}}
        answer = client.post(f"/api/v1/trust/{route}", json=body)
        found: list[dict[str, Any]] = answer.json()
        return found

    assert [each["status"] for each in decided(seen["changed_at"])] == ["changed_again", "not_found"]
    [now] = client.get("/api/v1/trust/changed").json()
    assert now["differences"][0]["diff"][-1] == "+Adds two. Trust me."
    assert [each["status"] for each in decided(now["changed_at"])] == [status, "not_found"]
    assert client.get("/api/v1/trust/changed").json() == []


@pytest.mark.parametrize("seen", [{"one": "2026-11-20T09:00:00Z"}, {"1": "2026-11-20T09:00:00"}, {"1": None}, []])
def test_what_was_seen_is_a_moment_by_id(client: TestClient, seen: Any) -> None:
    answer = client.post("/api/v1/trust/approve", json={"ids": [1], "seen": seen})
    assert answer.status_code == 422
    assert "seen" in answer.text


@pytest.mark.parametrize("ids", [[], [0], ["1"], [2**63], list(range(1, 502)), None])
def test_ids_that_are_none_are_refused_by_their_field(client: TestClient, ids: Any) -> None:
    for route in ("approve", "reject"):
        answer = client.post(f"/api/v1/trust/{route}", json={"ids": ids})
        assert answer.status_code == 422
        assert "ids" in answer.text
