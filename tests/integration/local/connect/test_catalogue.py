"""The catalogue of `connect`: what it holds, what is kept between starts, and that it finds as the service does."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import anyio
import pytest
from mcp.client.client import Client
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.port import Embedder
from skillroute.core.settings import LocalSettings
from skillroute.mcp.tools.search_tools import SearchToolsArguments
from skillroute.search.model import SearchRequest
from skillroute.wiring import Parts
from skillroute_local.connect.answers import found as shown_of
from skillroute_local.connect.answers import search_request
from skillroute_local.connect.catalogue import Catalogue
from skillroute_local.connect.store import Store
from skillroute_local.examples import EXAMPLES, read_jsonl
from skillroute_local.mcp_servers.model import Limits, Listed

from tests.doubles import WatchedEmbedder
from tests.integration.local.connect.conftest import Agent
from tests.integration.local.mcp_servers.conftest import Stub

QUERIES = [
    "schedule a meeting with John tomorrow",
    "what did we spend on travel last month, and send it to the accountant",
    "create_event",
    "delete a file",
    "nothing of this kind xyzzy",
]


def tool(name: str, description: str = "Does something.", **more: object) -> Listed:
    return Listed("tool", name, {"name": name, "description": description, "inputSchema": {"type": "object"}, **more})


def found(catalogue: Catalogue, query: str, limit: int = 5) -> list[str]:
    return catalogue.search(SearchRequest(query=query, limit=limit, strategy="direct"))[1]


@pytest.mark.parametrize("query", ["web/page_type", "mcp__web__page_type", "web:page_type", "web.page_type"])
def test_the_tool_whose_id_is_asked_for_comes_first(model: Embedder, query: str) -> None:
    catalogue = Catalogue(model)
    for server in ("web", "other"):
        catalogue.put(
            server, [tool("page_type", "Enter text."), tool("page_tabs", "The tabs of a web page"), tool("web")]
        )
    assert found(catalogue, query)[0] == "web/page_type"


def test_a_server_does_not_rank_its_tools_by_requests_of_its_own(model: Embedder) -> None:
    catalogue, watched = Catalogue(embedder := WatchedEmbedder(model)), "transfer money to somebody"
    catalogue.put("web", [tool("page_type", "Enter text.", requests=[watched])])
    assert "Enter text" in embedder.texts
    assert watched not in embedder.texts


def test_several_ids_in_a_list_come_first(model: Embedder) -> None:
    catalogue = Catalogue(model)
    catalogue.put("web", [tool(name) for name in ("page_type", "page_tabs", "search", "open")])
    catalogue.put("other", [tool(name) for name in ("page_type", "search", "open")])
    assert set(found(catalogue, "web/search,other/page_type", limit=2)) == {"web/search", "other/page_type"}


def test_it_finds_what_the_service_finds_with_the_same_scores(
    model: Embedder, fresh_database_url: str, tmp_path: Path
) -> None:
    # GIVEN some of the examples in a service, without their skills, and in the catalogue of `connect`
    rows = list(read_jsonl(EXAMPLES / "tools.jsonl"))[:100]
    settings = LocalSettings(database_url=fresh_database_url, index_dir=tmp_path)  # type: ignore[arg-type]
    parts = Parts(settings, embedder=model)
    catalogue = Catalogue(model)
    listed: dict[str, list[Listed]] = defaultdict(list)
    for row in rows:
        listed[row["server"]].append(Listed(row["type"], row["name"], row))
    try:
        assert all(outcome.id for outcome in parts.catalogue.sync(rows, LAPTOP).outcomes)
        for server, items in listed.items():
            assert catalogue.put(server, items) == []

        # WHEN both are searched, THEN they answer alike
        for query in QUERIES:
            request = SearchRequest(query=query, limit=10, strategy="direct")
            expected = [
                (match.server, match.type, match.name, pytest.approx(match.score, abs=1e-5), match.input_schema)
                for match in parts.tool_search.search(request, LAPTOP).tools
            ]
            response, ids = catalogue.search(request)
            assert [(m.server, m.type, m.name, m.score, m.input_schema) for m in response.tools] == expected
            assert len(ids) == len(expected)

        # AND hold the same of each item
        with parts.replica.current() as index, catalogue._held.current() as own:
            keys = [match.id for match in parts.tool_search.search(SearchRequest(query="file"), LAPTOP).tools]
            for payload in index.payloads(TOOL_DOCUMENTS, keys).values():
                key = catalogue._keys[f"{payload['server']}/{payload['name']}"][0]
                mine = own.payloads(TOOL_DOCUMENTS, [key])[key]
                assert {**mine, "db_id": 0} == {**payload, "db_id": 0}
    finally:
        parts.close()


def test_a_server_has_what_it_listed_last(model: Embedder) -> None:
    catalogue = Catalogue(model)
    catalogue.put("a", [tool("read_file", "Read a file."), tool("send_mail", "Send a mail.")])
    catalogue.put("b", [tool("read_file", "Read a file.")])
    assert set(found(catalogue, "read a file", 2)) == {"a/read_file", "b/read_file"}

    catalogue.put("a", [tool("read_file", "Play music."), tool("write_file", "Write a file.")])
    assert found(catalogue, "send a mail") == found(catalogue, "Send a mail")
    assert {item.id for item in catalogue.items()} == {"a/read_file", "a/write_file", "b/read_file"}
    assert found(catalogue, "play some music", 1) == ["a/read_file"]
    assert catalogue.item("a/send_mail") is None

    catalogue.put("a", [])
    assert [item.id for item in catalogue.items()] == ["b/read_file"]


def test_a_kind_that_was_not_listed_stays_as_it_was(model: Embedder) -> None:
    catalogue = Catalogue(model)
    review = Listed("prompt", "review", {"name": "review"})
    catalogue.put("a", [tool("read_file"), tool("send_mail"), review])
    catalogue.put("a", [Listed("prompt", "other", {"name": "other"})], {"prompt", "resource"})
    assert {item.id for item in catalogue.items()} == {"a/read_file", "a/send_mail", "prompt:a/other"}
    assert sorted(item.name for item in catalogue.listed("a")) == ["other", "read_file", "send_mail"]
    catalogue.put("a", [tool("read_file")], {"tool"})
    assert {item.id for item in catalogue.items()} == {"a/read_file", "prompt:a/other"}


@pytest.mark.anyio
async def test_a_list_that_fails_leaves_what_is_kept_of_it(agent: Agent, stub: Stub, tmp_path: Path) -> None:
    server = stub("no-list")
    store = Store(tmp_path / "kept")
    store.keep_listing(server, [tool("echo", "Repeat a text.")], is_whole=False)
    async with agent(server, store=store) as client:
        with anyio.fail_after(20):
            while "prompt:no-list/review" not in await _ids(client):
                await anyio.lowlevel.checkpoint()
        assert "no-list/echo" in await _ids(client)
    assert "echo" in {listed.name for listed in store.listing(server) or ()}


@pytest.mark.anyio
async def test_what_a_program_writes_is_not_told_to_agents(
    agent: Agent, stub: Stub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(tmp_path / "kept")
    store.keep_listing(stub("dying"), [tool("echo", "Repeat a text.")])
    async with agent(stub("dying"), store=store) as client:
        call = await client.call_tool("call_tool", {"id": "dying/echo"})
    assert call.content[0].text.startswith("dying: its program ended before it answered the handshake\nCall again")
    assert "its last line was: the token is missing" in caplog.text


async def _ids(client: Client) -> set[str]:
    answer = await client.call_tool("search_tools", {"query": "review or repeat", "limit": 50})
    return {found["id"] for found in answer.structured_content["tools"]}


def test_items_that_cannot_be_taken_are_named_and_spoil_no_other(model: Embedder) -> None:
    catalogue = Catalogue(model)
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"properties": deep}
    problems = catalogue.put("a", [tool("x" * 300), tool("deep", inputSchema=deep), tool("fine")])
    assert [problem.partition(": ")[0] for problem in problems] == ["a", "a"]
    assert "deep: inputSchema" in problems[1]
    assert [item.id for item in catalogue.items()] == ["a/fine"]


def test_texts_that_were_embedded_once_are_not_embedded_again(model: Embedder, tmp_path: Path) -> None:
    for number in range(2):
        watched = WatchedEmbedder(model)
        catalogue = Catalogue(watched, Store(tmp_path / "kept"))
        catalogue.put("a", [tool("read_file", "Read a file.")])
        assert bool(watched.calls) == (number == 0)
        assert found(catalogue, "read a file") == ["a/read_file"]


@pytest.mark.anyio
async def test_what_was_listed_at_the_last_start_is_found_while_servers_start(
    agent: Agent, stub: Stub, tmp_path: Path
) -> None:
    # GIVEN a server that hangs at this start, and did not at the last one
    server = stub("hanging")
    store = Store(tmp_path / "kept")
    store.keep_listing(server, [tool("echo", "Repeat a text.")])
    async with agent(server, store=store, limits=Limits(connect_s=1, list_s=1)) as client:
        answer = await client.call_tool("search_tools", {"query": "repeat a text"})
        found = json.loads(answer.content[0].text)
        assert [tool["id"] for tool in found.pop("tools")] == ["hanging/echo"]
        assert found.keys() <= {"fit", "hint"}  # neither starting nor failed
        call = await client.call_tool("call_tool", {"id": "hanging/echo"})
        assert call.is_error
        assert call.content[0].text.startswith("hanging: no answer to the handshake within 1 s")


def test_every_item_has_an_id_of_its_own_whatever_servers_and_tools_are_called(model: Embedder) -> None:
    catalogue = Catalogue(model)
    offered = [("a", "b/c"), ("a/b", "c"), ("a%2Fb", "c"), ("prompt:a", "b/c"), ("a", "x")]
    for server in dict.fromkeys(server for server, _ in offered):
        prompts = [Listed("prompt", "b/c", {"name": "b/c"})] if server == "a" else []
        assert catalogue.put(server, [tool(name) for of, name in offered if of == server] + prompts) == []
    items = catalogue.items()
    assert sorted((item.server, item.listed.name) for item in items if item.listed.kind == "tool") == sorted(offered)
    assert {item.id for item in items if item.listed.kind == "prompt"} == {"prompt:a/b/c"}
    assert all(catalogue.item(item.id) == item for item in items)
    # The plain spelling works where it means one item alone: `a/b/c` is the id of the first.
    assert (catalogue.item("a/b/c"), catalogue.item("a%2Fb/c")) != (None, None)
    assert catalogue.put("twice", [tool("t", "One."), tool("t", "Two.")]) == [
        "twice: tool t is listed twice: the last one is taken"
    ]


def test_needs_are_answered_by_one_set(model: Embedder) -> None:
    catalogue = Catalogue(model)
    catalogue.put("calendar", [tool("create_event", "Schedule a meeting in a calendar"), tool("list", "List days")])
    catalogue.put("mail", [tool("send", "Send an email to somebody"), tool("search", "Search old emails")])
    given = SearchToolsArguments(needs=["send an email", "schedule a meeting in a calendar"], limit=2)
    response, ids = catalogue.search(search_request(given))
    answer = shown_of(response, ids, given, {}, len)
    assert sorted((each["id"], each["needs"]) for each in answer["tools"]) == [
        ("calendar/create_event", [1]),
        ("mail/send", [0]),
    ]
    assert len(answer["confidence"]) == 2


def test_a_search_is_limited_to_the_servers_that_it_names(model: Embedder) -> None:
    catalogue = Catalogue(model)
    for server in ("one", "two"):
        catalogue.put(server, [tool("send", "Send an email to somebody")])
    given = SearchToolsArguments(query="send an email", server=["two"])
    assert catalogue.search(search_request(given))[1] == ["two/send"]
    given = SearchToolsArguments(query="send an email", server=["three"])
    assert "three" in shown_of(*catalogue.search(search_request(given)), given, {}, len)["hint"]
