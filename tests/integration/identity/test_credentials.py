"""Secrets and callers' own tokens: who gets which, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Forbidden, NotFound, SecretUnavailable
from skillroute.core.outbound.credentials import Credentials, LoginNeeded

from tests.integration.identity.conftest import OPERATOR, Door, person

ANN = person("ann")
WRITER = Caller("acme", frozenset({Scope.CATALOG}), "root")


def token(**claims: Any) -> str:
    return jwt.encode({"sub": "ann", **claims}, "k" * 32, algorithm="HS256")


def secret_file(tmp_path: Path, text: str, mode: int = 0o600) -> str:
    path = tmp_path / "secret"
    path.write_text(text)
    path.chmod(mode)
    return f"file:{path}"


def test_a_server_without_an_identity_needs_no_credentials(door: Door) -> None:
    server = door.server(kind="none")
    assert dict(door.identities.credentials(server, ANN, "t").headers) == {}


def test_a_secret_stands_in_its_header_behind_its_prefix(door: Door, tmp_path: Path) -> None:
    place = secret_file(tmp_path, "hunter2\n")
    server = door.server(kind="secret", header="X-Api-Key", prefix="Key ", secret=place)
    found = door.identities.credentials(server, ANN, None)
    assert dict(found.headers) == {"X-Api-Key": "Key hunter2"}
    assert "hunter2" not in repr(found)
    assert found.session_key != door.identities.credentials(server, person("ann", "globex"), None).session_key


@pytest.mark.parametrize("kind", ["none", "secret"])
def test_callers_share_no_session_at_a_server(door: Door, tmp_path: Path, kind: str) -> None:
    settings = {"secret": secret_file(tmp_path, "hunter2")} if kind == "secret" else {}
    server = door.server(kind=kind, **settings)
    callers = [ANN, person("ben"), person("ann", "globex"), replace(ANN, agent="a"), person(None)]
    keys = [door.identities.credentials(server, each, None).session_key for each in callers]
    assert len({*keys, door.identities.credentials(server, person(None), "t").session_key}) == 6
    assert door.identities.credentials(server, ANN, None).session_key == keys[0]


@pytest.mark.parametrize("kind", ["none", "secret", "caller_token", "oauth"])
def test_a_lack_of_scopes_is_named_whatever_the_kind(door: Door, tmp_path: Path, kind: str) -> None:
    settings = {"secret": {"secret": secret_file(tmp_path, "x")}, "caller_token": {"audiences": ["a"]}}.get(kind, {})
    challenge = 'Bearer error="insufficient_scope", scope="write"'
    with pytest.raises(LoginNeeded, match="not allow") as needed:
        door.identities.renewed(door.server(kind=kind, **settings), ANN, Credentials(), challenge)
    assert needed.value.scopes == ("write",)


def test_a_secret_that_was_refused_is_read_again_and_a_changed_one_is_taken(door: Door, tmp_path: Path) -> None:
    server = door.server(kind="secret", header="X-Api-Key", prefix="", secret=secret_file(tmp_path, "old"))
    before = door.identities.credentials(server, ANN, None)
    with pytest.raises(LoginNeeded, match="have it changed"):
        door.identities.renewed(server, ANN, before, None)
    secret_file(tmp_path, "new")
    assert dict(door.identities.renewed(server, ANN, before, None).headers) == {"X-Api-Key": "new"}


def test_a_file_that_others_may_read_is_refused_with_the_remedy(door: Door, tmp_path: Path) -> None:
    server = door.server(kind="secret", secret=secret_file(tmp_path, "hunter2", 0o640))
    with pytest.raises(SecretUnavailable, match="chmod 600"):
        door.identities.credentials(server, ANN, None)


def test_a_secret_goes_to_the_address_that_it_was_set_for(door: Door, tmp_path: Path) -> None:
    server = door.server(kind="secret", secret=secret_file(tmp_path, "hunter2"))
    moved = type(server)(server.id, None, server.name, "https://evil.test/mcp")
    with pytest.raises(LoginNeeded, match="set it again"):
        door.identities.credentials(moved, ANN, None)


def test_the_callers_own_token_is_passed_on_where_it_is_meant_for_the_server(door: Door) -> None:
    server = door.server(kind="caller_token", audiences=["https://notes.test"])
    meant = token(aud=["https://us.test", "https://notes.test"])
    assert dict(door.identities.credentials(server, ANN, meant).headers) == {"Authorization": f"Bearer {meant}"}
    for other in (token(aud="https://us.test"), token(), "opaque", "a.b.c", None):
        with pytest.raises(LoginNeeded, match="takes the caller's own token"):
            door.identities.credentials(server, ANN, other)


@pytest.mark.parametrize("audience", ["https://us.test", "https://notes.test"])
def test_callers_tokens_are_passed_on_where_scope_admin_says_so(door: Door, audience: str) -> None:
    """Each token is good here whatever else it names: who writes servers would collect those of colleagues."""
    server, settings = door.server(org="acme", kind="none"), {"audiences": [audience]}
    with pytest.raises(Forbidden, match=r"takes scope admin: .* act here in their callers' name") as refused:
        door.manage.put(server.id, WRITER, "caller_token", settings)
    assert refused.value.code is ErrorCode.OPERATOR_ONLY
    assert door.manage.get(server.id, WRITER).kind == "none"
    chief = Caller("acme", frozenset({Scope.ADMIN}), "chief")
    assert door.manage.put(server.id, chief, "caller_token", settings).kind == "caller_token"


def test_an_organisation_sets_its_own_servers_and_the_operator_global_ones(door: Door) -> None:
    ours, shared = door.server(org="acme", kind="none"), door.server("b", kind="none")
    with pytest.raises(Forbidden):
        door.manage.put(shared.id, WRITER, "none", {})
    with pytest.raises(Forbidden, match="takes scope admin"):
        door.manage.put(shared.id, Caller(None, frozenset({Scope.CATALOG})), "none", {})
    with pytest.raises(NotFound):
        door.manage.put(ours.id, Caller("globex", frozenset({Scope.ADMIN})), "none", {})
    with pytest.raises(NotFound):
        door.manage.get(ours.id, Caller("globex", frozenset({Scope.ADMIN})))
    door.manage.delete(ours.id, WRITER)
    door.manage.delete(shared.id, OPERATOR)
    assert door.manage.get(ours.id, WRITER).kind == "none"
    assert door.sql("SELECT count(*) FROM mcp.server_identities") == [[0]]
