"""Tokens that expire, in time and in the middle of a call; refresh tokens that are good once, wanted by several."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from skillroute.core.errors.model import SecretUnavailable
from skillroute.core.outbound.credentials import LoginNeeded
from skillroute.core.postgres.database import Database
from skillroute.identity.oauth.web import AuthorizationServerUnavailable

from tests.integration.identity.conftest import Door, person

ANN = person("ann")


def test_a_token_is_refreshed_before_it_expires_on_the_way(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    first = door.identities.credentials(server, ANN, None)
    door.clock.pass_(3600 - 31)
    assert door.identities.credentials(server, ANN, None) == first
    door.clock.pass_(2)
    second = door.identities.credentials(server, ANN, None)
    assert (second.headers != first.headers, second.session_key) == (True, first.session_key)
    assert door.call(server, second).json() == {"person": "ann"}
    assert door.sso.provider.refreshes == 1
    [login] = door.logins.list(ANN, limit=1, offset=0)[0]
    assert login.refreshed_at is not None
    assert login.expires_at is not None and login.expires_at > door.clock()


def test_a_token_that_ends_in_the_middle_of_a_call_is_renewed(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    before = door.identities.credentials(server, ANN, None)
    door.sso.provider.access.clear()
    refused = door.call(server, before)
    assert refused.status_code == 401
    after = door.identities.renewed(server, ANN, before, refused.headers["www-authenticate"])
    assert door.call(server, after).json() == {"person": "ann"}


def test_of_several_calls_that_were_refused_at_once_one_refreshes_in_each_process(
    door: Door, database: Database, key: Path
) -> None:
    """Two environments: what one has renewed the other takes, and no refresh token is spent twice."""
    server = door.server()
    door.log_in(server, ANN)
    other = Door(database, door.sql, door.sso, key, door.clock)
    before = door.identities.credentials(server, ANN, None)
    door.sso.provider.access.clear()
    begin = threading.Barrier(6)

    def renewed(at: Door) -> str:
        begin.wait()
        return at.identities.renewed(server, ANN, before, None).headers["Authorization"]

    with ThreadPoolExecutor(6) as threads:
        found = set(threads.map(renewed, [door, other] * 3))
    assert (len(found), door.sso.provider.refreshes, door.sso.provider.reused) == (1, 1, 0)


def test_a_transaction_that_runs_again_does_not_spend_a_token_again(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = door.server()
    door.log_in(server, ANN)
    before = door.identities.credentials(server, ANN, None)
    transact = door.database.transact

    def twice(work):  # type: ignore[no-untyped-def]
        def undone(session):  # type: ignore[no-untyped-def]
            work(session)
            raise LookupError

        with suppress(LookupError):
            transact(undone)
        return transact(work)

    monkeypatch.setattr(door.database, "transact", twice)
    after = door.identities.renewed(server, ANN, before, None)
    assert door.call(server, after).status_code == 200
    assert (door.sso.provider.refreshes, door.sso.provider.reused) == (1, 0)


def test_a_login_that_was_ended_elsewhere_is_forgotten(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    before = door.identities.credentials(server, ANN, None)
    door.sso.provider.access.clear()
    door.sso.provider.refresh.clear()
    with pytest.raises(LoginNeeded, match="has ended: log in"):
        door.identities.renewed(server, ANN, before, None)
    assert door.sql("SELECT count(*) FROM mcp.person_tokens") == [[0]]


def test_a_login_outlives_an_authorization_server_that_is_away(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    before = door.identities.credentials(server, ANN, None)

    def away() -> httpx.AsyncClient:
        def refuse(request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("no route", request=request)

        return httpx.AsyncClient(transport=httpx.MockTransport(refuse))

    there, door.web._client = door.web._client, away
    with pytest.raises(AuthorizationServerUnavailable):
        door.identities.renewed(server, ANN, before, None)
    door.web._client = there
    assert door.call(server, door.identities.renewed(server, ANN, before, None)).status_code == 200


def test_a_scope_that_is_missing_is_asked_for_by_name(door: Door) -> None:
    server, more = door.server(scopes=["read"]), door.server("mcp/write")
    door.log_in(server, ANN)
    held = door.identities.credentials(server, ANN, None)
    refused = door.call(more, held)
    assert refused.status_code == 403
    challenge = f'{refused.headers["www-authenticate"]}, scope="write"'
    with pytest.raises(LoginNeeded, match="for the scopes write") as needed:
        door.identities.renewed(server, ANN, held, challenge)
    assert needed.value.scopes == ("write",)
    door.log_in(server, ANN, needed.value.scopes)
    assert door.call(more, door.identities.credentials(server, ANN, None)).status_code == 200
    assert door.logins.list(ANN, limit=1, offset=0)[0][0].scopes == ("read", "write")


def test_tokens_go_to_the_address_that_they_were_made_for_and_to_no_other(door: Door) -> None:
    server = door.server()
    door.log_in(server, ANN)
    for url in ("https://evil.test/mcp", f"{door.sso.origin}/other", f"{door.sso.origin}.evil.test/mcp"):
        moved = type(server)(server.id, server.org_id, server.name, url)
        with pytest.raises(LoginNeeded, match="changed since"):
            door.identities.credentials(moved, ANN, None)


def test_a_row_that_is_copied_to_another_person_opens_nothing(door: Door) -> None:
    server, ben = door.server(), person("ben")
    door.log_in(server, ANN)
    door.sql(
        "INSERT INTO mcp.person_tokens (server_id, org_id, person, tokens, expires_at) "
        "SELECT server_id, org_id, 'ben', tokens, expires_at FROM mcp.person_tokens"
    )
    with pytest.raises(SecretUnavailable, match="not the one it was encrypted with"):
        door.identities.credentials(server, ben, None)
