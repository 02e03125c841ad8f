"""Logging in and out at a server of a file, with a real authorization server and a browser on this machine."""

from __future__ import annotations

import json
import socket
import webbrowser
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from skillroute_local.cli import app
from skillroute_local.errors import LocalError, Misused
from skillroute_local.mcp_servers.model import HttpServer
from skillroute_local.server_logins.login import BrowserLogin
from skillroute_local.server_logins.model import ServerLogin
from skillroute_local.server_logins.store import LoginStore
from skillroute_local.server_logins.tokens import make_web
from typer.testing import CliRunner

from tests.integration.local.server_logins.conftest import Notes, browse


def query(page: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page).query).items()}


def log_in(notes: Notes, store: LoginStore, show: Callable[[str], object], wait_s: float = 30.0) -> ServerLogin:
    return BrowserLogin(store, make_web(), show, wait_s=wait_s).log_in(notes.server)


def test_a_login_asks_as_oauth_2_1_says_and_is_kept(notes: Notes, store: LoginStore) -> None:
    pages: list[str] = []
    shown: list[httpx.Response] = []

    def person(page: str) -> None:
        pages.append(page)
        shown.append(browse(page))

    login = log_in(notes, store, person)
    asked = query(pages[0])
    assert (asked["code_challenge_method"], asked["resource"], asked["scope"]) == ("S256", notes.sso.url, "read")
    assert asked["redirect_uri"].startswith("http://127.0.0.1:")
    assert (shown[0].status_code, "Almost done" in shown[0].text) == (200, True)
    assert shown[0].headers["cache-control"] == "no-store"
    kept = store.get("notes", notes.sso.url)
    assert kept == login
    assert kept.tokens is not None
    assert kept.tokens.access in notes.sso.provider.access
    assert kept.expires_at is not None


def test_another_login_takes_the_registration_of_the_first(notes: Notes, store: LoginStore) -> None:
    first, second = log_in(notes, store, browse), log_in(notes, store, browse)
    assert first.client == second.client
    assert len(notes.sso.provider.clients) == 1


def test_where_the_port_is_taken_the_client_is_registered_again(notes: Notes, store: LoginStore) -> None:
    first = log_in(notes, store, browse)
    assert first.client is not None
    port = urlsplit(first.client["redirect_uri"]).port
    with closing(socket.create_server(("127.0.0.1", port or 0))):
        second = log_in(notes, store, browse)
    assert second.client is not None
    assert second.client["client_id"] != first.client["client_id"]


def test_a_login_that_nobody_finishes_ends_in_time_and_names_the_remedy(notes: Notes, store: LoginStore) -> None:
    with pytest.raises(LocalError) as failed:
        log_in(notes, store, lambda page: None, wait_s=0.01)
    said = str(failed.value)
    assert "not finished within 0.01 s: begin it again" in said
    assert f"skillroute logout --config {notes.config} notes" in said
    kept = store.get("notes", notes.sso.url)
    assert kept is not None
    assert (kept.tokens, kept.client is not None) == (None, True)


def test_an_answer_with_another_state_is_not_taken(notes: Notes, store: LoginStore) -> None:
    answers: list[httpx.Response] = []

    def person(page: str) -> None:
        uri = query(page)["redirect_uri"]
        answers.append(httpx.get(f"{uri}?{urlencode({'state': 'another', 'code': 'stolen'})}"))
        answers.append(httpx.get(uri.replace("/callback", "/")))
        answers.append(browse(page))
        answers.append(httpx.get(answers[-1].url))

    login = log_in(notes, store, person)
    assert login.tokens is not None
    assert [answer.status_code for answer in answers] == [400, 404, 200, 400]


@pytest.mark.parametrize(
    ("came", "said"),
    [
        ({"error": "access_denied"}, "you did not allow it"),
        ({"error": "server_error"}, r"refuses the login \(server_error\): try again"),
        ({"error": "<b>evil</b>"}, r"refuses the login \(no code\)"),
        ({"code": "code", "iss": "https://other.test"}, "came from another authorization server"),
        ({"code": "not-a-code"}, "does not take the login: try again"),
    ],
)
def test_what_comes_back_and_is_no_login_is_told(
    notes: Notes, store: LoginStore, came: dict[str, str], said: str
) -> None:
    def person(page: str) -> None:
        asked = query(page)
        httpx.get(f"{asked['redirect_uri']}?{urlencode({'state': asked['state'], **came})}")

    with pytest.raises(LocalError, match=said):
        log_in(notes, store, person)


def test_a_server_that_says_nothing_of_logins_is_told_so(store: LoginStore, notes: Notes) -> None:
    server = HttpServer("other", "", f"{notes.sso.origin}/elsewhere", config=notes.config)
    with pytest.raises(LocalError, match=r"other: .* does not say who issues tokens .* give it a token in headers"):
        BrowserLogin(store, make_web(), browse).log_in(server)
    away = HttpServer("away", "", "http://203.0.113.1/mcp", config=notes.config)
    with pytest.raises(LocalError, match="without TLS"):
        BrowserLogin(store, make_web(), browse).log_in(away)
    named = HttpServer("own", "mcp.json: mcpServers.own", notes.sso.url, {"authorization": "Bearer s"})
    with pytest.raises(Misused, match=r"mcpServers\.own has a header Authorization"):
        BrowserLogin(store, make_web(), browse).log_in(named)


class Commands:
    """`skillroute` in this process, with a browser."""

    def __init__(self, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
        self._config = str(notes.config)
        monkeypatch.setattr(webbrowser, "open", lambda page: browse(page).status_code == 200)

    def __call__(self, command: str, *args: str) -> tuple[int, str, str]:
        done = CliRunner().invoke(app, [command, "--config", self._config, *args], prog_name="skillroute")
        return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def run(notes: Notes, store: LoginStore, monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(notes, monkeypatch)


def test_the_commands_log_in_list_and_log_out(run: Commands, notes: Notes) -> None:
    assert json.loads(run("logins", "--json")[1])[0]["is_logged_in"] is False
    code, out, err = run("login", "notes")
    assert (code, out.startswith(f"{notes.sso.origin}/authorize?")) == (0, True)
    assert err.splitlines()[-1] == "you are logged in at notes (read)"
    [row] = json.loads(run("logins", "--json")[1])
    assert (row["server"], row["is_logged_in"], row["scopes"]) == ("notes", True, ["read"])
    assert "notes" in run("logins")[1]
    assert run("logout", "notes") == (0, "", "you are logged out of notes\n")
    provider = notes.sso.provider
    assert (provider.access, provider.refresh) == ({}, {})  # taken back at the server
    assert run("logout", "notes")[0] == 1
    spoken = out + err + run("logins")[1]
    assert [secret for secret in provider.seen if secret in spoken] == []


def test_a_logout_deletes_here_where_the_server_is_away(run: Commands, notes: Notes, store: LoginStore) -> None:
    run("login", "notes")
    kept = store.get("notes", notes.sso.url)
    assert kept is not None
    assert kept.tokens is not None
    object.__setattr__(kept.tokens, "revocation_endpoint", "http://127.0.0.1:1/revoke")
    store.put(kept)
    assert (
        run("logout", "notes")[2] == "you are logged out of notes; it took no tokens back: they expire by themselves\n"
    )
    assert store.get("notes", notes.sso.url) is None


def test_a_server_that_the_file_does_not_have_is_named(run: Commands, notes: Notes, tmp_path: Path) -> None:
    code, _, err = run("login", "diary")
    assert code == 2
    assert "has no server 'diary' with a url that is switched on; there are: notes" in " ".join(err.split())
