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


@pytest.mark.parametrize("ids", [[], [0], ["1"], [2**63], list(range(1, 502)), None])
def test_ids_that_are_none_are_refused_by_their_field(client: TestClient, ids: Any) -> None:
    for route in ("approve", "reject"):
        answer = client.post(f"/api/v1/trust/{route}", json={"ids": ids})
        assert answer.status_code == 422
        assert "ids" in answer.text
