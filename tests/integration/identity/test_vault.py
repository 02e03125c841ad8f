"""No token, code, verifier or secret in a log, an answer, an error, a `repr`, or in any column in clear."""

from __future__ import annotations

import logging
import traceback

import pytest
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.outbound.credentials import LoginNeeded

from tests.integration.identity.conftest import REDIRECT, Door, person

ANN = person("ann")


def dump(door: Door) -> str:
    """Return every row of every table as text; bytes as hexadecimal digits, and as Latin-1."""
    tables = [name for [name] in door.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'mcp'")]
    assert {"person_tokens", "login_attempts", "server_identities"} <= set(tables)
    rows = [str(row) for table in tables for row in door.sql(f"SELECT t::text FROM mcp.{table} t")]
    sealed = ("person_tokens.tokens", "login_attempts.sealed", "server_identities.client")
    for place in sealed:
        table, column = place.split(".")
        for [value] in door.sql(f"SELECT {column} FROM mcp.{table} WHERE {column} IS NOT NULL"):
            rows.append(bytes(value).decode("latin-1"))
    return "\n".join(rows)


def test_no_token_is_anywhere_in_clear(
    door: Door, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    provider, shown = door.sso.provider, []
    server = door.server()
    begun = door.logins.begin(server.id, ANN, REDIRECT)
    shown += [dump(door)]
    came = door.browse(begun.url)
    shown += [repr(door.finish(came)), repr(door.finish(came)), dump(door)]
    credentials = door.identities.credentials(server, ANN, None)
    provider.access.clear()
    renewed = door.identities.renewed(server, ANN, credentials, None)
    shown += [repr(credentials), repr(renewed), renewed.session_key, repr(door.logins.list(ANN, limit=9, offset=0))]
    kept = door.tokens.current(server, door_person(door))
    shown += [repr(kept), repr(door.vault), repr(door.manage.get(server.id, ANN)), dump(door)]
    provider.access.clear()
    provider.refresh.clear()
    for failing in (
        lambda: door.identities.renewed(server, ANN, renewed, None),
        lambda: door.identities.credentials(server, ANN, None),
        lambda: door.logins.end(server.id, ANN),
    ):
        with pytest.raises((LoginNeeded, SkillrouteError)) as raised:
            failing()
        shown += [repr(raised.value), str(raised.value), "".join(traceback.format_exception(raised.value))]
    # What the test itself asked, and the other side's own log, are not Skillroute's.
    logged = [
        f"{record.getMessage()} {vars(record)}" for record in caplog.records if record.name.startswith("skillroute")
    ]
    logged += [capsys.readouterr().out, capsys.readouterr().err]
    secrets = [*provider.seen, *(token for token in came.values())]
    assert len(provider.seen) >= 6
    for secret in secrets:
        assert [text for text in [*shown, *logged] if secret in text or secret.encode().hex() in text] == []


def test_the_search_for_tokens_would_find_one(door: Door) -> None:
    """So that the test above can fail: in text, and in bytes."""
    server = door.server()
    door.log_in(server, ANN)
    door.sql("UPDATE mcp.person_tokens SET tokens = 'access-in-clear'::bytea")
    assert "access-in-clear" in dump(door)
    door.sql("UPDATE mcp.person_tokens SET scopes = '{refresh-in-clear}'")
    assert "refresh-in-clear" in dump(door)


def door_person(door: Door):  # type: ignore[no-untyped-def]
    found = door.identities._persons.of(ANN)
    assert found is not None
    return found
