"""What callers are told of an outage: a fixed sentence, whichever adapter raised what. The log says the rest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from skillroute.core.errors.model import DependencyUnavailable, EmbeddingModelMismatch, OutcomeUnknown, SkillrouteError
from skillroute.core.http.app import create_app
from skillroute.core.postgres import refusals
from skillroute.core.time.retry import TransientFailure

from tests.doubles import LogRecords

DETAILS = (
    "secret arn:aws:secretsmanager:eu-central-1:123456789012:secret:db cannot be read; PostgreSQL at db.internal:5432: "
    'password authentication failed for user "ann"'
)


def kinds(of: type[DependencyUnavailable] = DependencyUnavailable) -> Iterator[type[DependencyUnavailable]]:
    """Return every error of the branch, those that adapters make for themselves included."""
    assert TransientFailure and refusals.LoginRefused  # loaded, so that they are among the subclasses
    yield of
    for kind in of.__subclasses__():
        if kind.__module__.startswith("skillroute."):  # those of the command line have no answers
            yield from kinds(kind)


def answering(error: Exception) -> TestClient:
    """Return a client of an app whose one route fails."""
    router = APIRouter()

    @router.get("/")
    def fail() -> None:
        raise error

    return TestClient(create_app([router]), raise_server_exceptions=False)


# These have another message or header, or another constructor.
SPECIAL = {EmbeddingModelMismatch, OutcomeUnknown, refusals.CommitUnanswered}


@pytest.mark.parametrize("kind", sorted(set(kinds()) - SPECIAL, key=lambda kind: kind.__name__))
def test_an_outage_is_told_by_its_own_sentence_and_logged_in_full(kind: type[DependencyUnavailable]) -> None:
    client = answering(kind(DETAILS))
    with LogRecords().attached() as log:
        response = client.get("/")
    assert (response.status_code, response.json()["detail"]) == (503, kind.public_message)
    assert response.headers["retry-after"] == "1"
    assert [record.reason for record in log.having("dependency unavailable")] == [DETAILS]  # type: ignore[attr-defined]


@pytest.mark.parametrize("error", [OutcomeUnknown(DETAILS), refusals.CommitUnanswered(xid="7", server="planted")])
def test_a_change_that_may_be_stored_is_told_so_and_not_to_be_sent_again_unread(error: OutcomeUnknown) -> None:
    response = answering(error).get("/")
    assert (response.status_code, response.json()["detail"]) == (503, OutcomeUnknown.public_message)
    assert "read before sending it again" in OutcomeUnknown.public_message
    assert "retry-after" not in response.headers


def test_another_model_is_told_by_both_names() -> None:
    response = answering(EmbeddingModelMismatch(stored="titan", configured="minilm")).get("/")
    assert response.status_code == 503
    assert "titan" in response.json()["detail"]
    assert "minilm" in response.json()["detail"]


@pytest.mark.parametrize("error", [SkillrouteError(DETAILS), RuntimeError(DETAILS)], ids=lambda e: type(e).__name__)
def test_what_nobody_foresaw_tells_nothing(error: Exception) -> None:
    response = answering(error).get("/")
    assert (response.status_code, response.json()["detail"]) == (500, "Internal Server Error")
