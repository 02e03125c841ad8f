"""Claude's tool search, of a catalogue of which only a part was sent: what was sent is found, however small a part."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI
from skillroute_client.adapters.claude import AsyncClaudeToolSearch, ClaudeToolSearch

from tests.api.one_app import app_over
from tests.builders import System
from tests.client_over import async_client_over, client_over

QUERY = "find the report of last month"
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search_tools", "input": {"query": QUERY}}


@pytest.fixture
def app(system: System) -> FastAPI:
    """A catalogue in which sixty tools of other servers fit better than the two of the server `files`."""
    for number in range(60):
        system.put(f"report_{number}", server=f"reports{number % 6}", description="Find the report of last month.")
    system.put("find_file", server="files", description="Find a file, such as the report of a month.", tags=["disk"])
    system.put("list_folder", server="files", description="What a folder of last month has.", tags=["disk"])
    return app_over(system)


def referred(result: dict[str, Any]) -> set[str]:
    content = result["content"]
    return set() if isinstance(content, str) else {block["tool_name"] for block in content}


def test_tools_of_a_server_are_found_though_those_of_others_fit_better(app: FastAPI) -> None:
    with client_over(app) as client:
        search = ClaudeToolSearch(client)
        sent = {definition["name"] for definition in search.definitions(server="files")} - {"search_tools"}
        assert sent == {"files__find_file", "files__list_folder"}
        assert "files__find_file" in referred(search.result(CALL)) <= sent


def test_another_selection_is_searched_as_far_as_a_search_goes(app: FastAPI) -> None:
    with client_over(app) as client:
        search = ClaudeToolSearch(client, limit=1)
        search.definitions(skill_id="none")
        assert search.result(CALL)["content"].startswith("No tool fits")
        search.definitions()
        assert len(referred(search.result(CALL))) == 1
        search.definitions(name="report_59")
        found = search.result({**CALL, "input": {"query": "report_59 " + QUERY}})
        assert referred(found) == {"reports5__report_59"}


def test_needs_of_a_model_are_served_by_one_search(app: FastAPI) -> None:
    needs = ["find a file such as the report of a month", "what a folder of last month has"]
    with client_over(app) as client:
        search = ClaudeToolSearch(client)
        search.definitions(server="files")
        found = search.result({**CALL, "input": {"needs": needs, "limit": 2}})
        assert referred(found) == {"files__find_file", "files__list_folder"}
        assert search.result({**CALL, "input": {"needs": []}})["is_error"]


def test_what_is_awaited_finds_them_too(app: FastAPI) -> None:
    async def run() -> dict[str, Any]:
        async with async_client_over(app) as client:
            search = AsyncClaudeToolSearch(client)
            await search.definitions(server="files")
            return await search.result(CALL)

    assert "files__find_file" in referred(asyncio.run(run()))
