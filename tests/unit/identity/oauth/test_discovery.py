"""Where metadata are looked for, in which order, and what is refused of them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from skillroute.identity.oauth.discovery import Discovered, covers, discover
from skillroute.identity.oauth.web import LoginNotPossible, Web

SERVER = "https://notes.test/v1/mcp"
ISSUER = "https://login.test"
RESOURCE = {"resource": SERVER, "authorization_servers": [ISSUER], "scopes_supported": ["read"]}
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "code_challenge_methods_supported": ["plain", "S256"],
}
INSERTED = "https://notes.test/.well-known/oauth-protected-resource/v1/mcp"
AT_ROOT = "https://notes.test/.well-known/oauth-protected-resource"
OAUTH = f"{ISSUER}/.well-known/oauth-authorization-server"


class Other:
    """The other side: documents by address, and what was asked for."""

    def __init__(self, documents: dict[str, Any], challenge: str | None = None) -> None:
        self.documents, self.challenge = documents, challenge
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(str(request.url))
        if request.method == "POST":
            return httpx.Response(401, headers={"WWW-Authenticate": self.challenge} if self.challenge else {})
        found = self.documents.get(str(request.url))
        return httpx.Response(404) if found is None else httpx.Response(200, json=found)

    def discover(self, server: str = SERVER) -> Discovered:
        return discover(Web(lambda: httpx.AsyncClient(transport=httpx.MockTransport(self))), server)


def test_the_challenge_says_where_metadata_are_and_what_to_ask_for() -> None:
    named = "https://notes.test/about"
    other = Other({named: RESOURCE, OAUTH: METADATA}, f'Bearer resource_metadata="{named}", scope="write"')
    found = other.discover()
    assert other.asked == [SERVER, named, OAUTH]
    assert (found.resource, found.scopes, found.server.issuer) == (SERVER, ("write",), ISSUER)


def test_without_it_the_path_is_inserted_and_then_the_root_is_asked() -> None:
    other = Other({AT_ROOT: RESOURCE, OAUTH: METADATA})
    assert other.discover().scopes == ("read",)
    assert other.asked == [SERVER, INSERTED, AT_ROOT, OAUTH]


def test_of_an_issuer_with_a_path_three_places_are_asked_in_order() -> None:
    issuer = f"{ISSUER}/tenant"
    places = [
        f"{ISSUER}/.well-known/oauth-authorization-server/tenant",
        f"{ISSUER}/.well-known/openid-configuration/tenant",
        f"{ISSUER}/tenant/.well-known/openid-configuration",
    ]
    other = Other({INSERTED: RESOURCE | {"authorization_servers": [issuer]}, places[2]: METADATA | {"issuer": issuer}})
    assert other.discover().server.issuer == issuer
    assert other.asked[-3:] == places


def test_of_an_issuer_without_a_path_two_are() -> None:
    openid = f"{ISSUER}/.well-known/openid-configuration"
    other = Other({INSERTED: RESOURCE, openid: METADATA})
    other.discover()
    assert other.asked[-2:] == [OAUTH, openid]


@pytest.mark.parametrize(
    ("resource", "metadata", "sentence"),
    [
        ({"resource": "https://evil.test/v1/mcp"}, {}, "speak of another server"),
        ({"resource": "https://notes.test/v1/mcp/deeper"}, {}, "speak of another server"),
        ({"resource": None}, {}, "speak of another server"),
        ({"authorization_servers": []}, {}, "names no authorization server"),
        ({"authorization_servers": ["http://login.test"]}, {}, "without TLS"),
        ({"authorization_servers": ["https://a@login.test"]}, {}, "no address of HTTPS"),
        ({"authorization_servers": [3]}, {}, "is no address"),
        ({}, {"issuer": f"{ISSUER}/"}, "another issuer"),
        ({}, {"issuer": "https://evil.test"}, "another issuer"),
        ({}, {"code_challenge_methods_supported": ["plain"]}, "does not offer PKCE"),
        ({}, {"code_challenge_methods_supported": None}, "does not offer PKCE"),
        ({}, {"token_endpoint": "http://login.test/token"}, "without TLS"),
        ({}, {"token_endpoint": None}, "is no address"),
        ({}, {"authorization_endpoint": "javascript:alert(1)"}, "no address of HTTPS"),
        ({}, {"registration_endpoint": "file:///etc/passwd"}, "no address of HTTPS"),
    ],
)
def test_what_is_not_as_it_must_be_is_refused(resource: Any, metadata: Any, sentence: str) -> None:
    other = Other({INSERTED: RESOURCE | resource, OAUTH: METADATA | metadata})
    with pytest.raises(LoginNotPossible, match=sentence):
        other.discover()


def test_an_address_without_tls_is_not_asked_at_all() -> None:
    other = Other({})
    with pytest.raises(LoginNotPossible, match="without TLS"):
        other.discover("http://notes.test/mcp")
    with pytest.raises(LoginNotPossible, match="without TLS"):
        Other({}, 'Bearer resource_metadata="http://169.254.169.254/x"').discover()
    assert other.asked == []


@pytest.mark.parametrize(
    ("resource", "server", "is_covered"),
    [
        ("https://a.test/mcp", "https://a.test/mcp", True),
        ("https://a.test/mcp/", "https://a.test/mcp", True),
        ("https://a.test", "https://a.test/mcp", True),
        ("https://A.test:443/mcp", "https://a.test/mcp/deeper", True),
        ("https://a.test/mc", "https://a.test/mcp", False),
        ("https://a.test/mcp", "https://a.test/", False),
        ("https://a.test.evil.test", "https://a.test/", False),
        ("https://a.test/?x", "https://a.test/", False),
        ("http://a.test/", "https://a.test/", False),
        ("", "", False),
    ],
)
def test_a_resource_covers_what_lies_below_it(resource: str, server: str, is_covered: bool) -> None:
    assert covers(resource, server) is is_covered
