"""Origins of addresses, and what is not shown of tokens."""

from __future__ import annotations

import pytest
from skillroute.identity.model import Tokens, origin_of


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("HTTPS://Example.COM:443/mcp?a#b", "https://example.com"),
        ("http://a.test:80", "http://a.test"),
        ("https://a.test:8443/x", "https://a.test:8443"),
        ("https://[::1]:8443/x", "https://[::1]:8443"),
        ("https://user:password@a.test/", "https://a.test"),
        ("ftp://a.test", ""),
        ("https://a.test:port/", ""),
        ("https://[::1", ""),
        ("/mcp", ""),
        ("", ""),
    ],
)
def test_an_origin_has_one_spelling(url: str, origin: str) -> None:
    assert origin_of(url) == origin


def test_tokens_do_not_show_themselves() -> None:
    tokens = Tokens("access-1", "refresh-1", "r", "i", "t", "", {"client_secret": "secret-1"})
    assert not [hidden for hidden in ("access-1", "refresh-1", "secret-1") if hidden in repr(tokens)]
