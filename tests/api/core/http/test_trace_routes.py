"""The trace over HTTP: one's own organisation, filters, and what follows an event."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.observability import counts

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes

URL = "/api/v1/trace"


@pytest.fixture
def trace() -> str:
    return "on"


@pytest.fixture
def tracing(database_url: str, edge_indexes: EdgeIndexes, trace: str) -> Iterator[System]:
    settings = {**JWT, "jwt_keys": KEYS, "trace": trace}
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **settings) as system:
        yield system


@pytest.fixture
def door(tracing: System) -> TestClient:
    return TestClient(app_over(tracing), raise_server_exceptions=False)


def token(scope: str = "admin", org: str | None = "acme", **others: str) -> list[tuple[str, str]]:
    return bearer(OURS.sign(claims(scope, org, **others)))


def write(door: TestClient, name: str, org: str | None = "acme", **others: str) -> None:
    body = {"items": [{"name": name, "description": "A tool."}]}
    assert door.put("/api/v1/tools", json=body, headers=token("catalog", org, **others)).status_code == 200


def test_an_administrator_sees_the_events_of_the_own_organisation_alone(door: TestClient) -> None:
    write(door, "a", "acme", sub="ann")
    write(door, "b", "globex", sub="eve")
    write(door, "c", None, sub="operator")
    for org, actor in (("acme", "ann"), ("globex", "eve"), (None, "operator")):
        found = door.get(URL, headers=token(org=org)).json()
        assert [event["actor"] for event in found] == [actor]
    assert door.get(f"{URL}?actor=eve", headers=token()).json() == []
    assert door.get(URL, headers=token("search catalog skills")).status_code == 403


def test_an_event_has_all_that_is_kept_of_it(door: TestClient) -> None:
    write(door, "a")
    [event] = door.get(URL, headers=token()).json()
    assert event.pop("took_ms") > 0
    assert event["at"].endswith("Z") and event["bytes_in"] > 0 and len(event["request_id"]) == 32
    for name in ("id", "at", "bytes_in", "bytes_out", "request_id"):
        del event[name]
    assert event == {
        "kind": "change", "outcome": "ok", "code": None, "actor": "ann", "agent": "gardener",
        "roles": ["scope:catalog"], "door": "http", "what": "PUT /api/v1/tools", "targets": {}, "search_id": None,
        "trace_id": None, "arguments": None,
    }  # fmt: skip


def test_filters_and_what_follows_an_event(door: TestClient, tracing: System) -> None:
    for name in "ab":
        write(door, name)
    door.post("/api/v1/search", json={"query": "a tool"}, headers=token("search"))
    door.get("/api/v1/export", headers=token("search", sub="ben"))
    assert tracing.parts.tracing.events is not None and tracing.parts.tracing.events.flush()

    def kinds(query: str = "") -> list[str]:
        answer = door.get(f"{URL}?{query}", headers=token())
        assert answer.status_code == 200, answer.text
        return [event["kind"] for event in answer.json()]

    assert kinds() == ["refusal", "search", "change", "change"]
    assert kinds("kind=search") == ["search"]
    assert kinds("outcome=refused") == kinds("actor=ben") == ["refusal"]
    assert kinds("limit=1") == ["refusal"]
    *_, first = door.get(URL, headers=token()).json()
    assert kinds(f"after={first['at']},{first['id']}") == ["change", "search", "refusal"]
    assert kinds(f"after={first['at']},{first['id']}&limit=1&kind=search") == ["search"]
    assert kinds(f"until={first['at']}") == []
    assert len(kinds(f"since={first['at']}")) == 4


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("after=nonsense", "after"),
        ("after=2026-01-31T12:00:00Z,7", "after"),
        ("after=2026-99-31T12:00:00Z,00000000-0000-0000-0000-000000000000", "after"),
        ("after=,", "after"),
        ("since=yesterday", "since"),
        ("until=2026-01-31", "until"),
        ("kind=rumour", "kind"),
        ("outcome=good", "outcome"),
        ("limit=501", "limit"),
        ("limit=0", "limit"),
        ("actor=", "actor"),
    ],
)
def test_what_cannot_be_asked_is_named(door: TestClient, query: str, name: str) -> None:
    answer = door.get(f"{URL}?{query}", headers=token())
    assert (answer.status_code, [each["loc"] for each in answer.json()["detail"]]) == (422, [["query", name]])


@pytest.mark.parametrize("trace", ["on", "off"])
def test_searches_that_are_refused_are_counted_and_answered_ones_are_not(door: TestClient) -> None:
    def refused() -> float:
        return counts().get("SearchRefused", 0)

    before = refused()
    search = {"query": "water the plants"}
    assert door.post("/api/v1/search", json=search, headers=token("search")).status_code == 200
    assert door.get("/api/v1/tools", headers=token("skills")).status_code == 403
    assert refused() == before
    assert door.post("/api/v1/search", json=search, headers=token("catalog")).status_code == 403
    assert refused() == before + 1
