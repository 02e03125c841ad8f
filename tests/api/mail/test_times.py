"""Messages say when they were written as RFC 3339 too, and can be written back with it."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from skillroute.mail.model import MAX_TS, moment_of

MESSAGE = {"key": "m1", "project": "atlas", "from": "BlueLake", "to": ["RedFox"], "subject": "Water"}


@pytest.mark.parametrize(
    ("created_ts", "created_at"),
    [
        (1_767_604_320_000_000, "2026-01-05T09:12:00Z"),
        (1, "1970-01-01T00:00:00.000001Z"),
        (-MAX_TS, "1684-07-28T00:12:25.259008Z"),
        (MAX_TS, "2255-06-05T23:47:34.740992Z"),
    ],
)
def test_the_same_moment_in_both_fields_and_nothing_changes_when_it_is_put_back(
    client: TestClient, created_ts: int, created_at: str
) -> None:
    client.put("/api/v1/mail/projects", json=[{"key": "atlas", "name": "Atlas"}])
    [written] = client.put("/api/v1/mail/messages", json=[MESSAGE | {"created_ts": created_ts}]).json()["results"]
    read = client.get(f"/api/v1/mail/messages/{written['id']}").json()
    assert (read["created_ts"], read["created_at"]) == (created_ts, created_at)
    [again] = client.put("/api/v1/mail/messages", json=[read]).json()["results"]
    assert (again["status"], again["warnings"]) == ("unchanged", [])


def test_every_moment_that_a_message_may_have_is_a_date() -> None:
    assert moment_of(-MAX_TS) < moment_of(0) < moment_of(MAX_TS)
