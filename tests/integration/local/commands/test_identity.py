"""`skillroute identity`, `login`, `logins` and `logout`."""

from __future__ import annotations

import webbrowser
from types import SimpleNamespace

import pytest
from skillroute.identity.logins import Begun, Logins
from skillroute.identity.model import KeptTokens, Person
from skillroute.identity.renewal import utc_now
from skillroute.identity.repository import LoginRepository
from skillroute_local.commands import identity

from tests.builders import System
from tests.integration.local.commands.conftest import CommandLine

REMOTE = {"remotes": [{"type": "streamable-http", "url": "https://notes.test/mcp"}]}


@pytest.fixture
def server(system: System) -> int:
    id_ = system.put_server("/notes", **REMOTE).id
    assert id_ is not None
    return id_


def logged_in(system: System, server: int) -> None:
    person, kept = Person(None, "laptop"), KeptTokens(b"sealed", utc_now(), ("read",))
    system.parts.database.transact(lambda session: LoginRepository(session, person).put(server, kept))


def test_an_identity_is_set_shown_and_deleted_by_the_servers_path(run: CommandLine, server: int) -> None:
    assert run.json("identity", "show", "/notes")["kind"] == "none"
    run("identity", "set", "/notes", "--kind", "caller_token", "--audience", "a", "--audience", "b")
    shown = run("identity", "show", str(server)).stdout.splitlines()
    assert shown[:3] == ["kind: caller_token", "audiences: a, b", "origin: https://notes.test"]
    assert run("identity", "delete", "/notes").stderr == f"requests to server {server} go without an identity\n"
    assert run.json("identity", "show", "/notes")["kind"] == "none"


def test_what_is_wrong_is_named(run: CommandLine, server: int) -> None:
    done = run("identity", "set", "/notes", "--kind", "secret", "--secret", "hunter2")
    assert (done.exit_code, "ARN of a secret" in done.stderr) == (1, True)


def test_ones_own_logins_are_listed_and_ended(run: CommandLine, system: System, server: int) -> None:
    assert run("logins").stdout == "you are logged in at no server\n"
    logged_in(system, server)
    assert "read" in run("logins").stdout
    [row] = run.json("logins")
    assert (row["server_id"], row["scopes"]) == (server, ["read"])
    assert run("logout", "/notes").stderr == f"you are logged out of server {server}\n"
    assert run("logout", "/notes").exit_code == 1


def test_a_login_opens_the_page_and_ends_when_it_is_finished(
    run: CommandLine, system: System, server: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "https://login.test/authorize?state=s"
    expires = utc_now().replace(year=2999)
    monkeypatch.setattr(Logins, "begin", lambda *_: Begun(page, expires))
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) is None)
    # The person finishes it while the command waits.
    monkeypatch.setattr(identity, "time", SimpleNamespace(sleep=lambda _: logged_in(system, server)))
    done = run("login", "/notes")
    assert (done.exit_code, done.stdout, opened) == (0, f"{page}\n", [page])
    assert done.stderr.splitlines()[-1] == f"you are logged in at server {server}"


def test_a_login_that_is_not_possible_says_why(run: CommandLine, server: int) -> None:
    done = run("login", "/notes", "--no-browser")
    assert (done.exit_code, "takes no logins" in done.stderr) == (1, True)
