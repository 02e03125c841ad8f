"""Identities and logins over HTTP: bodies, answers, the open page, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System

CALLBACK = "/oauth/callback"
REMOTE = {"remotes": [{"type": "streamable-http", "url": "https://notes.test/mcp"}]}
ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"


def url(system: System, **said: Any) -> str:
    return f"/api/v1/servers/{system.put_server(**(REMOTE | said)).id}/identity"


def test_a_server_lets_requests_in_without_an_identity_until_one_is_set(client: TestClient, system: System) -> None:
    path, place = url(system), f"{ARN}skillroute/servers/+global/notes-AbCdEf#key"
    assert client.get(path).json()["kind"] == "none"
    put = client.put(path, json={"kind": "secret", "secret": place})
    assert put.status_code == 200, put.text
    assert client.get(path).json() == put.json()
    said = {name: put.json()[name] for name in ("kind", "header", "prefix", "secret", "origin")}
    assert said == {
        "kind": "secret", "header": "Authorization", "prefix": "Bearer ", "secret": place,
        "origin": "https://notes.test",
    }  # fmt: skip
    assert client.delete(path).status_code == 204
    assert client.get(path).json()["kind"] == "none"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"kind": "magic"}, "kind"),
        ({"kind": "secret"}, "needs secret"),
        ({"kind": "none", "secret": "x"}, "takes no secret"),
        ({"kind": "caller_token", "audiences": []}, "needs audiences"),
        ({"kind": "secret", "secret": f"{ARN}skillroute/database-AbCdEf"}, "begins with skillroute/servers/+global/"),
        ({"kind": "secret", "secret": "file:/etc/passwd"}, "ARN of a secret"),
        ({"kind": "secret", "secret": "keyring:notes"}, "ARN of a secret"),
        ({"kind": "secret", "secret": ARN, "header": "Host"}, "name of a header"),
        ({"kind": "secret", "secret": ARN, "header": "X\r\nY"}, "name of a header"),
        ({"kind": "secret", "secret": ARN, "prefix": "a\n"}, "visible ASCII"),
        ({"kind": "oauth", "scopes": ["a b"]}, "one scope"),
        ({"kind": "oauth", "client_secret": ARN}, "needs client_id"),
    ],
)
def test_what_is_wrong_is_named(client: TestClient, system: System, body: dict[str, Any], sentence: str) -> None:
    refused = client.put(url(system), json=body)
    if body == {"kind": "oauth", "client_secret": ARN}:
        assert refused.status_code in {409, 422}
        return
    assert (refused.status_code, sentence in refused.text) == (422, True), refused.text


def test_logins_are_off_without_a_key_and_the_remedy_is_named(client: TestClient, system: System) -> None:
    refused = client.put(url(system), json={"kind": "oauth"})
    assert (refused.status_code, refused.json()["code"]) == (409, "login_not_possible")
    assert "SKILLROUTE_TOKENS_KEY_ARN" in refused.json()["detail"]


def test_a_server_without_an_address_takes_no_identity(client: TestClient, system: System) -> None:
    refused = client.put(url(system, remotes=[]), json={"kind": "caller_token", "audiences": ["a"]})
    assert (refused.status_code, "no address" in refused.text) == (422, True)


def test_the_open_page_says_in_plain_words_what_happened_and_runs_nothing(client: TestClient) -> None:
    for query in (
        "",
        "?state=",
        "?state=unknown&code=secret-code",
        f"?state={'a' * 9000}",
        "?state=<script>&error=<b>",
    ):
        page = client.get(f"{CALLBACK}{query}")
        assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
        assert (page.headers["cache-control"], page.headers["referrer-policy"]) == ("no-store", "no-referrer")
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert "<script" not in page.text
        assert "secret-code" not in page.text
        assert "Not logged in" in page.text


def test_the_page_of_a_link_that_is_not_known_tells_nothing(client: TestClient) -> None:
    for page in (
        client.get("/oauth/begin"),
        client.get("/oauth/begin?ticket=<script>"),
        client.get(f"/oauth/begin?ticket={'a' * 9000}"),
        client.post("/oauth/begin"),
        client.post("/oauth/begin", data={"ticket": "x"}),
    ):
        assert (page.status_code, page.headers["content-type"]) == (400, "text/html; charset=utf-8")
        assert page.headers["content-security-policy"].endswith("form-action 'none'")
        assert "<script" not in page.text
        assert "This link is not known" in page.text


def test_the_open_page_needs_no_token_and_everything_else_does(client: TestClient) -> None:
    """It is in no document of the API: nobody but a browser that comes back from a login asks for it."""
    assert not {CALLBACK, "/oauth/begin"} & set(client.get("/openapi.json").json()["paths"])


def test_who_logs_out_without_a_login_hears_so(client: TestClient, system: System) -> None:
    server = system.put_server(**REMOTE).id
    assert client.delete(f"/api/v1/logins/{server}").status_code == 404
    assert client.get("/api/v1/logins").json() == []
