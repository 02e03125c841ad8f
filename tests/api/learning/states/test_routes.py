"""What was learned, over HTTP: the answer, pages, the switch, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System

URL = "/api/v1/learning"
COMPARED = {
    "is_better": True,
    "reason": "nDCG@5 is higher",
    "before": {"ndcg@5": 0.5},
    "after": {"ndcg@5": 0.75},
    "differences": {"ndcg@5": {"mean": 0.25, "low": 0.125, "high": 0.375}},
}
REPORT = {
    "outcomes": 9, "counted": 8, "searches": 7, "callers": 3, "held_out": 20, "requests": 2, "tools": 2,
    "reason": "nDCG@5 is higher", "compared_with_live": COMPARED, "compared_with_none": COMPARED,
}  # fmt: skip


def learned(system: System, *tools: int, **given: Any) -> int:
    state = system.learned(*tools, **given)
    system.rows(
        "UPDATE mcp.learned_states SET report = cast(:report AS jsonb) WHERE id = :id",
        report=json.dumps(REPORT),
        id=state,
    )
    return state


def test_the_status_has_what_is_kept_and_each_state_with_its_measurement(client: TestClient, system: System) -> None:
    one, other = system.put("fly", "drive", server="travel")
    system.outcome(system.receipt("book a flight", one), "called", one)
    system.receipt("rent a car", other, caller="ben")
    live, bare = learned(system, one, other), system.learned(one, is_live=False)
    found = client.get(URL).json()
    assert found["use"] == {"searches": 2, "outcomes": 1, "callers": 2}
    assert found["receipts_days"] == 30
    assert [(each["id"], each["is_live"], each["requests"], each["tools"]) for each in found["states"]] == [
        (bare, False, 1, 1),
        (live, True, 2, 2),
    ]
    assert found["live"] == found["states"][1]
    assert {name: found["live"][name] for name in REPORT} == REPORT
    assert (found["states"][0]["reason"], found["states"][0]["compared_with_live"]) == (None, None)


def test_a_need_of_a_search_is_no_search_of_its_own(client: TestClient, system: System) -> None:
    search = system.receipt("first need")
    system.receipt("second need", search_id=search, nth=1)
    assert client.get(URL).json()["use"] == {"searches": 1, "outcomes": 0, "callers": 1}


def test_what_a_state_has_learned_is_answered_page_by_page(client: TestClient, system: System) -> None:
    one, other = system.put("fly", "drive", server="travel")
    state = system.learned(one, other)
    system.rows("UPDATE mcp.learned_requests SET words = '{book,flight}' WHERE tool_id = :id", id=one)
    first = client.get(f"{URL}/states/{state}/tools?limit=1")
    assert (first.headers["X-Total-Count"], first.headers["Link"]) == ("2", '<?offset=1&limit=1>; rel="next"')
    assert [each["name"] for each in first.json()] == ["drive"]
    assert client.get(f"{URL}/states/{state}/tools?offset=1").json() == [
        {
            "tool_id": one,
            "server": "travel",
            "name": "fly",
            "words": ["book", "flight"],
            "share": 0.5,
            "searches": 3,
            "callers": 3,
        }
    ]


def test_states_are_switched_and_switched_off(client: TestClient, system: System) -> None:
    [tool] = system.put("fly")
    older, newer = system.learned(tool, is_live=False), system.learned(tool)
    switched = client.put(f"{URL}/live", json={"state_id": older})
    assert (switched.status_code, switched.json()["live"]["id"]) == (200, older)
    assert [each["id"] for each in client.get(URL).json()["states"] if each["is_live"]] == [older]
    assert client.put(f"{URL}/live", json={"state_id": None}).json()["live"] is None
    missing = client.put(f"{URL}/live", json={"state_id": newer + 1})
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_what_is_switched_stays_until_it_may_go_on(client: TestClient, system: System) -> None:
    assert client.get(URL).json()["is_automatic"] is True
    assert client.put(f"{URL}/live", json={"state_id": None}).json()["is_automatic"] is False
    assert client.put(f"{URL}/live", json={"is_automatic": True}).json()["is_automatic"] is True


@pytest.mark.parametrize("body", [{}, {"is_automatic": False}, {"is_automatic": True, "state_id": None}])
def test_a_switch_has_a_state_or_goes_on_by_itself(client: TestClient, body: dict[str, Any]) -> None:
    refused = client.put(f"{URL}/live", json=body)
    assert refused.status_code == 422
    assert "state_id or is_automatic: true is needed" in refused.text


@pytest.mark.parametrize("body", [{"state_id": "1"}, {"state_id": 0}, {"state_id": 2**63}, {"state_id": True}])
def test_a_switch_to_what_is_no_id_is_refused_and_names_the_field(
    client: TestClient, system: System, body: dict[str, Any]
) -> None:
    [tool] = system.put("fly")
    live = system.learned(tool)
    refused = client.put(f"{URL}/live", json=body)
    assert (refused.status_code, refused.json()["detail"][0]["loc"][:2]) == (422, ["body", "state_id"])
    assert client.get(URL).json()["live"]["id"] == live
