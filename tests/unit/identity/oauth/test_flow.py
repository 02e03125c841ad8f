"""The requests of the flow, and what is taken of their answers."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from skillroute.identity.model import Tokens
from skillroute.identity.oauth.flow import (
    Granted,
    GrantRefused,
    authorization_url,
    exchange,
    new_verifier,
    refresh,
    revoke,
)
from skillroute.identity.oauth.web import AuthorizationServerUnavailable, LoginNotPossible, Web

CLIENT = {"client_id": "c", "auth_method": "none", "redirect_uri": "https://us.test/cb"}
GOOD = {"access_token": "at", "token_type": "Bearer", "expires_in": 60, "refresh_token": "rt", "scope": "a b"}


class Endpoint:
    """A token endpoint, with what was sent to it."""

    def __init__(self, answer: Any, status: int = 200) -> None:
        self.answer, self.status = answer, status
        self.web = Web(lambda: httpx.AsyncClient(transport=httpx.MockTransport(self)))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        self.authorization = request.headers.get("authorization")
        return httpx.Response(self.status, json=self.answer)

    def exchange(self, client: dict[str, str] = CLIENT) -> Granted:
        return exchange(self.web, "https://login.test/t", client, code="code", verifier="v", resource="https://n.test")

    def tokens(self, **changed: Any) -> Tokens:
        given: dict[str, Any] = {
            "access": "at", "refresh": "rt", "resource": "https://n.test", "issuer": "i", "client": CLIENT,
            "token_endpoint": "https://login.test/t", "revocation_endpoint": "https://login.test/revoke",
        }  # fmt: skip
        return Tokens(**given | changed)


def test_the_page_is_asked_with_pkce_and_the_resource() -> None:
    verifier = new_verifier()
    url = authorization_url(
        "https://login.test/a?tenant=1",
        CLIENT,
        state="s",
        verifier=verifier,
        scopes=["a", "b"],
        resource="https://n.test",
    )
    query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    digest = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    assert query == {
        "tenant": "1", "response_type": "code", "client_id": "c", "redirect_uri": "https://us.test/cb", "state": "s",
        "code_challenge": digest, "code_challenge_method": "S256", "resource": "https://n.test", "scope": "a b",
    }  # fmt: skip
    assert verifier not in url
    assert len(verifier) >= 43


def test_a_code_is_exchanged_with_its_verifier_and_the_resource() -> None:
    endpoint = Endpoint(GOOD)
    assert endpoint.exchange() == Granted("at", "rt", 60.0, ("a", "b"))
    assert endpoint.form == {
        "grant_type": "authorization_code", "code": "code", "redirect_uri": "https://us.test/cb", "code_verifier": "v",
        "resource": "https://n.test", "client_id": "c",
    }  # fmt: skip


def test_a_client_with_a_secret_says_it_as_it_was_agreed() -> None:
    endpoint = Endpoint(GOOD)
    endpoint.exchange({**CLIENT, "auth_method": "client_secret_basic", "client_secret": "a:b c"})
    assert endpoint.authorization == f"Basic {base64.b64encode(b'c:a%3Ab+c').decode()}"
    assert "client_secret" not in endpoint.form
    endpoint.exchange({**CLIENT, "auth_method": "client_secret_post", "client_secret": "s"})
    assert (endpoint.authorization, endpoint.form["client_secret"]) == (None, "s")


@pytest.mark.parametrize(
    ("answer", "status", "kind"),
    [
        ({"error": "invalid_grant"}, 400, GrantRefused),
        ({"error": "invalid_client"}, 401, LoginNotPossible),
        ({"error": "<script>"}, 400, LoginNotPossible),
        ({}, 302, LoginNotPossible),
        ({}, 500, AuthorizationServerUnavailable),
        ({}, 429, AuthorizationServerUnavailable),
        (GOOD | {"token_type": "mac"}, 200, LoginNotPossible),
        (GOOD | {"access_token": "a b"}, 200, LoginNotPossible),
        (GOOD | {"access_token": "a\r\nX: y"}, 200, LoginNotPossible),
        (GOOD | {"access_token": "a" * 70_000}, 200, LoginNotPossible),
        (GOOD | {"access_token": None}, 200, LoginNotPossible),
        ([], 200, LoginNotPossible),
    ],
)
def test_what_is_no_grant_is_refused_without_a_word_of_what_was_sent(answer: Any, status: int, kind: type) -> None:
    if isinstance(answer, dict):
        answer = {"error_description": "code is bad", **answer}
    with pytest.raises(kind) as refused:
        Endpoint(answer, status).exchange()
    assert "code is bad" not in str(refused.value)
    assert "<script>" not in str(refused.value)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (60, 60.0),
        ("60", 60.0),
        (1.5, 1.5),
        (-1, None),
        (True, None),
        ("soon", None),
        (None, None),
        (1e300, 400 * 86400.0),
    ],
)
def test_an_expiry_is_a_number_of_seconds(said: Any, seconds: float | None) -> None:
    assert Endpoint(GOOD | {"expires_in": said}).exchange().expires_in_s == seconds


def test_a_refresh_names_the_resource_and_a_revocation_the_refresh_token() -> None:
    endpoint = Endpoint({"access_token": "new", "token_type": "bearer"})
    assert refresh(endpoint.web, endpoint.tokens()) == Granted("new", None, None, None)
    assert endpoint.form["resource"] == "https://n.test"
    assert revoke(endpoint.web, endpoint.tokens())
    assert (endpoint.form["token"], endpoint.form["token_type_hint"]) == ("rt", "refresh_token")
    assert revoke(endpoint.web, endpoint.tokens(refresh=None))
    assert (endpoint.form["token"], endpoint.form["token_type_hint"]) == ("at", "access_token")
    assert not revoke(endpoint.web, endpoint.tokens(revocation_endpoint=""))
