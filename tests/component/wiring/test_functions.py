"""The Lambda handlers, called with every event, as API Gateway, SQS and EventBridge Scheduler send them.

Each logs in to the database as in a deployment: search with the rights of the reader, the others with the writer's
(docs/adr/0031).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.session import Session
from skillroute.core.postgres.refusals import NotPermitted
from skillroute.core.postgres.roles import Group
from skillroute.wiring import Parts
from skillroute_local.lambda_events import Invocation
from skillroute_local.queue_server import QueueServer, ensure_queues, queue_environment

from tests.conftest import fresh_database, url_as
from tests.events import ADMIN_ROLE, EVENTS, JWT, answer, delete_queues, event, function_module
from tests.scenario import OF_NO_ORGANISATION, SIGNED, WITH_TOKENS, Step


@pytest.fixture
def endpoint() -> Iterator[str]:
    with QueueServer() as server:
        yield server.url
        delete_queues(server.url)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> pytest.MonkeyPatch:
    """What a function finds in its environment, but for its database and who vouches for callers."""
    for name, value in queue_environment(endpoint, ensure_queues(endpoint)).items():
        monkeypatch.setenv(name, value)
    return monkeypatch


HandlerOf = Callable[[str], ModuleType]


@pytest.fixture
def handler_of(environment: pytest.MonkeyPatch, database_url: str) -> Iterator[HandlerOf]:
    """A function's module by the function's name, loaded once a test; it embeds with the real model."""
    made: list[Parts] = []
    loaded: dict[str, ModuleType] = {}

    def remembered(settings: Any) -> Parts:
        made.append(Parts(settings))
        return made[-1]

    def load(function: str) -> ModuleType:
        if function not in loaded:
            group: Group = "reader" if function in {"search", "mcp"} else "writer"
            environment.setenv("SKILLROUTE_DATABASE_URL", url_as(group, database_url))
            loaded[function] = function_module(function)
        return loaded[function]

    environment.setattr("skillroute.wiring.Parts", remembered)
    yield load
    for parts in made:
        parts.close()


def run(steps: Sequence[Step], handler_of: HandlerOf) -> None:
    for step in steps:
        said = handler_of(step.function).handler(event(step.event), Invocation(f"skillroute-{step.function}", 60))
        status, body = (None, said) if step.status is None else answer(said)
        assert status == step.status, f"{step.event}: {status} {body}"
        assert step.check(body), f"{step.event}: {json.dumps(body, indent=1)}"


def test_every_event_is_answered_when_aws_signatures_vouch(
    handler_of: HandlerOf, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("SKILLROUTE_AUTH", "iam")
    environment.setenv("SKILLROUTE_IAM_ADMINS", ADMIN_ROLE)
    run(SIGNED, handler_of)


def test_every_event_is_answered_when_tokens_vouch(handler_of: HandlerOf, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("SKILLROUTE_AUTH", "jwt")
    for name, value in JWT.items():
        environment.setenv(name, value)
    run(WITH_TOKENS, handler_of)


def test_callers_of_no_organisation_are_answered_where_a_deployment_says_so(
    handler_of: HandlerOf, environment: pytest.MonkeyPatch
) -> None:
    environment.setenv("SKILLROUTE_AUTH", "jwt")
    environment.setenv("SKILLROUTE_JWT_REQUIRE_ORG", "false")
    for name, value in JWT.items():
        environment.setenv(name, value)
    run(OF_NO_ORGANISATION, handler_of)


def test_the_relay_runs_as_the_writer_and_migrates_as_the_owner(
    environment: pytest.MonkeyPatch, postgres_server: Any, migrated_template: str, aws: str
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        environment.setenv(name, "x")
    environment.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", aws)
    migrate, invocation = {"command": "migrate"}, Invocation("skillroute-relay", 60)
    with fresh_database(postgres_server, "template0") as url:
        # GIVEN an empty database, and a relay that knows no other login than its own
        environment.setenv("SKILLROUTE_DATABASE_URL", url_as("writer", url))
        with pytest.raises(NotPermitted, match="run by the schema's owner"):
            function_module("relay").handler(migrate, invocation)
        # WHEN it is told the owner's secret
        owner = urlsplit(url)
        login = {"username": owner.username, "password": owner.password, "host": owner.hostname, "port": owner.port}
        environment.setenv("SKILLROUTE_DATABASE_OWNER_SECRET_ARN", secret(aws, {**login, "dbname": owner.path[1:]}))
        # THEN it migrates
        relay = function_module("relay")
        assert relay.handler(migrate, invocation)["applied"][0] == "0001_catalogue"
        assert relay.handler(migrate, invocation)["applied"] == []


def secret(endpoint: str, content: dict[str, Any]) -> str:
    """Keep a secret in Secrets Manager, and return its ARN."""
    client = Session().create_client("secretsmanager", region_name="us-east-1", endpoint_url=endpoint)
    arn: str = client.create_secret(Name="owner", SecretString=json.dumps(content))["ARN"]
    client.close()
    return arn


def test_every_event_is_used() -> None:
    assert {step.event for step in (*SIGNED, *WITH_TOKENS)} == EVENTS
