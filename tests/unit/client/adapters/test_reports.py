"""Calls that adapters make are reported to the search that found the tool, and never fail because of that."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
from skillroute_client import Retry, Skillroute
from skillroute_client.adapters.reports import Reports
from skillroute_client.adapters.tools import AgentTool
from skillroute_client.models import FoundTool, SearchAnswer

TOOL = AgentTool.of(FoundTool(id="7", db_id=7, name="send", server="mail", score=0.5))


class Served:
    """A Skillroute that takes outcomes, or does not."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, str, str]] = []
        self.status = 200
        http = httpx.Client(transport=httpx.MockTransport(self._answer))
        self.client = Skillroute("http://testserver", token=None, http=http, retry=Retry(attempts=1))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content)["outcomes"]
        if self.status == 200:
            self.outcomes += [(one["search_id"], one["tool_id"], one["outcome"]) for one in sent]
        return httpx.Response(self.status, json={"kept": True, "accepted": len(sent), "failed": 0, "results": []})


@pytest.fixture
def served() -> Served:
    return Served()


def answer(search_id: str | None) -> SearchAnswer:
    found = {"id": "7", "db_id": 7, "name": "send", "server": "mail", "score": 0.5}
    return SearchAnswer.model_validate({"query": "q", "tools": [found], "metadata": {"search_id": search_id}})


def test_a_call_is_reported_to_the_last_search_that_found_the_tool(served: Served) -> None:
    reports = Reports(served.client)
    reports.found(answer("first"))
    reports.found(answer("second"))
    assert reports.calling(lambda tool, arguments: arguments["text"])(TOOL, {"text": "sent"}) == "sent"
    reports.flush()
    assert served.outcomes == [("second", "7", "called"), ("second", "7", "succeeded")]


@pytest.mark.parametrize("result", [{"isError": True}, None])
def test_a_call_that_fails_is_reported_as_failed_and_raises_as_before(served: Served, result: Any) -> None:
    def call(*_: Any) -> Any:
        return result if result else 1 / 0

    async def acall(*_: Any) -> Any:
        return call()

    reports = Reports(served.client)
    reports.found(answer("one"))
    for run in (lambda: reports.calling(call)(TOOL, {}), lambda: asyncio.run(reports.acalling(acall)(TOOL, {}))):  # type: ignore[arg-type]
        if result:
            assert run() == result
        else:
            with pytest.raises(ZeroDivisionError):
                run()
    reports.flush()
    assert served.outcomes == [("one", "7", "called"), ("one", "7", "failed")] * 2


def test_a_report_that_is_refused_fails_no_call_and_later_ones_are_sent(served: Served) -> None:
    reports = Reports(served.client)
    reports.found(answer("one"))
    served.status = 503
    call = reports.calling(lambda *_: "sent")
    assert call(TOOL, {}) == "sent"
    reports.flush()
    served.status = 200
    assert call(TOOL, {}) == "sent"
    reports.flush()
    assert served.outcomes == [("one", "7", "called"), ("one", "7", "succeeded")]


def test_nothing_is_reported_of_a_tool_that_no_search_with_a_receipt_found(served: Served) -> None:
    reports = Reports(served.client)
    reports.found(answer(None))
    assert reports.calling(lambda *_: "sent")(TOOL, {}) == "sent"
    reports.flush()
    assert served.outcomes == []


def test_reports_can_be_switched_off(served: Served) -> None:
    reports = Reports(served.client, is_on=False)
    reports.found(answer("one"))
    call, acall = reports.around(lambda *_: "sent", None)
    assert call is not None
    assert (call(TOOL, {}), acall) == ("sent", None)
    reports.flush()
    assert served.outcomes == []
