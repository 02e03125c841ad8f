"""`connect` and `import` at a server that wants logins: its tokens are sent, refreshed, and never shown."""

from __future__ import annotations

import json
import logging
import sys
import threading
import webbrowser
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import anyio.to_thread
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from skillroute_local.connect.store import Store
from skillroute_local.mcp_servers.listing import list_server
from skillroute_local.mcp_servers.model import Listing, LoginNeededError
from skillroute_local.server_logins.auth import LoginAuth
from skillroute_local.server_logins.login import BrowserLogin
from skillroute_local.server_logins.model import ServerLogin
from skillroute_local.server_logins.store import LoginStore
from skillroute_local.server_logins.tokens import NoToken, ServerTokens, make_web

from tests.integration.local.connect.conftest import Agent
from tests.integration.local.server_logins.conftest import Notes, browse

pytestmark = pytest.mark.anyio

READ_NOTE = {"id": "notes/read_note", "arguments": {}}


def text_of(result: Any) -> str:
    return str(result.content[0].text)


async def test_a_call_has_the_token_of_the_login(agent: Agent, notes: Notes, logged_in: ServerLogin) -> None:
    async with agent(notes.server) as client:
        found = await client.call_tool("search_tools", {"query": "read a note"})
        assert [tool["id"] for tool in found.structured_content["tools"]] == ["notes/read_note"]
        assert text_of(await client.call_tool("call_tool", READ_NOTE)) == "the note of ann"
    assert notes.sso.provider.refreshes == 0


async def test_a_token_that_ends_between_or_in_the_middle_of_calls_is_refreshed_and_the_call_sent_once_more(
    agent: Agent, notes: Notes, logged_in: ServerLogin, store: LoginStore
) -> None:
    async with agent(notes.server) as client:
        await client.call_tool("call_tool", READ_NOTE)
        notes.sso.provider.access.clear()  # the server takes it no more, whatever the clock says
        assert text_of(await client.call_tool("call_tool", READ_NOTE)) == "the note of ann"
        assert (notes.calls, notes.sso.provider.refreshes) == (["ann", "ann"], 1)
        kept = store.get("notes", notes.sso.url)
        assert kept is not None
        assert kept.tokens is not None
        store.put(replace(kept, expires_at=0.0))  # by the clock
        assert text_of(await client.call_tool("call_tool", READ_NOTE)) == "the note of ann"
    assert (notes.sso.provider.refreshes, notes.sso.provider.reused) == (2, 0)
    assert len(notes.calls) == 3


async def test_without_a_login_the_command_is_named_and_no_browser_opened(
    agent: Agent, notes: Notes, store: LoginStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda *_: pytest.fail("a browser was opened"))
    async with agent(notes.server) as client:
        answer = (await client.call_tool("search_tools", {"query": "read a note"})).structured_content
        assert answer["servers_failed"] == ["notes"]
        [sentence] = answer["logins_needed"]
        assert sentence.startswith("notes: the handshake was answered with HTTP status 401 (Unauthorized): ")
        assert f"run `{notes.command}`" in sentence
        called = await client.call_tool("call_tool", READ_NOTE)
        assert called.is_error
    listing = await list_server(notes.server)
    assert isinstance(listing, LoginNeededError)
    assert f"run `{notes.command}`" in str(listing)


async def test_a_login_that_was_revoked_is_told_at_the_call_and_a_new_one_is_taken_at_once(
    agent: Agent, notes: Notes, logged_in: ServerLogin, store: LoginStore, tmp_path: Path
) -> None:
    provider = notes.sso.provider
    async with agent(notes.server, store=Store(tmp_path / "connect.sqlite3")) as client:
        await client.call_tool("call_tool", READ_NOTE)
        before = dict(provider.access), dict(provider.refresh)
        provider.access.clear()
        provider.refresh.clear()
        refused = await client.call_tool("call_tool", READ_NOTE)
        assert refused.is_error
        assert "your login has ended" in text_of(refused)
        assert f"run `{notes.command}`" in text_of(refused)
        assert notes.calls == ["ann"]
        kept = store.get("notes", notes.sso.url)
        assert kept is not None
        assert (kept.tokens, kept.client is not None) == (None, True)
        # The person logs in, while `connect` runs.
        provider.access.update(before[0])
        provider.refresh.update(before[1])
        store.put(logged_in)
        assert text_of(await client.call_tool("call_tool", READ_NOTE)) == "the note of ann"


