"""Packaged requests for the tools of well-known MCP servers (docs/adr/0067)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.catalogue.sync import SyncTools
from skillroute.core.bulk.write import Writer
from skillroute.core.caller import LAPTOP
from skillroute.registry.servers import RegisteredServers

from tests.worlds.desk import Desk

NAVIGATE = ItemContent(ItemKey("Playwright Server", "tool", "playwright_navigate"), "Navigate to a URL")
"""A tool of LiveMCPBench's servers."""


def known(**other: str) -> list[str]:
    key = NAVIGATE.key._replace(**{name: value for name, value in other.items() if name in ItemKey._fields})
    content = replace(NAVIGATE, key=key, description=other.get("description", NAVIGATE.description))
    return [request.text for request in KnownRequests().of(content)]


def test_a_tool_is_known_by_its_name_its_server_and_its_description() -> None:
    assert 1 <= len(known()) <= 3
    assert {request.source for request in KnownRequests().of(NAVIGATE)} == {"packaged"}
    assert known(server="playwright") == known(server="@acme/playwright-mcp") == known()


@pytest.mark.parametrize(
    "other",
    [
        {"name": "navigate_elsewhere"},
        {"server": "ships"},  # the description is too short to tell
        {"description": "Plot the course of a ship between two ports."},
        {"description": ""},
        {"type": "prompt"},
    ],
)
def test_another_tool_is_not(other: dict[str, str]) -> None:
    assert known(**other) == []


def test_a_longer_description_is_known_whatever_its_server_is_called() -> None:
    description = "Start a new code generation session to record Playwright actions"
    found = known(name="start_codegen_session", description=description)
    assert found
    assert known(name="start_codegen_session", description=description, server="browser") == found


def test_switched_off_nothing_is_known() -> None:
    assert NOTHING_KNOWN.of(NAVIGATE) == ()


@pytest.fixture
def sync(desk: Desk) -> SyncTools:
    servers = RegisteredServers()
    return SyncTools(Writer(desk.database, desk.embedder), servers, KnownRequests())


def put(desk: Desk, sync: SyncTools, **said: object) -> tuple[str, list[tuple[str, str]]]:
    """Write the tool, and return what became of it, and its requests with who wrote them."""
    key = NAVIGATE.key
    raw = {"server": key.server, "name": key.name, "description": NAVIGATE.description, **said}
    [outcome] = sync([raw], LAPTOP).outcomes
    assert outcome.id is not None
    requests = desk.catalogue.get(outcome.id, LAPTOP).content.requests
    return outcome.status, [tuple(request) for request in requests or ()]


def test_a_tool_that_is_known_gets_requests_that_everybody_sees_and_again_it_is_unchanged(
    desk: Desk, sync: SyncTools
) -> None:
    wanted = [(text, "packaged") for text in known()]
    assert put(desk, sync) == ("created", wanted)
    assert put(desk, sync) == ("unchanged", wanted)
    [[texts]] = desk.sql("SELECT texts FROM mcp.documents WHERE collection = 'mcp_unified_search'")
    assert texts[3:] == known()


def test_requests_of_people_take_the_place_of_packaged_ones_and_stay(desk: Desk, sync: SyncTools) -> None:
    put(desk, sync)
    mine = [("open this page", "person")]
    assert put(desk, sync, requests=[{"text": "open this page", "source": "person"}]) == ("updated", mine)
    assert put(desk, sync) == ("unchanged", mine)
    # AND who wants none has none
    assert put(desk, sync, requests=[]) == ("updated", [])
    assert put(desk, sync) == ("unchanged", [])


@pytest.mark.parametrize("mine_first", [True, False])
def test_packaged_ones_that_come_back_beside_a_persons_are_imported_and_all_stay(
    desk: Desk, sync: SyncTools, *, mine_first: bool
) -> None:
    put(desk, sync)
    packaged = [{"text": text, "source": "packaged"} for text in known()]
    mine = [{"text": "open this page", "source": "person"}]
    given = mine + packaged if mine_first else packaged + mine
    wanted = [(one["text"], one["source"].replace("packaged", "import")) for one in given]
    assert put(desk, sync, requests=given) == ("updated", wanted)
    assert put(desk, sync) == ("unchanged", wanted)


def test_packaged_ones_that_come_back_alone_change_nothing(desk: Desk, sync: SyncTools) -> None:
    wanted = put(desk, sync)[1]
    packaged = [{"text": text, "source": source} for text, source in wanted]
    assert put(desk, sync, requests=packaged)[0] == "unchanged"
    put(desk, sync, requests=[{"text": "open this page", "source": "person"}])
    assert put(desk, sync, requests=packaged)[1] == [("open this page", "person")]


def test_some_of_the_packaged_ones_that_come_back_are_what_somebody_chose(desk: Desk, sync: SyncTools) -> None:
    wanted = put(desk, sync)[1]
    assert len(wanted) > 1
    chosen = [(wanted[0][0], "import")]
    assert put(desk, sync, requests=[{"text": wanted[0][0], "source": "packaged"}]) == ("updated", chosen)
    assert put(desk, sync) == ("unchanged", chosen)


def test_none_are_wanted_of_a_tool_that_had_none_either(desk: Desk, sync: SyncTools) -> None:
    plain = SyncTools(Writer(desk.database, desk.embedder), RegisteredServers())
    put(desk, plain)
    assert put(desk, sync, requests=[]) == ("updated", [])
    assert put(desk, sync, requests=[])[0] == "unchanged"
    assert put(desk, sync) == ("unchanged", [])


def test_packaged_ones_go_where_the_tool_is_another_one_or_they_are_switched_off(desk: Desk, sync: SyncTools) -> None:
    put(desk, sync)
    assert put(desk, sync, description="Plot the course of a ship between two ports.") == ("updated", [])
    assert len(put(desk, sync)[1]) == len(known())
    plain = SyncTools(Writer(desk.database, desk.embedder), RegisteredServers())
    assert put(desk, plain)[1] == []
    [[texts]] = desk.sql("SELECT texts FROM mcp.documents WHERE collection = 'mcp_unified_search'")
    assert len(texts) == 3


def test_what_somebody_wrote_between_the_look_and_the_write_stays(desk: Desk, sync: SyncTools) -> None:
    plain = SyncTools(Writer(desk.database, desk.embedder), RegisteredServers())
    put(desk, plain)
    real = desk.embedder.embed

    def embed(texts: list[str], *, timeout_s: float) -> list[list[float]]:
        desk.embedder.embed = real  # type: ignore[method-assign]
        put(desk, plain, requests=[{"text": "open this page", "source": "person"}])
        return real(texts, timeout_s=timeout_s)

    desk.embedder.embed = embed  # type: ignore[method-assign, assignment]
    assert put(desk, sync)[1] == [("open this page", "person")]


def test_a_tool_that_was_there_before_gets_them_when_it_is_written_again(desk: Desk, sync: SyncTools) -> None:
    assert put(desk, SyncTools(Writer(desk.database, desk.embedder), RegisteredServers()))[1] == []
    status, requests = put(desk, sync)
    assert (status, len(requests)) == ("unchanged", len(known()))
