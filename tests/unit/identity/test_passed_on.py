"""Audiences of tokens that the door has checked."""

from __future__ import annotations

import base64
import json

import pytest
from skillroute.identity.passed_on import audiences_of, why_not


def token(payload: object) -> str:
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).rstrip(b"=").decode()
    return f"e30.{body}.signature"


@pytest.mark.parametrize(
    ("text", "audiences"),
    [
        (token({"aud": "a"}), {"a"}),
        (token({"aud": ["a", "b", 3]}), {"a", "b"}),
        (token({"aud": {"a": 1}}), set()),
        (token(["aud"]), set()),
        (token({}), set()),
        ("a.b", set()),
        ("a.!!!.c", set()),
        ("a." + "[" * 20_000 + ".c", set()),
        ("", set()),
    ],
)
def test_audiences_are_those_of_the_claim(text: str, audiences: set[str]) -> None:
    assert audiences_of(text) == audiences


def test_the_refusal_names_the_audiences_that_would_do_and_never_the_token() -> None:
    given = token({"aud": "other"})
    refused = why_not(given, ["b", "a"], "notes")
    assert refused is not None
    assert "none of a, b" in refused
    assert given not in refused
    assert why_not(given, ["other"], "notes") is None
    assert "came without one" in str(why_not(None, ["a"], "notes"))
