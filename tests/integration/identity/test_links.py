"""Links that an agent hands to its person: from the answer of a call to a login at a real authorization server."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import Caller, Scope
from skillroute.core.outbound.credentials import LoginNeeded, ServerRef
from skillroute.identity.credentials import CallerIdentities
from skillroute.identity.encryption.key_file import KeyFileEncryption
from skillroute.identity.links import LINK_PATH, LoginLinks
from skillroute.identity.persons import Persons
from skillroute.identity.routes import CALLBACK_PATH
from skillroute.identity.vault import Vault

from tests.integration.identity.conftest import REDIRECT, Door, person
from tests.integration.identity.pages import Page

ANN = person("ann")
BASE = "http://testserver"


def link_of(door: Door, server: ServerRef, caller: Caller = ANN, scopes: tuple[str, ...] = ()) -> str:
    """Return the path and query of a new link."""
    link = door.identities.login_link(server, caller, scopes, BASE)
    assert link is not None
    assert link.startswith(f"{BASE}{LINK_PATH}?ticket=")
    return link.removeprefix(BASE)


def follow(browser: TestClient, shown: httpx.Response, **headers: str) -> httpx.Response:
    """Go on from the page of a link."""
    page = Page(shown.text)
    assert (page.action, page.method, list(page.hidden)) == (LINK_PATH, "post", ["ticket"])
    return browser.post(page.action, data=page.hidden, headers=headers)


def came_back(url: str) -> dict[str, str]:
    """Log in at the authorization server, and return what comes back with the browser."""
    location = httpx.get(url).headers["location"]
    assert location.startswith(f"{BASE}{CALLBACK_PATH}?")
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def test_a_person_logs_in_by_the_link_that_the_agent_was_given(door: Door, browser: TestClient) -> None:
    server = door.server()
    with pytest.raises(LoginNeeded) as needed:
        door.identities.credentials(server, ANN, None)
    assert needed.value.helps
    shown = browser.get(link_of(door, server))
    assert "<h1>Log in at “notes” for “ann” of “acme”?</h1>" in unescape(shown.text)
    assert shown.headers["content-security-policy"].endswith("form-action 'self'")
    assert shown.headers["referrer-policy"] == "same-origin"
    led = Page(follow(browser, shown).text)
    assert led.link.startswith(f"{door.sso.origin}/authorize?")
    assert "script" not in led.tags
    asked = Page(browser.get(CALLBACK_PATH, params=came_back(led.link)).text)
    done = browser.post(CALLBACK_PATH, data=asked.hidden | {"mine": "yes", "answer": "allow"})
    assert "You are logged in" in done.text
    assert door.call(server, door.identities.credentials(server, ANN, None)).json() == {"person": "ann"}


def test_a_link_asks_for_the_scopes_that_the_call_wanted(door: Door, browser: TestClient) -> None:
    led = follow(browser, browser.get(link_of(door, door.server(), scopes=("write",))))
    [scope] = parse_qs(urlsplit(Page(led.text).link).query)["scope"]
    assert scope == "read write"


def test_looking_at_a_link_uses_nothing_up_and_going_on_does(door: Door, browser: TestClient) -> None:
    link = link_of(door, door.server())
    shown = [browser.get(link) for _ in range(3)][-1]
    assert follow(browser, shown, **{"Sec-Fetch-Site": "cross-site"}).status_code == 400
    assert follow(browser, shown, **{"Sec-Fetch-Site": "same-origin"}).status_code == 200
    again = [follow(browser, shown), browser.get(link)]
    assert [(each.status_code, "was used before" in each.text) for each in again] == [(400, True)] * 2


def test_a_link_is_good_for_ten_minutes_and_an_old_one_tells_nothing(door: Door, browser: TestClient) -> None:
    link = link_of(door, door.server())
    shown = browser.get(link)
    door.clock.pass_(601)
    old, unknown = browser.get(link), browser.get(f"{LINK_PATH}?ticket=unknown")
    assert (old.status_code, old.text) == (400, unknown.text)
    assert "ann" not in old.text
    assert follow(browser, shown).status_code == 400


def test_a_ticket_is_no_state_and_a_state_no_ticket(door: Door, browser: TestClient) -> None:
    server = door.server()
    [ticket] = parse_qs(urlsplit(link_of(door, server)).query)["ticket"]
    assert browser.get(CALLBACK_PATH, params={"state": ticket, "code": "x"}).status_code == 400
    assert not door.logins.finish(ticket, "x", None, None).is_done
    came = door.browse(door.logins.begin(server.id, ANN, REDIRECT).url)
    assert browser.get(LINK_PATH, params={"ticket": came["state"]}).status_code == 400
    assert door.finish(came).is_done


def test_a_ticket_is_not_kept_in_clear(door: Door) -> None:
    [ticket] = parse_qs(urlsplit(link_of(door, door.server())).query)["ticket"]
    [[row]] = door.sql("SELECT a::text FROM mcp.login_attempts a")
    assert ticket not in row
    assert len(ticket) >= 43  # 256 bits


def test_many_links_leave_a_login_under_way_alone_and_the_last_few_are_kept(door: Door) -> None:
    server = door.server()
    came = door.browse(door.logins.begin(server.id, ANN, REDIRECT).url)
    for _ in range(12):
        link_of(door, server)
        door.clock.pass_(1)
    assert door.sql("SELECT count(*) FROM mcp.login_attempts WHERE issuer = ''") == [[5]]
    assert door.finish(came).is_done


def test_a_server_that_takes_no_logins_any_more_is_told_with_the_reason(door: Door, browser: TestClient) -> None:
    server = door.server()
    shown = browser.get(link_of(door, server))
    door.sql(f"UPDATE mcp.server_identities SET kind = 'none' WHERE server_id = {server.id} RETURNING 1")
    ended = follow(browser, shown)
    assert (ended.status_code, "takes no logins" in ended.text) == (400, True)


def test_the_links_of_a_server_end_with_its_identity(door: Door, browser: TestClient) -> None:
    server = door.server()
    link = link_of(door, server)
    door.manage.delete(server.id, Caller(None, frozenset({Scope.ADMIN}), "root"))
    assert browser.get(link).status_code == 400


def test_who_is_no_person_is_given_no_link(door: Door) -> None:
    server, role = door.server(), Caller(None, ANN.scopes, "123456789012:developers")
    for caller in (person(None), role):
        assert door.identities.login_link(server, caller, (), BASE) is None


def test_without_a_key_there_is_no_link(door: Door) -> None:
    links = LoginLinks(door.database, Vault(None), Persons())
    identities = CallerIdentities(door.database, door.places, door.tokens, Persons(), links)
    assert identities.login_link(door.server(), ANN, (), BASE) is None


def test_a_link_that_cannot_be_read_stays_good(door: Door, browser: TestClient, tmp_path: Path) -> None:
    link = link_of(door, door.server())
    other = Vault(KeyFileEncryption(tmp_path / "other.key"))
    other.seal_client({}, 1)
    elsewhere = LoginLinks(door.database, other, Persons(), now=door.clock)
    [ticket] = parse_qs(urlsplit(link).query)["ticket"]
    assert "cannot be read" in elsewhere.look(ticket).sentence  # type: ignore[union-attr]
    assert browser.get(link).status_code == 200
