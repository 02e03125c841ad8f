"""Agent mail over HTTP with tokens: in whose name it is written, acknowledged and deleted (decision 31)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.routes import fill
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system


@pytest.fixture
def system(database_url: str, edge_indexes: Any) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system:
        yield system


@pytest.fixture
def client(system: System) -> TestClient:
    return TestClient(app_over(system), raise_server_exceptions=False)


def as_agent(agent: str | None, scope: str = "search catalog") -> dict[str, str]:
    """Return the header of a token of acme that names an agent."""
    return bearer(OURS.sign(claims(scope, "acme", agent=agent)))


def test_a_forged_message_is_a_failed_item_of_a_call_that_is_answered(system: System, client: TestClient) -> None:
    """Decision 31: a bulk route reports the refusal with the item, also when it refuses all."""
    fill(system, "acme")
    message = {"project": "garden", "to": ["planner"], "subject": "Water"}
    body = {"messages": [{"key": "a", "from": "planner"} | message, {"key": "b", "from": "Gardener"} | message]}
    for things in (body["messages"], body["messages"][:1]):
        answer = client.put("/api/v1/mail/messages", json=things, headers=as_agent("gardener"))
        assert answer.status_code == 200
        forged = answer.json()["results"][0]
        assert (forged["status"], forged["id"]) == ("failed", None)
        assert forged["error"] == {"field": "from", "message": "must be the agent that the token names"}
    assert client.get("/api/v1/mail/messages?key=a", headers=as_agent(None, "admin")).json() == []
    refused = client.put("/api/v1/mail/messages", json=body, headers=as_agent(None))
    assert [each["error"]["field"] for each in refused.json()["results"]] == ["from", "from"]


def test_acknowledging_and_deleting_for_another_agent_is_forbidden(system: System, client: TestClient) -> None:
    """Decision 31."""
    ids = fill(system, "acme")
    planner = {"agents": [{"name": "planner", "projects": ["garden"]}]}
    client.put("/api/v1/mail/agents", json=planner, headers=as_agent(None, "admin"))
    url = f"/api/v1/mail/messages/{ids['message']}"
    refused = [
        client.post(f"{url}/acknowledge", json={"agent": "planner"}, headers=as_agent("gardener")),
        client.delete(url, headers=as_agent("planner")),
        client.delete(f"/api/v1/mail/agents/{ids['mail_agent']}", headers=as_agent("planner")),
        client.delete(f"/api/v1/mail/projects/{ids['project']}", headers=as_agent("planner")),
    ]
    assert [each.status_code for each in refused] == [403] * 4
    # AND no other scope would do, so none is asked for
    assert not any("www-authenticate" in each.headers for each in refused)
    acknowledged = client.post(f"{url}/acknowledge", json={"agent": "Planner"}, headers=as_agent("planner"))
    assert list(acknowledged.json()["acknowledged"]) == ["planner"]
    assert client.delete(url, headers=as_agent("GARDENER")).status_code == 204
