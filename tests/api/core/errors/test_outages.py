"""What callers hear of an outage through the real adapters: not where anything is, nor who we are there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.http.app import create_app
from skillroute.core.postgres.address import Address, AddressSource, SecretAddress
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts

from tests.conftest import fresh_database
from tests.doubles import LogRecords
from tests.integration.rows import connected

ACCOUNT = "123456789012"
ARN = f"arn:aws:secretsmanager:eu-central-1:{ACCOUNT}:secret:skillroute-db-AbCdEf"
AWAY = "http://127.0.0.1:1"
"""Nobody listens there."""


@contextmanager
def answering(address: AddressSource | None = None, **settings: Any) -> Iterator[TestClient]:
    """Lend a client of an app over the real adapters, as `settings` make them."""
    parts = Parts(LocalSettings(**{"embedding_provider": "hashing", **settings}), address=address)
    try:
        routers, use_cases = parts.served("search", "catalog")
        app = create_app(routers, use_cases=use_cases)
        yield TestClient(app, raise_server_exceptions=False)
    finally:
        parts.close()


def what_is_told(client: TestClient) -> tuple[set[str], str, str]:
    """Return what callers are told is wrong, all that they are sent, and what the log says."""
    with LogRecords().attached() as log:
        listed = client.get("/api/v1/tools")
        searched = client.get("/api/v1/search/tools", params={"query": "water"})
        answers = [listed, searched, client.get("/health"), client.get("/ready")]
    told = {answer.json()["detail"] for answer in answers[:2] if answer.status_code == 503}
    for answer in answers[2:]:
        told |= {part["detail"] for part in answer.json()["dependencies"].values()} - {None}
    sent = "".join(answer.text + str(answer.headers) for answer in answers)
    return told, sent, " ".join(str(getattr(record, "reason", "")) for record in log.records)


def assert_only_logged(client: TestClient, expected: str, *details: str) -> None:
    told, sent, logged = what_is_told(client)
    assert told == {expected}
    assert [detail for detail in details if detail in sent] == []
    assert [detail for detail in details if detail not in logged] == []


def test_a_host_where_nobody_listens() -> None:
    with answering(database_url="postgresql://planted:p@127.0.0.1:1/db") as client:
        assert_only_logged(client, "PostgreSQL cannot be reached", "127.0.0.1:1")


def test_a_login_that_is_refused(database_url: str) -> None:
    at = Address.parse(database_url)
    with answering(database_url=f"postgresql://planted:p@{at.host}:{at.port}/{at.database}") as client:
        assert_only_logged(client, "PostgreSQL cannot be reached", "authentication failed", "planted")


def test_a_secret_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", AWAY)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    with answering(database_secret_arn=ARN) as client:
        assert_only_logged(client, "PostgreSQL cannot be reached", ARN, "EndpointConnectionError")


@pytest.mark.parametrize(
    ("secret", "logged"),
    [
        ("planted", "not a JSON object"),
        (json.dumps({"password": "planted"}), "lacks username"),
        (json.dumps({"url": "mysql://planted@host/db"}), "no usable URL"),
        (json.dumps({"username": "planted", "port": "planted"}), "port that is no number"),
    ],
)
def test_a_secret_that_says_something_else(secret: str, logged: str) -> None:
    class Kept:
        def read(self, *, again: bool = False) -> str:
            return secret

    with answering(SecretAddress(Kept(), host="db.internal"), database_secret_arn=ARN) as client:
        assert_only_logged(client, "PostgreSQL cannot be reached", logged)


def test_a_database_without_a_schema(postgres_server: Any) -> None:
    with fresh_database(postgres_server, "template1") as url, answering(database_url=url) as client:
        expected = "the database's schema is not there or not up to date: run `skillroute migrate`"
        assert_only_logged(client, expected, 'relation "mcp.')


def test_an_embedding_endpoint_that_is_away(database_url: str) -> None:
    with answering(
        database_url=database_url,
        embedding_provider="openai",
        embedding_model="m",
        embedding_dimension=384,
        openai_base_url=f"{AWAY}/v1",
        openai_api_key_secret_arn=ARN,
    ) as client:
        assert_only_logged(client, "the embedding model is not available", ARN)


def test_an_index_server_that_is_away(database_url: str) -> None:
    # GIVEN a server that was filled, and then went away
    model = HashingEmbedder().model
    with connected(database_url) as sql:
        sql(
            "INSERT INTO mcp.index_generations (index_name, generation, model, dimension, epoch, seen, ready_at) "
            f"SELECT 'qdrant:', 1, '{model.name}', {model.dimension}, epoch, pg_current_snapshot(), now() "
            "FROM mcp.index_state"
        )
    # WHEN, THEN
    with answering(database_url=database_url, qdrant_url=AWAY) as client:
        told, sent, logged = what_is_told(client)
    assert told == {"the vector index is not available"}
    assert "127.0.0.1:1" not in sent
    assert "the vector index failed" in logged


def test_an_index_server_that_was_never_filled(database_url: str) -> None:
    with answering(database_url=database_url, qdrant_url=AWAY) as client:
        assert what_is_told(client)[0] == {"the vector index is being built"}


def test_an_index_server_whose_key_cannot_be_read(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", AWAY)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    settings = {"database_url": database_url, "qdrant_url": AWAY, "qdrant_api_key_secret_arn": ARN}
    with answering(**settings) as client:
        searched = client.post("/api/v1/search", json={"query": "water"})
        assert (searched.status_code, searched.json()["metadata"]["degraded"]) == (200, ["index_unavailable"])
        assert ARN not in searched.text
