"""The header ``WWW-Authenticate``."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.identity.oauth.challenge import MAX_SCOPES, BearerChallenge, parse_challenge, scopes_of


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, BearerChallenge()),
        ("", BearerChallenge()),
        ("Basic realm=\"Bearer\"", BearerChallenge()),
        ("Bearer", BearerChallenge()),
        ('Bearer resource_metadata="https://a.test/x", scope="read write"',
         BearerChallenge("https://a.test/x", ("read", "write"))),
        ("bearer scope=read, error=insufficient_scope", BearerChallenge(None, ("read",), "insufficient_scope")),
        ('Basic realm="a, b", Bearer error="invalid_token"', BearerChallenge(error="invalid_token")),
        ('Bearer scope="a", Digest scope="b"', BearerChallenge(scopes=("a",))),
        ('Bearer resource_metadata="https://a.test/\\"x"', BearerChallenge('https://a.test/"x')),
    ],
)  # fmt: skip
def test_the_challenge_of_bearer_tokens_is_read(header: str | None, found: BearerChallenge) -> None:
    assert parse_challenge(header) == found


@given(st.text(alphabet=st.sampled_from('Bearer=",\\ \t scope'), max_size=300))
def test_any_header_is_read(header: str) -> None:
    parse_challenge(header)


def test_scopes_are_those_of_oauth_each_once_and_so_many() -> None:
    assert scopes_of('a b a é "c"  d\\') == ("a", "b")
    assert scopes_of(["a", 3, "b c"]) == ("a",)
    assert scopes_of(None) == ()
    assert len(scopes_of([f"s{n}" for n in range(500)])) == MAX_SCOPES