async def test_the_listing_of_an_import_needs_the_same_login(notes: Notes, logged_in: ServerLogin) -> None:
    listing = await list_server(notes.server)
    assert isinstance(listing, Listing)
    assert [item.name for item in listing.items] == ["read_note"]


async def test_a_server_by_the_older_sse_has_the_same(agent: Agent, old_notes: Notes, store: LoginStore) -> None:
    assert f"run `{old_notes.command}`" in str(await list_server(old_notes.server))
    login = await anyio.to_thread.run_sync(BrowserLogin(store, make_web(), browse).log_in, old_notes.server)
    assert login.tokens is not None
    provider = old_notes.sso.provider
    async with agent(old_notes.server) as client:
        assert text_of(await client.call_tool("call_tool", READ_NOTE)) == "the note of ann"
        provider.access.clear()
        assert text_of(await client.call_tool("call_tool", READ_NOTE)) == "the note of ann"
        assert (len(old_notes.calls), provider.refreshes) == (2, 1)
        provider.access.clear()
        provider.refresh.clear()
        refused = await client.call_tool("call_tool", READ_NOTE)
        assert f"run `{old_notes.command}`" in text_of(refused)
    assert len(old_notes.calls) == 2


async def test_an_authorization_server_that_is_away_ends_no_login(
    notes: Notes, logged_in: ServerLogin, store: LoginStore
) -> None:
    assert logged_in.tokens is not None
    away = replace(logged_in.tokens, token_endpoint="http://127.0.0.1:1/token")
    store.put(replace(logged_in, tokens=away, expires_at=0.0))
    listing = await list_server(notes.server)
    assert "cannot be reached to renew your login: try again later" in str(listing)
    kept = store.get("notes", notes.sso.url)
    assert kept is not None
    assert kept.tokens == away


async def test_a_kept_login_that_others_can_read_is_refused_with_the_remedy(
    notes: Notes, logged_in: ServerLogin, store: LoginStore, tmp_path: Path
) -> None:
    [file] = (tmp_path / "home" / "logins").glob("*.json")
    file.chmod(0o644)
    assert f"can be read by others than its owner: chmod 600 {file}" in str(await list_server(notes.server))


async def test_scopes_that_are_missing_are_in_the_command(notes: Notes, logged_in: ServerLogin) -> None:
    login = LoginAuth(notes.server)
    challenge = {"www-authenticate": 'Bearer error="insufficient_scope", scope="write"'}
    refused = httpx2.Response(403, headers=challenge, request=httpx2.Request("POST", notes.sso.url))
    assert f"run `{notes.command} --scope read --scope write`" in await login.remedy(refused)


async def test_no_token_goes_to_another_host(notes: Notes, logged_in: ServerLogin) -> None:
    seen: list[str | None] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers.get("authorization"))
        return httpx2.Response(200)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer), auth=LoginAuth(notes.server)) as http:
        await http.get(notes.sso.url)
        await http.get("http://elsewhere.test/mcp")
    assert [value is not None for value in seen] == [True, False]


