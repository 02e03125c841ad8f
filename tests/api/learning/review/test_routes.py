"""What people look at of use over HTTP: pages, cursors, what is refused, and what is deleted."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.listing import Cursor

from tests.builders import System

URL = "/api/v1/learning"
EAST = [1.0, 0.0]


def test_requests_that_found_nothing_are_answered_with_the_nearest_tools(client: TestClient, system: System) -> None:
    [tool] = system.put("fly", server="travel")
    system.receipt("book a flight", tool, no_match=True, vector=EAST)
    system.receipt("a seat on a plane", no_match=True, vector=EAST, caller="ben", days_ago=1)
    system.receipt("long ago", no_match=True, days_ago=8)
    response = client.get(f"{URL}/unserved?days=7")
    assert (response.status_code, response.headers["X-Total-Count"]) == (200, "1")
    [group] = response.json()
    assert group.pop("last_at").endswith("Z")
    assert [(each["query"], each["searches"], each["callers"]) for each in group.pop("asked")] == [
        ("book a flight", 1, 1),
        ("a seat on a plane", 1, 1),
    ]
    assert group == {
        "query": "book a flight",
        "wordings": ["a seat on a plane"],
        "searches": 2,
        "callers": 2,
        "tools": [{"id": tool, "server": "travel", "name": "fly"}],
    }


def test_judged_requests_are_answered_as_evaluations_read_them(client: TestClient, system: System) -> None:
    [tool] = system.put("fly", server="travel")
    system.outcome(system.receipt("book a flight", tool), "called", tool)
    system.outcome(system.receipt("mow the lawn", tool), "nothing_fits")
    first = client.get(f"{URL}/judged?limit=1")
    assert (first.headers["X-Total-Count"], first.headers["Link"]) == ("2", '<?offset=1&limit=1>; rel="next"')
    [one], [other] = first.json(), client.get(f"{URL}/judged?limit=1&offset=1").json()
    assert (one["query"], one["needs"], one["source"]) == ("book a flight", [["travel/fly"]], "use")
    assert (other["query"], other["needs"], other["searches"]) == ("mow the lawn", [], 1)


def test_receipts_are_exported_page_by_page(client: TestClient, system: System) -> None:
    [tool] = system.put("fly")
    search = system.receipt("book a flight", tool, days_ago=2, vector=EAST)
    system.outcome(search, "called", tool)
    for need in range(2):
        system.receipt(f"need {need}", search_id=search, nth=need + 1, days_ago=1)
    system.receipt("another", caller="ben")
    response, texts = client.get(f"{URL}/receipts?caller=ann&limit=2"), list[str]()
    [first, _] = response.json()
    assert response.headers["X-Total-Count"] == "3"
    assert {name: first[name] for name in ("search_id", "nth", "door", "no_match", "may_teach")} == {
        "search_id": str(search),
        "nth": 0,
        "door": "http",
        "no_match": False,
        "may_teach": True,
    }
    assert first["shown"] == [{"tool_id": tool, "content_hash": "0" * 64, "probability": 0.5}]
    assert [(each["tool_id"], each["outcome"]) for each in first["outcomes"]] == [(tool, "called")]
    assert "vector" not in first and first["model"] == "test (2 dimensions)"
    while True:
        texts += [each["query"] for each in response.json()]
        if "Link" not in response.headers:
            break
        query = response.headers["Link"].partition("<?")[2].partition(">")[0]
        response = client.get(f"{URL}/receipts?{query}")
    assert texts == ["book a flight", "need 0", "need 1"]
    assert "X-Next-Cursor" not in response.headers


@pytest.mark.parametrize(
    "cursor",
    [
        "nonsense",
        Cursor("id", 7).encoded(),
        *(
            Cursor("asked_at", id_, value).encoded()
            for id_, value in (("no uuid:0", "2026"), ("7:0", None), ("a" * 32 + ":x", None))
        ),
    ],
)
def test_a_cursor_of_another_list_is_refused(client: TestClient, cursor: str) -> None:
    response = client.get(f"{URL}/receipts", params={"cursor": cursor})
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["query", "cursor"])


def test_a_cursor_whose_id_is_none_of_receipts_is_refused(client: TestClient, system: System) -> None:
    system.receipt("first", days_ago=1)
    system.receipt("second")
    good = client.get(f"{URL}/receipts?limit=1").headers["X-Next-Cursor"]
    cursor = Cursor.decoded(good, "asked_at", str)
    for id_ in ("", "7", "7:0", f"{str(cursor.id)[:-1]}99999", f"{str(cursor.id)[:-1]}-1"):
        bad = Cursor("asked_at", id_, cursor.value).encoded()
        assert client.get(f"{URL}/receipts", params={"cursor": bad}).status_code == 422, id_


def test_the_receipts_of_a_caller_are_deleted_and_a_name_must_be_given(client: TestClient, system: System) -> None:
    [tool] = system.put("fly")
    system.outcome(system.receipt("book a flight", tool), "called", tool)
    system.receipt("another", caller="ben")
    for wanting in ("", "?caller=", "?caller=%00"):
        response = client.delete(f"{URL}/receipts{wanting}")
        assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["query", "caller"])
    assert client.delete(f"{URL}/receipts?caller=ann").json() == {"receipts": 1, "outcomes": 1, "requests": 0}
    assert [each["query"] for each in client.get(f"{URL}/receipts").json()] == ["another"]


def test_what_was_learned_of_a_tool_is_forgotten(client: TestClient, system: System) -> None:
    [tool] = system.put("fly")
    system.learned(tool)
    system.outcome(system.receipt("book a flight", tool), "called", tool)
    answer: dict[str, Any] = client.delete(f"{URL}/tools/{tool}").json()
    assert answer == {"requests": 1, "pairs": 0, "states": 1, "outcomes": 1}
    missing = client.delete(f"{URL}/tools/999")
    assert (missing.status_code, missing.json()["code"]) == (404, "item_not_found")
