"""The Lambda handlers, called with the events that API Gateway sends: each event of events/ once."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from skillroute.bootstrap import Parts
from skillroute.settings import LocalSettings
from skillroute.storage.queue_memory import MemoryQueue
from skillroute.web.app import create_app

ROOT = Path(__file__).parents[2]


class Context:
    """What Lambda tells a handler of the invocation, as far as Powertools reads it."""

    function_name = "skillroute"
    memory_limit_in_mb = 1769
    invoked_function_arn = "arn:aws:lambda:eu-central-1:123456789012:function:skillroute"
    aws_request_id = "11111111-2222-3333-4444-555555555555"


def call(module: ModuleType, name: str, item_id: int | None = None) -> tuple[int, Any]:
    event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))
    if item_id is not None:
        event["rawPath"] = f"/api/v1/tools/{item_id}"
    answer = module.handler(event, Context())
    return answer["statusCode"], json.loads(answer["body"]) if answer["body"] else None


HandlerOf = Callable[[str], ModuleType]


@pytest.fixture
def handler_of(monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[HandlerOf]:
    """A function's module by the function's name, as Lambda loads it; closed after the test."""
    monkeypatch.setenv("SKILLROUTE_DATABASE_URL", database_url)
    monkeypatch.setenv("SKILLROUTE_AUTH", "iam")
    monkeypatch.setenv("SKILLROUTE_EMBEDDING_PROVIDER", "hashing")
    loaded: list[ModuleType] = []

    def load(function: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"{function}_app", ROOT / "functions" / function / "app.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        loaded.append(module)
        return module

    yield load
    for module in loaded:
        module._http.app.state.parts.close()


def test_what_one_function_writes_the_other_finds_and_every_event_is_answered(handler_of: HandlerOf) -> None:
    catalog, search = handler_of("catalog"), handler_of("search")

    status, written = call(catalog, "catalog_put")
    assert (status, written["failed"]) == (200, 0)
    names = [result["name"] for result in written["results"]]
    status, listed = call(catalog, "catalog_list")
    assert status == 200
    assert {item["name"] for item in listed} <= set(names)

    status, found = call(search, "search")
    assert status == 200
    assert found["metadata"]["fallback_reason"] == "no_skills"
    assert {tool["name"] for tool in found["tools"]} <= set(names)
    assert call(search, "search_skills") == (200, [])
    assert call(search, "search_tools")[0] == 200

    first = written["results"][0]
    status, item = call(catalog, "catalog_get", first["id"])
    assert (status, item["name"]) == (200, first["name"])
    assert call(catalog, "catalog_delete", first["id"]) == (204, None)
    assert call(catalog, "catalog_get", first["id"])[0] == 404
    assert first["name"] not in {tool["name"] for tool in call(search, "search")[1]["tools"]}


def test_the_skills_function_answers_every_event_of_its_own(handler_of: HandlerOf) -> None:
    catalog, skills, search = handler_of("catalog"), handler_of("skills"), handler_of("search")
    assert call(catalog, "catalog_put")[0] == 200  # tool 1 is create_event

    assert call(skills, "skills_create")[0] == 201
    assert call(skills, "skills_create")[0] == 409
    assert [skill["id"] for skill in call(skills, "skills_list")[1]] == ["calendar_management"]
    assert call(skills, "skills_put")[0] == 200
    status, changed = call(skills, "skills_patch")
    assert (status, changed["keywords"][-1]) == (200, "appointment")

    status, classified = call(skills, "skills_classify")
    assert (status, classified["tool_name"]) == (200, "create_event")
    status, assigned = call(skills, "tool_skills_put")
    assert (status, [each["source"] for each in assigned]) == (200, ["human_override"])
    assert call(skills, "tool_skills_get") == (200, assigned)
    assert [tool["tool_name"] for tool in call(skills, "skills_tools")[1]] == ["create_event"]
    assert call(skills, "skills_get")[1]["tool_count"] == 1
    assert call(search, "search_skills")[0] == 200
    assert call(search, "verify")[1]["ok"]

    assert call(skills, "skills_describe")[0] == 409  # without a language model
    assert call(skills, "suggestions_list") == (200, [])
    for decision in ("approve", "reject", "merge"):
        assert call(skills, f"suggestions_{decision}")[0] == 404
    assert call(skills, "skills_delete") == (204, None)
    assert call(skills, "skills_get")[0] == 404


def test_every_route_of_the_applications_has_its_entry_in_the_template_and_its_event() -> None:
    # GIVEN the routes of the three applications, without their parameters' names
    settings = LocalSettings(database_url="postgresql://u:p@127.0.0.1:1/d")  # type: ignore[arg-type]
    parts = Parts(settings, queue=MemoryQueue())
    routers = [*parts.search_routers(), *parts.catalog_routers(), *parts.skills_routers()]
    document = create_app(routers).openapi()
    served = {route(method, path) for path, methods in document["paths"].items() for method in methods}
    parts.close()

    template = (ROOT / "template.yaml").read_text(encoding="utf-8")
    entries = re.findall(r'Method: (\w+), Path: (?:"([^"]+)"|([^\s}]+))}', template)
    entries = [(method, quoted or bare) for method, quoted, bare in entries]
    assert {route(method, path) for method, path in entries} == served

    events = [json.loads(file.read_text(encoding="utf-8")) for file in (ROOT / "events").glob("*.json")]
    asked = {route(*event["routeKey"].split(" ")) for event in events if "routeKey" in event}
    assert asked == served - {"GET /health", "GET /ready"}


def route(method: str, path: str) -> str:
    return f"{method.upper()} {re.sub('{[a-z_]+}', '{}', path)}"


def test_a_request_that_the_gateway_did_not_vouch_for_is_401(handler_of: HandlerOf) -> None:
    event = json.loads((ROOT / "events" / "search.json").read_text(encoding="utf-8"))
    del event["requestContext"]["authorizer"]
    answer = handler_of("search").handler(event, Context())
    assert answer["statusCode"] == 401
