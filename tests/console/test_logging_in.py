"""Logging in at a server in a real browser, which comes back from another site to `skillroute up`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.e2e.processes import Processes, Up, answered
from tests.integration.identity.authorization_server import Sso, running_sso
from tests.temporary import temporary_directory

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.console


@pytest.fixture(scope="module")
def sso() -> Iterator[Sso]:
    with running_sso() as sso:
        yield sso


@pytest.fixture(scope="module")
def laptop(processes: Processes, sso: Sso) -> Iterator[Up]:
    with temporary_directory("skillroute-console-") as name:
        Path(name).chmod(0o711)
        settings = {"SKILLROUTE_CALLS": "one", "SKILLROUTE_CALL_PRIVATE_HOSTS": sso.origin}
        yield processes.up(Path(name) / "home", "--no-pump", **settings).ready()


@pytest.fixture
def server_id(laptop: Up, sso: Sso) -> int:
    path = f"/notes-{uuid4().hex}"
    server = {"path": path, "name": "notes", "remotes": [{"type": "streamable-http", "url": f"{sso.origin}/mcp"}]}
    answered(laptop.http.put("/api/v1/servers", json={"servers": [server]}))
    [found] = answered(laptop.http.get("/api/v1/servers", params={"path": path}))
    answered(laptop.http.put(f"/api/v1/servers/{found['id']}/identity", json={"kind": "oauth"}))
    return int(found["id"])


def come_back(context: BrowserContext, laptop: Up, server_id: int) -> Page:
    """Follow a link of another site to the authorization server, and from there back."""
    begun = answered(laptop.http.post(f"/api/v1/servers/{server_id}/login"))
    page = context.new_page()
    page.set_content(f'<a href="{begun["authorization_url"].replace("&", "&amp;")}">Log in</a>')
    page.get_by_role("link", name="Log in").click()
    page.get_by_role("heading", name=re.compile("act as you at “notes”")).wait_for()
    return page


def test_who_comes_back_and_allows_it_is_logged_in(context: BrowserContext, laptop: Up, server_id: int) -> None:
    page = come_back(context, laptop, server_id)
    page.get_by_label("I began this login myself").check()
    page.get_by_role("button", name="Allow").click()
    page.get_by_text("You are logged in").wait_for()
    assert server_id in {each["server_id"] for each in answered(laptop.http.get("/api/v1/logins"))}


def test_who_refuses_is_not_logged_in(context: BrowserContext, laptop: Up, server_id: int) -> None:
    page = come_back(context, laptop, server_id)
    page.get_by_role("button", name="Refuse").click()
    page.get_by_text("You refused").wait_for()
    assert server_id not in {each["server_id"] for each in answered(laptop.http.get("/api/v1/logins"))}


def test_the_link_of_a_call_leads_to_the_login_and_back(context: BrowserContext, laptop: Up, server_id: int) -> None:
    [server] = [each for each in answered(laptop.http.get("/api/v1/servers")) if each["id"] == server_id]
    item = {"server": server["tools_server"], "name": "whoami", "description": "Says who asks."}
    [tool] = laptop.put(item)["results"]
    arguments = {"name": "call_tool", "arguments": {"id": tool["id"]}}
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
    answer = answered(laptop.http.post("/mcp", json=asked))
    assert "result" in answer, answer
    says = answer["result"]["content"][0]["text"]
    [link] = re.findall(r"http://\S+/oauth/begin\?ticket=\S+", says)
    page = context.new_page()
    page.set_content(f'<a href="{link}">Log in</a>')
    page.get_by_role("link", name="Log in").click()
    page.get_by_role("button", name="Go on to log in").click()
    page.get_by_role("heading", name=re.compile("act as you at “notes”")).wait_for()
    page.get_by_role("button", name="Refuse").click()
    page.get_by_text("You refused").wait_for()
