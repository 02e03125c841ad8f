"""What a browser is asked when it comes back from a real authorization server, before anything is finished."""

from __future__ import annotations

from html import unescape

import httpx
import pytest
from fastapi.testclient import TestClient
from skillroute.identity.routes import CALLBACK_PATH

from tests.integration.identity.conftest import REDIRECT, Door, person
from tests.integration.identity.pages import Page

ANN = person("ann")


def back(door: Door, browser: TestClient, caller: object = ANN, server: object = None) -> httpx.Response:
    """Log in at the other side, and return the page that the browser comes back to."""
    at = server or door.server()
    came = door.browse(door.logins.begin(at.id, caller, REDIRECT).url)  # type: ignore[arg-type, attr-defined]
    return browser.get(CALLBACK_PATH, params=came)


def answer(browser: TestClient, asked: httpx.Response, said: dict[str, str], **headers: str) -> httpx.Response:
    found = Page(asked.text)
    assert (found.action, found.method) == (CALLBACK_PATH, "post")
    return browser.post(found.action, data=found.hidden | said, headers=headers)


def logins_of(door: Door) -> int:
    return door.logins.list(ANN, limit=1, offset=0)[1]


YES = {"mine": "yes", "answer": "allow"}


def test_a_browser_that_comes_back_is_asked_and_finishes_nothing(door: Door, browser: TestClient) -> None:
    came = door.browse(door.logins.begin(door.server().id, ANN, REDIRECT).url)
    pages = [browser.get(CALLBACK_PATH, params=came) for _ in range(3)]
    assert [each.status_code for each in pages] == [200] * 3
    assert len({each.text for each in pages}) == 1
    assert (logins_of(door), door.sso.provider.access) == (0, {})


def test_the_page_says_who_began_the_login_when_and_what_for(door: Door, browser: TestClient) -> None:
    asked = back(door, browser)
    text = unescape(asked.text)
    assert "<h1>Let “ann” of “acme” act as you at “notes”?</h1>" in text
    begun = door.clock().strftime("%Y-%m-%d %H:%M UTC")
    assert all(said in text for said in (begun, f"{door.sso.origin}/mcp", "<bdi>read</bdi>", "it is theirs: refuse"))
    assert asked.headers["content-security-policy"] == (
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    )
    assert (asked.headers["cache-control"], asked.headers["referrer-policy"]) == ("no-store", "same-origin")
    assert "script" not in Page(asked.text).tags


def test_who_allows_it_is_logged_in_once(door: Door, browser: TestClient) -> None:
    asked = back(door, browser)
    done = answer(browser, asked, YES, **{"Sec-Fetch-Site": "same-origin", "Origin": "null"})
    assert (done.status_code, "You are logged in" in done.text, logins_of(door)) == (200, True, 1)
    again = answer(browser, asked, YES)
    assert (again.status_code, "finished before" in again.text) == (400, True)


def test_who_refuses_ends_the_login_for_good(door: Door, browser: TestClient) -> None:
    asked = back(door, browser)
    refused = answer(browser, asked, {"answer": "refuse"})
    assert "You refused: you are not logged in" in refused.text
    assert door.sql("SELECT count(*) FROM mcp.login_attempts") == [[0]]
    assert answer(browser, asked, YES).status_code == 400
    assert (logins_of(door), door.sso.provider.access) == (0, {})


@pytest.mark.parametrize("said", [{}, {"answer": "allow"}, {"mine": "yes"}, {"mine": "no", "answer": "allow"}])
def test_who_does_not_say_that_it_is_theirs_is_asked_again(
    door: Door, browser: TestClient, said: dict[str, str]
) -> None:
    asked = back(door, browser)
    again = answer(browser, asked, said)
    assert (again.text, logins_of(door)) == (asked.text, 0)
    assert answer(browser, again, YES).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_form_of_another_site_finishes_nothing(door: Door, browser: TestClient, site: str) -> None:
    asked = back(door, browser)
    assert answer(browser, asked, YES, **{"Sec-Fetch-Site": site}).status_code == 400
    assert logins_of(door) == 0
    assert answer(browser, asked, YES).status_code == 200


def test_a_body_that_is_no_form_finishes_nothing(door: Door, browser: TestClient) -> None:
    hidden = Page(back(door, browser).text).hidden | YES
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    for sent in (
        browser.post(CALLBACK_PATH, json=hidden),
        browser.post(CALLBACK_PATH, content=b"state=%ff&code=x", headers=kind),
        browser.post(CALLBACK_PATH, content=b"state=\xff&code=x", headers=kind),
        browser.post(CALLBACK_PATH, data={f"a{n}": "" for n in range(20)} | hidden),
        browser.post(CALLBACK_PATH, data=hidden | {"iss": "x" * 200_000}),
    ):
        assert (sent.status_code, "only for coming back" in sent.text) == (400, True)
    assert logins_of(door) == 0


def test_an_unknown_state_and_an_expired_one_are_told_the_same(door: Door, browser: TestClient) -> None:
    came = door.browse(door.logins.begin(door.server().id, ANN, REDIRECT).url)
    door.clock.pass_(601)
    expired = browser.get(CALLBACK_PATH, params=came)
    unknown = browser.get(CALLBACK_PATH, params={"state": "x", "code": "y"})
    assert (expired.status_code, expired.text) == (400, unknown.text)
    assert "notes" not in expired.text
    assert "ann" not in expired.text


def test_a_refusal_of_the_other_side_ends_the_login_without_a_question(door: Door, browser: TestClient) -> None:
    came = door.browse(door.logins.begin(door.server().id, ANN, REDIRECT).url)
    refused = browser.get(CALLBACK_PATH, params={"state": came["state"], "error": "access_denied"})
    assert (refused.status_code, "You did not allow it" in refused.text) == (400, True)
    assert browser.get(CALLBACK_PATH, params=came).status_code == 400


def test_nobody_is_asked_about_an_answer_of_another_issuer(door: Door, browser: TestClient) -> None:
    door.sso.provider.iss = "https://evil.test"
    asked = back(door, browser)
    assert (asked.status_code, "another authorization server" in asked.text) == (400, True)


@pytest.mark.parametrize(
    ("name", "org", "title", "known"),
    [
        ("ann", None, "Let “ann” act as you at “notes”?", "“ann”"),
        (
            "0b9d3f6e-6a0e-4a4e-9e53-6f4f3c1d2b7a", "acme", "Let a person of “acme” act as you at “notes”?",
            "known only as 0b9d3f6e-6a0e-4a4e-9e53-6f4f3c1d2b7a",
        ),
        ("auth0|5f7c8ec7", None, "Let a person act as you at “notes”?", "known only as auth0|5f7c8ec7"),
        ("<b>\u202eann", "a&b", "Let “<b><U+202E>ann” of “a&b” act as you at “notes”?", "<b><U+202E>ann"),
        ("ann\u3164", "acme", "Let “ann<U+3164>” of “acme” act as you at “notes”?", "“ann<U+3164>”"),
    ],
)  # fmt: skip
def test_whoever_began_it_can_be_told_from_oneself(
    door: Door, browser: TestClient, name: str, org: str | None, title: str, known: str
) -> None:
    asked = back(door, browser, person(name, org))
    assert "b" not in Page(asked.text).tags
    assert f"<h1>{title}</h1>" in unescape(asked.text)
    assert known in unescape(asked.text)
