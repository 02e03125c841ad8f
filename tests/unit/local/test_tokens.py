"""`skillroute token`, and the caller that its tokens become, by the settings of whoever reads them."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from fastapi import Request
from skillroute.core.caller import Caller, Scope
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.cli import app
from skillroute_local.home import Home
from skillroute_local.tokens import LOCAL_AUDIENCE, LOCAL_ISSUER, TokenKey
from typer.testing import CliRunner


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    for name in (
        "ISSUER",
        "AUDIENCE",
        "SCOPE_PREFIX",
        "ORG_CLAIM",
        "AGENT_CLAIM",
        "ROLES_CLAIM",
        "GROUPS_CLAIM",
        "REQUIRE_ORG",
    ):
        monkeypatch.delenv(f"SKILLROUTE_JWT_{name}", raising=False)
    monkeypatch.setenv("SKILLROUTE_HOME", str(tmp_path))
    return Home.from_environment()


def caller(home: Home, *arguments: str, **settings: str) -> Caller:
    """Return whom a token speaks of to a Skillroute with these settings."""
    made = CliRunner().invoke(app, ["token", *arguments])
    assert made.exit_code == 0, made.output
    known = {"jwt_issuer": LOCAL_ISSUER, "jwt_audience": LOCAL_AUDIENCE, "jwt_keys": TokenKey.of(home).key_set()}
    parts = Parts(LocalSettings(database_url="postgresql://u:p@127.0.0.1:1/d", auth="jwt", **known, **settings))  # type: ignore[arg-type]
    parts.access.rights_of = None  # the claims alone are of interest, without a database
    headers = [(b"authorization", f"Bearer {made.stdout.strip()}".encode())]
    request = Request({"type": "http", "headers": headers, "state": {}})
    # Not asyncio.run: that takes away the thread's own loop, which Mangum makes in other tests and keeps.
    with closing(parts), closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(parts.access.require(Scope.SEARCH)(request))


def test_an_agent_that_is_named_is_who_the_token_speaks_for(home: Home) -> None:
    made = caller(home, "--agent", "BlueLake", "--org", "acme")
    expected = Caller(
        org_id="acme", scopes=frozenset({Scope.SEARCH}), name="somebody", agent="BlueLake", is_person=True
    )
    assert made == expected


def test_without_one_it_speaks_for_none(home: Home) -> None:
    assert caller(home, "--org", "acme").agent is None


def test_the_claim_is_called_as_both_sides_say(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLROUTE_JWT_AGENT_CLAIM", "mail_agent")
    assert caller(home, "--agent", "BlueLake", "--org", "acme", jwt_agent_claim="mail_agent").agent == "BlueLake"
    assert caller(home, "--agent", "BlueLake", "--org", "acme", jwt_agent_claim="agent").agent is None


def test_roles_and_groups_are_in_the_claims_that_the_settings_name(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLROUTE_JWT_GROUPS_CLAIM", "cognito:groups")
    named = ("--role", "analyst", "--role", "boss", "--group", "eng", "--org", "acme")
    made = caller(home, *named, jwt_groups_claim="cognito:groups")
    assert (made.roles, made.groups) == (frozenset({"analyst", "boss"}), frozenset({"eng"}))
