"""Which client a login is made as."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from skillroute.identity.oauth.discovery import AuthorizationServer
from skillroute.identity.oauth.registration import Registration, is_good_for, register, registered_before
from skillroute.identity.oauth.web import LoginNotPossible, Web

SERVER = AuthorizationServer(
    issuer="https://login.test", authorization_endpoint="https://login.test/a", token_endpoint="https://login.test/t",
    registration_endpoint="https://login.test/r", revocation_endpoint="", takes_client_documents=False, says_iss=False,
    auth_methods=("client_secret_basic", "none"),
)  # fmt: skip
REDIRECT = "https://us.test/oauth/callback"
DOCUMENT = "https://us.test/client.json"


def registered(
    server: AuthorizationServer, answer: Any, status: int = 201, document: str | None = None
) -> Registration:
    def reply(request: httpx.Request) -> httpx.Response:
        said = json.loads(request.content)
        assert said["redirect_uris"] == [REDIRECT]
        return httpx.Response(status, json=answer(said) if callable(answer) else answer)

    web = Web(lambda: httpx.AsyncClient(transport=httpx.MockTransport(reply)))
    return register(web, server, REDIRECT, document_url=document, name="Skillroute")


def test_a_public_client_is_registered_where_that_is_offered() -> None:
    found = registered(SERVER, lambda said: {"client_id": "c", "asked": said["token_endpoint_auth_method"]})
    assert (found["client_id"], found["auth_method"], "client_secret" in found) == ("c", "none", False)
    assert is_good_for(found, SERVER, REDIRECT)
    assert not is_good_for(found, replace(SERVER, issuer="https://other.test"), REDIRECT)
    assert not is_good_for(found, SERVER, "https://moved.test/oauth/callback")


def test_a_secret_that_comes_is_used_in_the_way_that_was_agreed() -> None:
    answer = {"client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"}
    assert registered(SERVER, answer)["auth_method"] == "client_secret_post"


@pytest.mark.parametrize(
    "answer", [{}, {"client_id": 3}, {"client_id": "c\n"}, {"client_id": "c", "token_endpoint_auth_method": "mtls"},
               {"client_id": "c", "token_endpoint_auth_method": "client_secret_post"}, []],
)  # fmt: skip
def test_an_answer_that_is_no_registration_is_refused(answer: Any) -> None:
    with pytest.raises(LoginNotPossible):
        registered(SERVER, answer)


def test_a_refusal_names_the_status_alone() -> None:
    with pytest.raises(LoginNotPossible, match=r"status 403$"):
        registered(SERVER, {"error_description": "no"}, 403)


def test_the_document_comes_before_registering_where_both_sides_have_it() -> None:
    takes = replace(SERVER, takes_client_documents=True, registration_endpoint="")
    assert registered(takes, {}, document=DOCUMENT)["client_id"] == DOCUMENT
    with pytest.raises(LoginNotPossible, match=f"with the redirect {REDIRECT}, and set its client_id"):
        registered(takes, {})


def test_a_client_that_was_registered_before_asks_as_the_server_offers() -> None:
    assert registered_before("c", None, SERVER, REDIRECT)["auth_method"] == "none"
    assert registered_before("c", "s", SERVER, REDIRECT)["auth_method"] == "client_secret_basic"
    both = replace(SERVER, auth_methods=("client_secret_basic", "client_secret_post"))
    assert registered_before("c", "s", both, REDIRECT)["auth_method"] == "client_secret_post"
