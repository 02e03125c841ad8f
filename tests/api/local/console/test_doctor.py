"""The page Doctor, without a browser: an examination tells how far it is, and ends with its report or what failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute_client import AsyncSkillroute, Unreachable
from skillroute_local.console.app import KEY_HEADER, console_app
from skillroute_local.console.serving import Target, whole_app

from tests.api.one_app import app_over
from tests.builders import System
from tests.client_over import URL, async_client_over

Event = dict[str, Any]


@pytest.fixture
def page(system: System, tmp_path: Path) -> TestClient:
    def connect(token: str | None) -> AsyncSkillroute:
        return async_client_over(app_over(system), token=token)

    return TestClient(console_app(connect, url=URL, requests=tmp_path / "requests"), headers={KEY_HEADER: "page"})


@pytest.fixture
def toys(system: System) -> None:
    """A tool without a skill and without a description, and one of which all is well."""
    system.create("mail", name="Mail", description="Reading and writing letters.")
    system.put("get_it", server="toys", description="TODO")
    [good] = system.put("send_letter", server="post", description="Send a letter to somebody by post, today.")
    system.assign(good, mail=0.9)


def examined(page: TestClient, **fields: Any) -> list[Event]:
    answer = page.post("/do/doctor/examine", json=fields)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.mark.usefixtures("toys")
def test_an_examination_tells_how_far_it_is_and_ends_with_its_report(page: TestClient) -> None:
    *events, last = examined(page)

    assert [event["doing"] for event in events if event["total"] is None][:1] == ["reading tools"]
    assert [(event["done"], event["total"]) for event in events if event["total"]] == [(0, 1)]
    report = last["report"]
    assert report["checked"] == {"tools": 2, "skills": 1, "agent_skills": 0, "searches": 1}
    [empty] = [found for found in report["findings"] if found["code"] == "description_empty"]
    assert [tool["name"] for tool in empty["tools"]] == ["get_it"]
    assert report["not_asked"] == []


@pytest.mark.usefixtures("toys")
def test_searches_may_be_left_out(page: TestClient) -> None:
    *events, last = examined(page, search=False)
    assert last["report"]["checked"]["searches"] == 0
    assert not any(event["total"] for event in events)


@pytest.mark.usefixtures("toys")
def test_what_fails_on_the_way_is_the_last_event(page: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise Unreachable("no answer") from ConnectionError("the line is cut")

    monkeypatch.setattr(AsyncSkillroute, "search_batch", broken)
    *events, last = examined(page)
    assert events[-1]["doing"] == "searching for each tool"
    assert last["problem"]["status"] == 502
    assert "the line is cut" in last["problem"]["detail"]


def test_wrong_fields_are_refused_before_anything_is_read(page: TestClient) -> None:
    answer = page.post("/do/doctor/examine", json={"search": "maybe"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_events_are_not_kept_back_to_be_compressed(tmp_path: Path) -> None:
    app = whole_app(Target("http://127.0.0.1:1", None, None), requests=tmp_path / "requests", key=None)
    browser = TestClient(app, base_url="http://localhost", headers={KEY_HEADER: "page", "Accept-Encoding": "gzip"})
    answer = browser.post("/console/do/doctor/examine", json={})
    assert answer.headers["content-encoding"] == "identity"
    assert json.loads(answer.text.splitlines()[-1])["problem"]["status"] == 502
