"""GIVEN texts of servers and credentials, WHEN they are shown or sent, THEN they are cut, and no line is ended."""

from __future__ import annotations

import pytest
from skillroute.calling.exchange import Budget, headers_of, quoted
from skillroute.calling.model import CallFailed, Failure
from skillroute.core.outbound.credentials import Credentials


def test_a_quotation_is_one_line_and_short() -> None:
    assert quoted("a\r\n b\x00\x1b[31m\ud800") == "a b??[31m?"
    assert len(quoted("x" * 10_000)) == 200


def test_a_budget_is_spent_to_its_last_byte() -> None:
    budget = Budget(10, "a.example")
    budget.take(10)
    with pytest.raises(CallFailed, match=r"^a\.example answers with more than the 10 bytes") as failed:
        budget.take(1)
    assert failed.value.failure is Failure.TOO_LARGE


def test_headers_of_credentials_are_checked_without_showing_them() -> None:
    assert headers_of(Credentials({"Authorization": "Bearer t", "X-Key": "k"})) == {
        "authorization": "Bearer t",
        "x-key": "k",
    }
    for name, value in (("X-A", "secret\r\nX-B: c"), ("X A", "secret"), ("host", "secret"), ("X", "secret\u00e9")):
        with pytest.raises(CallFailed) as failed:
            headers_of(Credentials({name: value}))
        assert "secret" not in str(failed.value)
