"""Passwords, keys and tokens are planted wherever one can be, everything fails, and nothing that is written shows them.

API keys are planted twice: as settings, and as a deployment has them, in Secrets Manager.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.session import Session
from skillroute.core.caller import LAPTOP
from skillroute.core.http.app import create_app
from skillroute.core.postgres.address import Address
from skillroute.core.settings import LocalSettings
from skillroute.skills.model import NewSkill
from skillroute.wiring import Parts

from tests.component.planted import CLOSED, KEYS, PASSWORD, answers_of, assert_nothing_shows, run
from tests.unit.core.stubs import Answer, Request, StubServer

Environment = dict[str, str]
Store = Callable[[str], str]


@pytest.fixture(scope="module")
def store(aws: str) -> Iterator[Store]:
    """Keeps a text in Secrets Manager and returns the secret's ARN."""
    client: Any = Session().create_client(
        "secretsmanager",
        region_name="eu-central-1",
        endpoint_url=aws,
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    stored: list[str] = []

    def keep(text: str) -> str:
        stored.append(client.create_secret(Name=f"secret{len(stored)}", SecretString=text)["ARN"])
        return stored[-1]

    yield keep
    client.close()


@pytest.fixture(scope="module")
def keys(aws: str, store: Store) -> dict[str, Environment]:
    """The variables that say all API keys, by where the keys are."""
    arns = {f"{name}_SECRET_ARN": store(json.dumps({"api_key": key})) for name, key in KEYS.items()}
    return {"settings": KEYS, "secrets": arns | {"AWS_ENDPOINT_URL_SECRETS_MANAGER": aws}}


@pytest.fixture(scope="module")
def repeating_server() -> Iterator[StubServer]:
    """An endpoint that refuses every key and repeats it, as some do."""

    def refuse(request: Request) -> Answer:
        return Answer(
            401,
            {
                "error": {
                    "message": f"refused: {request.headers.get('authorization') or request.headers.get('api-key')}"
                }
            },
        )

    server = StubServer(refuse)
    yield server
    server.close()


@pytest.mark.parametrize("function", ["search", "catalog", "skills", "classify", "aggregate", "learn", "relay"])
def test_a_database_that_is_away(function: str) -> None:
    written = run(function, SKILLROUTE_DATABASE_URL=CLOSED)
    assert "cannot be reached" in written
    assert_nothing_shows(written)


@pytest.mark.parametrize("function", ["search", "classify"])
def test_a_password_that_is_refused(function: str, database_url: str) -> None:
    address = Address.parse(database_url)
    url = f"postgresql://{address.user}:{PASSWORD}@{address.host}:{address.port}/{address.database}"
    written = run(function, SKILLROUTE_DATABASE_URL=url)
    assert "password authentication failed" in written
    assert_nothing_shows(written)


@pytest.mark.parametrize(
    "url",
    [f"postgresql://u:{PASSWORD}@host:port/db", f"mysql://u:{PASSWORD}@host/db", f"postgresql://u:{PASSWORD}@[::1/db"],
    ids=["port", "scheme", "brackets"],
)
def test_a_database_url_that_is_none(url: str) -> None:
    written = run("search", SKILLROUTE_DATABASE_URL=url)
    assert "SKILLROUTE_DATABASE_URL must look like" in written
    assert_nothing_shows(written)


def test_wrong_settings_are_told_without_their_values() -> None:
    written = run("search", SKILLROUTE_DATABASE_URL=CLOSED, SKILLROUTE_QUERY_TIMEOUT_S=PASSWORD, SKILLROUTE_AUTH="none")
    assert "SKILLROUTE_QUERY_TIMEOUT_S" in written
    assert_nothing_shows(written)


@pytest.mark.parametrize(
    ("function", "where"),
    [("search", "settings"), ("search", "secrets"), ("catalog", "secrets"), ("skills", "secrets")],
)
def test_an_embedding_endpoint_that_repeats_its_key(
    function: str, where: str, keys: dict[str, Environment], database_url: str, repeating_server: StubServer
) -> None:
    repeating_server.requests.clear()
    written = run(
        function,
        **keys[where],
        SKILLROUTE_DATABASE_URL=database_url,
        SKILLROUTE_EMBEDDING_PROVIDER="openai",
        SKILLROUTE_EMBEDDING_MODEL="m",
        SKILLROUTE_EMBEDDING_DIMENSION="384",
        SKILLROUTE_OPENAI_BASE_URL=f"{repeating_server.url}/v1",
    )
    assert {each.headers["authorization"] for each in repeating_server.requests} == {"Bearer planted-embedding-key"}
    assert "[key]" in written
    assert_nothing_shows(written)


@pytest.mark.parametrize(
    ("function", "where"), [("skills", "secrets"), ("classify", "settings"), ("classify", "secrets")]
)
def test_a_language_model_that_repeats_its_key(
    function: str, where: str, keys: dict[str, Environment], database_url: str, repeating_server: StubServer
) -> None:
    # GIVEN tools with the ids 1 to 3, which the events name, and a skill that the model is offered
    parts = Parts(
        LocalSettings(database_url=database_url, embedding_provider="hashing")  # type: ignore[arg-type]
    )
    parts.skills.create(NewSkill(id="mail", name="Mail", description="Sends messages."), LAPTOP)
    parts.catalogue.sync([{"name": f"send_{n}", "description": "Sends a message."} for n in range(3)], LAPTOP)
    parts.close()
    repeating_server.requests.clear()

    written = run(
        function,
        **keys[where],
        SKILLROUTE_DATABASE_URL=database_url,
        SKILLROUTE_CLASSIFIER="llm",
        SKILLROUTE_CHAT_PROVIDER="openai",
        SKILLROUTE_CHAT_MODEL="m",
        SKILLROUTE_CHAT_BASE_URL=f"{repeating_server.url}/v1",
    )

    assert {each.headers["authorization"] for each in repeating_server.requests} == {"Bearer planted-chat-key"}
    assert "refused: Bearer [key]" in written
    assert_nothing_shows(written)


@pytest.mark.parametrize("where", ["settings", "secrets"])
def test_an_index_server_that_repeats_its_key(
    where: str, keys: dict[str, Environment], database_url: str, repeating_server: StubServer
) -> None:
    repeating_server.requests.clear()
    # a search asks the server only after somebody who may write has filled it
    written = run(
        "catalog", **keys[where], SKILLROUTE_DATABASE_URL=database_url, SKILLROUTE_QDRANT_URL=repeating_server.url
    )
    assert {each.headers["api-key"] for each in repeating_server.requests} == {"planted-qdrant-key"}
    assert "the vector index failed" in written
    assert_nothing_shows(written)


def test_a_key_that_is_kept_under_another_name(aws: str, store: Store, database_url: str) -> None:
    written = run(
        "search",
        SKILLROUTE_DATABASE_URL=database_url,
        SKILLROUTE_EMBEDDING_PROVIDER="openai",
        SKILLROUTE_EMBEDDING_MODEL="m",
        SKILLROUTE_EMBEDDING_DIMENSION="384",
        SKILLROUTE_OPENAI_BASE_URL="http://127.0.0.1:1/v1",
        SKILLROUTE_OPENAI_API_KEY_SECRET_ARN=store(json.dumps({"key": PASSWORD})),
        AWS_ENDPOINT_URL_SECRETS_MANAGER=aws,
    )
    assert "has no text under the key 'api_key'" in written
    assert_nothing_shows(written)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"url": CLOSED}),
        json.dumps({"username": "skillroute", "password": PASSWORD, "host": "127.0.0.1", "port": 1}),
        json.dumps({"password": PASSWORD}),
        PASSWORD,
        json.dumps({"url": f"mysql://u:{PASSWORD}@host/db"}),
    ],
    ids=["url", "login", "incomplete", "no json", "no url"],
)
def test_a_secret_of_aws(aws: str, store: Store, text: str) -> None:
    arn = store(text)
    written = run("search", SKILLROUTE_DATABASE_SECRET_ARN=arn, AWS_ENDPOINT_URL_SECRETS_MANAGER=aws)
    assert arn in written or "127.0.0.1:1" in written or "the database's secret" in written
    answers = json.dumps(answers_of(written))
    assert "PostgreSQL cannot be reached" in answers
    assert [
        detail for detail in (arn, "123456789012", "127.0.0.1:1", "the database's secret") if detail in answers
    ] == []
    assert_nothing_shows(written)


def test_the_openapi_document_and_printed_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", CLOSED)
    settings = LocalSettings.load()
    parts = Parts(settings)
    document = create_app(parts.served("search", "catalog", "skills").routers).openapi()
    assert document["paths"]
    assert_nothing_shows(json.dumps(document) + repr(settings) + str(settings) + repr(parts.address()))
    parts.close()