def renew_at_once(notes: Notes, store: LoginStore, refused: str, count: int) -> list[str]:
    """Return what threads get that all want another token than this one."""
    got: list[str] = []
    start = threading.Barrier(count)

    def renew() -> None:
        start.wait()
        got.append(ServerTokens(notes.server, store, make_web).renewed(refused))

    threads = [threading.Thread(target=renew) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


def test_many_at_once_spend_one_refresh_token(notes: Notes, logged_in: ServerLogin, store: LoginStore) -> None:
    assert logged_in.tokens is not None
    got = renew_at_once(notes, store, logged_in.tokens.access, 6)
    assert (len(got), len(set(got))) == (6, 1)
    assert (notes.sso.provider.refreshes, notes.sso.provider.reused) == (1, 0)


PROCESS = """
import sys
from pathlib import Path
from skillroute_local.mcp_servers.config import read_servers
from skillroute_local.server_logins.tokens import ServerTokens
[server] = read_servers(Path(sys.argv[1])).servers
tokens = ServerTokens(server)
refused = tokens._login().tokens.access
print("ready", flush=True)
sys.stdin.readline()
print(tokens.renewed(refused), flush=True)
"""


def test_processes_at_once_spend_one_refresh_token(notes: Notes, logged_in: ServerLogin, store: LoginStore) -> None:
    def begun() -> Popen[str]:
        return Popen([sys.executable, "-c", PROCESS, str(notes.config)], stdin=PIPE, stdout=PIPE, text=True)

    with begun() as one, begun() as other:
        with store.locked("notes", notes.sso.url):  # until both have the old token, and have been told to go on
            for process in (one, other):
                assert process.stdout is not None
                assert process.stdin is not None
                assert process.stdout.readline() == "ready\n"
                process.stdin.write("go\n")
                process.stdin.flush()
            assert notes.sso.provider.refreshes == 0
        got = {process.stdout.readline().strip() for process in (one, other) if process.stdout is not None}
    assert got <= notes.sso.provider.access.keys()
    assert len(got) == 1
    assert (notes.sso.provider.refreshes, notes.sso.provider.reused) == (1, 0)


def test_a_token_that_was_refused_and_cannot_be_renewed_is_kept_for_the_next_time(
    notes: Notes, logged_in: ServerLogin, store: LoginStore
) -> None:
    assert logged_in.tokens is not None
    store.put(replace(logged_in, tokens=replace(logged_in.tokens, refresh=None)))
    tokens = ServerTokens(notes.server, store)
    with pytest.raises(NoToken, match="your login has ended"):
        tokens.renewed(logged_in.tokens.access)
    assert tokens.current() == logged_in.tokens.access


async def test_no_token_is_in_what_connect_says_logs_or_keeps(
    notes: Notes, logged_in: ServerLogin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    home = tmp_path / "home"
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", "skillroute_local", "connect", "--config", str(notes.config), "--verbose"],
        env={"SKILLROUTE_HOME": str(home), "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
    )
    answers = []
    with (tmp_path / "stderr").open("w+") as stderr:
        async with Client(stdio_client(program, errlog=stderr)) as client:
            answers.append(await client.call_tool("search_tools", {"query": "read a note"}))
            notes.sso.provider.access.clear()
            answers.append(await client.call_tool("call_tool", READ_NOTE))
            assert text_of(answers[-1]) == "the note of ann"
            notes.sso.provider.access.clear()
            notes.sso.provider.refresh.clear()
            answers.append(await client.call_tool("call_tool", READ_NOTE))
            assert notes.command in text_of(answers[-1])
    spoken = json.dumps([answer.model_dump(mode="json") for answer in answers])
    spoken += (tmp_path / "stderr").read_text() + caplog.text + repr(logged_in)
    kept = b"".join(file.read_bytes() for file in home.rglob("*") if "logins" not in file.parts and file.is_file())
    assert kept  # the catalogue of `connect`
    assert len(notes.sso.provider.seen) >= 5
    assert [secret for secret in notes.sso.provider.seen if secret in spoken or secret.encode() in kept] == []
    assert all(file.stat().st_mode & 0o077 == 0 for file in (home / "logins").iterdir())
