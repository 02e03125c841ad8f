"""The API takes the requests that its document gives as examples; its events are as the document says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP
from skillroute.core.notification.sns import SnsNotifier
from skillroute.core.queue.failed_work import FailedWork
from skillroute.skills.queues import AGGREGATE, CLASSIFY
from skillroute_local.api_document.examples import examples
from skillroute_local.api_document.walk import METHODS

from tests.api.routes import Route, fill
from tests.builders import System
from tests.doubles import proposing
from tests.openapi import published
from tests.unit.local.api_document.test_examples import problems

OF_WHAT_IS_NOT_THERE = {"IdentityRequest", "LoginRequest", "AcknowledgeRequest", "AccessRuleBody", "ExplainAccessBody"}
"""Examples that name what is not there, or an agent who has not got the message."""
BEFORE = (
    ("POST", "/api/v1/skills", "SkillCreate"),
    ("PUT", "/api/v1/mail/projects", "PutProjectsRequest"),
    ("PUT", "/api/v1/mail/products", "PutProductsRequest"),
)
"""Examples that others refer to."""


def examples_of_requests() -> list[tuple[Route, str]]:
    """Return every operation that takes a body, with the schema of it."""
    found = []
    for path, item in published()["paths"].items():
        for method in set(METHODS) & set(item):
            content = item[method].get("requestBody", {}).get("content", {}).get("application/json", {})
            schema = content.get("schema", {})
            reference = schema.get("$ref") or next(iter(schema.get("anyOf", [{}]))).get("$ref", "")
            name = reference.rpartition("/")[2]
            if name in examples():
                found.append(((method.upper(), path), name))
    return sorted(found)


@pytest.mark.parametrize(("route", "name"), examples_of_requests(), ids=str)
def test_a_request_that_is_an_example_is_taken(client: TestClient, system: System, route: Route, name: str) -> None:
    ids = fill(system)
    method, path = route
    for earlier in BEFORE:
        if earlier != (method, path, name):
            assert client.request(*earlier[:2], json=examples()[earlier[2]]).status_code in {200, 201}
    known = {
        f"{kind}_id": ids[kind] for kind in ("item", "skill", "suggestion", "server", "agent", "agent_skill", "message")
    } | {"rule_id": 1}
    response = client.request(method, path.format(**known), json=examples()[name])
    expected = {200, 201} | ({404, 403, 409, 422} if name in OF_WHAT_IS_NOT_THERE else set())
    assert response.status_code in expected, response.text
    if response.status_code == 200 and "failed" in response.json():
        [result] = response.json()["results"]
        assert (response.json()["failed"], result.get("errors", []), result.get("warnings", [])) == (0, [], [])


class Topic:
    """An SNS client that keeps what is published."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def publish(self, **message: Any) -> None:
        assert message["MessageAttributes"]["event"]["StringValue"] == json.loads(message["Message"])["event"]
        self.messages.append(json.loads(message["Message"]))


def test_events_are_as_the_document_says(system: System) -> None:
    # GIVEN a suggestion, an approval without anybody's decision, a description, and work that was given up
    for name in ("encode", "decode", "cut"):
        system.classifier.answers[name] = proposing("Video")
    system.classify(*system.put("encode", "decode", "cut"))
    system.chat.reply = {"description": "Encoding, decoding and cutting films."}
    system.create("films", description="Whatever has to do with films.")
    system.assign(system.put("play")[0], films=0.9)
    system.parts.classification.describe("films", LAPTOP)
    failed = FailedWork(system.parts.database, system.notifier, max_receives=1)
    failed(CLASSIFY, {"1": "throttled"}, {"1": 1})
    failed.unreadable(AGGREGATE, "5f1c", "it is no JSON", 1)
    # WHEN they are published
    topic = Topic()
    notifier = SnsNotifier("arn:aws:sns:us-east-1:123456789012:people", client=topic)
    for event, subject, details in system.notifier.events:
        notifier.notify(event, subject, details)
    # THEN each is of the schema of its webhook
    hooks = published()["webhooks"]
    for message in topic.messages:
        content = hooks[message["event"]]["post"]["requestBody"]["content"]["application/json"]
        assert problems(content["schema"]["$ref"].rpartition("/")[2], message) == []
    # AND there is one of each
    assert {message["event"] for message in topic.messages} == set(hooks)
    # AND no field of them is left out of the document
    for message in topic.messages:
        name = "".join(part.title() for part in message["event"].split("_"))
        assert set(message["details"]) <= set(published()["components"]["schemas"][f"{name}Details"]["properties"])
