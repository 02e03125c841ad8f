"""Reporting outcomes over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import Caller, Scope
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import InvalidInput
from skillroute.learning.model import caller_hash
from skillroute.learning.outcomes.report import MAX_OUTCOMES, Reported

from tests.api.one_app import app_over
from tests.api.routes import SEARCH_ID
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes

ONE = "/api/v1/feedback"
SEARCH = UUID(SEARCH_ID)
MANY = "/api/v1/feedback/batch"
CALLED = {"search_id": SEARCH_ID, "tool_id": 1, "outcome": "called"}
_STORED = "SELECT tool_id, outcome, source, org_id, may_teach FROM mcp.outcomes ORDER BY id"


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), receipts="on") as system:
        yield system


def test_an_outcome_is_stored_before_there_is_a_receipt(client: TestClient, system: System) -> None:
    response = client.post(ONE, json=CALLED)
    assert (response.status_code, response.json()) == (200, {"kept": True})
    assert client.post(ONE, json={**CALLED, "tool_id": "2", "source": "person"}).json() == {"kept": True}
    assert system.rows(_STORED) == [[1, "called", "program", None, True], [2, "called", "person", None, True]]


def test_what_is_wrong_is_refused_by_the_name_of_its_field(shared_client: TestClient) -> None:
    response = shared_client.post(ONE, json={"search_id": SEARCH_ID, "outcome": "wrong"})
    assert response.status_code == 422
    assert "tool_id" in response.text
    assert "take tool_id or id of the search result" in response.text


def test_each_of_many_is_judged_on_its_own(client: TestClient, system: System) -> None:
    nothing = {"search_id": SEARCH_ID, "outcome": "nothing_fits"}
    answer = client.post(MANY, json={"outcomes": [CALLED, {**CALLED, "tool_id": None}, nothing]}).json()
    assert (answer["kept"], answer["accepted"], answer["failed"]) == (True, 2, 1)
    assert [result["status"] for result in answer["results"]] == ["accepted", "failed", "accepted"]
    assert answer["results"][1]["error"]["detail"].startswith("tool_id: is required")
    assert [row[:2] for row in system.rows(_STORED)] == [[1, "called"], [None, "nothing_fits"]]
    # AND a bare list does as well
    assert client.post(MANY, json=[CALLED]).json()["accepted"] == 1


@pytest.mark.parametrize("body", [{}, [], {"outcomes": [CALLED] * (MAX_OUTCOMES + 1)}])
def test_a_call_has_one_outcome_at_least_and_500_at_most(shared_client: TestClient, body: Any) -> None:
    assert shared_client.post(MANY, json=body).status_code == 422


def test_nothing_is_stored_where_all_are_wrong(client: TestClient, system: System) -> None:
    answer = client.post(MANY, json=["no outcome"]).json()
    assert (answer["kept"], answer["accepted"], answer["failed"]) == (True, 0, 1)
    assert system.rows(_STORED) == []


def test_the_answer_is_the_same_for_a_search_of_another_organisation(client: TestClient, system: System) -> None:
    system.sql(
        "INSERT INTO mcp.receipts (search_id, nth, org_id, may_teach, door, query_hash, shown, no_match) "
        f"VALUES ('{SEARCH_ID}', 0, 'globex', true, 'http', 'h', '[]', false)"
    )
    unknown = {**CALLED, "search_id": "00000000-0000-4000-8000-000000000000"}
    of_other, of_none = client.post(ONE, json=CALLED), client.post(ONE, json=unknown)
    assert of_other.status_code == 200
    assert (of_other.status_code, of_other.content) == (of_none.status_code, of_none.content)


def test_the_organisation_and_the_caller_are_those_of_the_token(system: System) -> None:
    report = system.parts.learning.report
    ann = Caller("acme", frozenset({Scope.SEARCH}), name="ann")
    visitor = Caller(None, frozenset({Scope.SEARCH}))
    for caller in (ann, visitor):
        assert report([Reported(SEARCH, "called", 1)], caller)
    stored = system.rows("SELECT org_id, caller, may_teach FROM mcp.outcomes ORDER BY id")
    # Members teach their organisation; of callers without one only operators do, unless the deployment says otherwise.
    assert stored == [["acme", caller_hash(ann), True], [None, None, False]]


def test_a_database_that_is_away_is_said(client: TestClient, system: System) -> None:
    system.database.down = True
    response = client.post(ONE, json=CALLED)
    assert (response.status_code, response.json()["code"]) == (503, "database_unavailable")


def test_more_than_a_call_may_have_are_refused_by_the_use_case_too(system: System) -> None:
    with pytest.raises(InvalidInput, match="at most 500"):
        system.parts.learning.report([Reported(SEARCH, "called", 1)] * (MAX_OUTCOMES + 1), Caller("acme"))


@pytest.fixture
def off(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), receipts="off") as system:
        yield system


def test_without_receipts_nothing_is_stored_and_the_answer_says_so(off: System) -> None:
    client = TestClient(app_over(off), raise_server_exceptions=False)
    assert client.post(ONE, json=CALLED).json() == {"kept": False}
    answer = client.post(MANY, json=[CALLED, {}]).json()
    assert (answer["kept"], answer["accepted"], answer["failed"]) == (False, 1, 1)
    assert off.rows(_STORED) == []
