"""GIVEN sessions that are kept, WHEN others come, or time goes by, THEN their number and age stay bounded."""

from __future__ import annotations

from skillroute.calling.mcp_client.sessions import Sessions, Spoken, key_of
from skillroute.calling.model import Endpoint
from skillroute.core.outbound.credentials import Credentials

ENDPOINT = Endpoint("https://a.example/mcp")


def test_callers_and_transports_have_their_own() -> None:
    keys = {
        key_of(Endpoint(url, transport), Credentials({}, caller))
        for url in ("https://a.example/", "https://b.example/")
        for transport in ("streamable-http", "sse")
        for caller in ("", "anna")
    }
    assert len(keys) == 8


def test_a_session_ends_with_its_age() -> None:
    now = [0.0]
    sessions = Sessions(max_age_s=10.0, clock=lambda: now[0])
    key, spoken = key_of(ENDPOINT, Credentials()), Spoken("2025-11-25", "s")
    sessions.put(key, spoken)
    now[0] = 10.0
    assert sessions.get(key) is spoken
    now[0] = 10.1
    assert sessions.get(key) is None
    assert len(sessions) == 0


def test_the_session_that_was_not_used_for_longest_goes() -> None:
    sessions = Sessions(max_sessions=2)
    keys = [key_of(ENDPOINT, Credentials({}, str(number))) for number in range(3)]
    for key in keys[:2]:
        sessions.put(key, Spoken("2026-07-28"))
    sessions.get(keys[0])
    sessions.put(keys[2], Spoken("2026-07-28"))
    assert [sessions.get(key) is not None for key in keys] == [True, False, True]


def test_only_the_session_that_was_lost_is_dropped() -> None:
    sessions = Sessions()
    key, lost, new = key_of(ENDPOINT, Credentials()), Spoken("2025-11-25", "old"), Spoken("2025-11-25", "new")
    sessions.put(key, new)
    sessions.drop(key, lost)
    assert sessions.get(key) is new
    sessions.drop(key, new)
    assert sessions.get(key) is None
