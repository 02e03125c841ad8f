"""`POST /api/v1/tools/search_messages` and `/search_messages_product` over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.core.caller import LAPTOP
from skillroute.mail.search.tools.arguments import SEARCH_MESSAGES, SEARCH_MESSAGES_PRODUCT

from tests.api.one_app import app_over
from tests.builders import System

ONE, MANY = "/api/v1/tools/search_messages", "/api/v1/tools/search_messages_product"
ARGUMENTS: dict[str, dict[str, Any]] = {
    ONE: {"project_key": "garden", "query": "water"},
    MANY: {"product_key": "estate", "query": "water"},
}
both = pytest.mark.parametrize("route", [ONE, MANY])


def fill(system: System) -> None:
    """Store a message in a project of a product."""
    sync = system.parts.mail.sync
    sync("project", [{"key": "garden", "name": "Garden"}], LAPTOP)
    sync("product", [{"key": "estate", "name": "Estate", "projects": ["garden"]}], LAPTOP)
    message = {"key": "m1", "project": "garden", "from": "BlueLake", "to": ["RedFox"], "subject": "Water the plants"}
    sync("message", [message], LAPTOP)


@pytest.fixture
def client(system: System, client: TestClient) -> TestClient:
    fill(system)
    return client


@pytest.fixture(scope="module")
def asked(shared_system: System, shared_client: TestClient) -> TestClient:
    """The same for all tests that change nothing."""
    fill(shared_system)
    return shared_client


def ask(client: TestClient, route: str, **arguments: Any) -> Any:
    body = json.dumps({**ARGUMENTS[route], **arguments})
    return client.post(route, content=body, headers={"content-type": "application/json"})


@both
def test_what_is_found_is_told_as_json(asked: TestClient, route: str) -> None:
    response = ask(asked, route)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    [result] = response.json()["result"]
    assert (result["subject"], result["from"], "project_id" in result) == (
        "Water the plants",
        "BlueLake",
        route == MANY,
    )


@both
def test_a_blank_query_is_an_empty_result(asked: TestClient, route: str) -> None:
    assert ask(asked, route, query=" ").text == '{"result":[]}'


@both
@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ({"ranking": "newest"}, "ranking", "must be one of relevance, recency"),
        ({"importance": "critical"}, "importance", "must be any of low, normal, high, urgent, separated by commas"),
        ({"date_start": "soon"}, "date_start", "must be an ISO 8601 date or time"),
        ({"limits": 3}, "limits", "did you mean limit?"),
        ({"sender": "a", "from_agent": "b"}, "sender", "is another name of from_agent"),
        ({"query": None}, "query", "is required"),
        ({"\ud800.x": 1}, "?", "is not an argument of"),
    ],
)
def test_a_wrong_argument_is_422_and_named(
    asked: TestClient, route: str, arguments: dict[str, Any], field: str, said: str
) -> None:
    response = ask(asked, route, **arguments)
    assert response.status_code == 422, response.text
    [problem] = response.json()["detail"]
    assert problem["loc"][:2] == ["body", field]
    assert said in problem["msg"]


@pytest.mark.parametrize(
    ("route", "field", "said"),
    [
        (ONE, "project_key", "is not the key of a project that you may see; allowed are garden"),
        (MANY, "product_key", "is not the key of a product that you may see; allowed are estate"),
        (MANY, "project", "is not the key of a project of estate that you may see; allowed are garden"),
    ],
)
def test_an_unknown_place_is_422_with_those_that_there_are(
    asked: TestClient, route: str, field: str, said: str
) -> None:
    response = ask(asked, route, **{field: "nowhere"})
    assert response.status_code == 422
    assert response.json()["detail"] == [{"type": "value_error", "loc": ["body", field], "msg": said}]


@both
@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', "null", "7"])
def test_a_body_that_is_no_object_is_422(asked: TestClient, route: str, content: str) -> None:
    response = asked.post(route, content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422, response.text


@both
def test_with_the_database_down_it_is_503(system: System, client: TestClient, route: str) -> None:
    system.feed.down = system.database.down = True
    response = ask(client, route)
    assert (response.status_code, response.json()["detail"]) == (503, "PostgreSQL cannot be reached")


@both
def test_without_the_model_it_is_200_and_says_so(system: System, client: TestClient, route: str) -> None:
    system.parts.messages.search._setting = "hybrid"  # the products' tool has no mode of its own
    system.embedder.away = True
    response = ask(client, route)
    assert response.status_code == 200
    assert response.json()["diagnostics"]["fallback_mode"] == "lexical"


class TestBudget:
    """How much time an invocation has left is what Lambda says of it."""

    @pytest.fixture
    def invoke(self, system: System, client: TestClient) -> Callable[[object], dict[str, Any]]:
        handler = Mangum(app_over(system), lifespan="off")

        def invoke(context: object) -> dict[str, Any]:
            event = {
                "version": "2.0",
                "rawPath": ONE,
                "rawQueryString": "",
                "headers": {"content-type": "application/json"},
                "requestContext": {
                    "http": {"method": "POST", "path": ONE, "sourceIp": "127.0.0.1"},
                    "stage": "$default",
                },
                "body": '{"project_key": "garden", "query": "water", "mode": "semantic"}',
                "isBase64Encoded": False,
            }
            response: dict[str, Any] = handler(event, context)  # type: ignore[arg-type]
            assert response["statusCode"] == 200
            return response

        return invoke

    @pytest.mark.parametrize(
        ("left_ms", "is_degraded"), [(30_000, False), (121 + 30_000, False), (120, True), (0, True)]
    )
    def test_on_lambda_it_is_what_remains(
        self, invoke: Callable[[object], dict[str, Any]], left_ms: int, is_degraded: bool
    ) -> None:
        class Context:
            @staticmethod
            def get_remaining_time_in_millis() -> int:
                return left_ms

        assert ('"timeout_stage":"vector"' in invoke(Context())["body"]) is is_degraded

    @pytest.mark.parametrize("context", [None, object()])
    def test_elsewhere_there_is_no_end(self, invoke: Callable[[object], dict[str, Any]], context: object) -> None:
        assert "diagnostics" not in invoke(context)["body"]


def documented(asked: TestClient) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the paths and the schemas of the document."""
    document = asked.get("/openapi.json").json()
    return document["paths"], document["components"]["schemas"]


class TestDocument:
    def test_the_arguments_are_the_tools_schema(self, asked: TestClient) -> None:
        paths, schemas = documented(asked)
        for route, tool in ((ONE, SEARCH_MESSAGES), (MANY, SEARCH_MESSAGES_PRODUCT)):
            body = paths[route]["post"]["requestBody"]
            shown = schemas[body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
            for name, taken in tool.schema["properties"].items():
                assert {key: shown["properties"][name].get(key) for key in taken} == taken
            assert shown["required"] == tool.schema["required"]
            assert body["required"] is True

    def test_the_answer_is_described(self, asked: TestClient) -> None:
        paths, schemas = documented(asked)
        for route in (ONE, MANY):
            content = paths[route]["post"]["responses"]["200"]["content"]
            answer = schemas[content["application/json"]["schema"]["$ref"].rpartition("/")[2]]
            assert {"result", "next_cursor", "diagnostics"} <= set(answer["properties"])
            assert ("explain" in answer["properties"]) is (route == ONE)
