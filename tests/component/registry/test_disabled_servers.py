"""Items of a disabled server are in the catalogue and in no search, and come back with the server (decision 38)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.catalogue.model import ItemFilter
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.postgres.database import Session
from skillroute.core.search_run import SearchMode
from skillroute.registry.repository import RegistryRepository
from skillroute.registry.search.model import Fusion
from skillroute.search.model import Strategy
from skillroute.skills.model import SkillFilter

from tests.builders import System, of_org
from tests.component.registry.search.searched import Registry
from tests.doubles import at
from tests.integration.rows import connected, item_row, waits_for_a_lock
from tests.worlds.registry import DOCS, RESOLVE

ACME = of_org("acme")
OF_DOCS = {"description": "Docs of a library."}


def disable(system: System, server: int | None, caller: Caller = LAPTOP, *, is_enabled: bool = False) -> None:
    assert server is not None
    system.parts.registry.read.set_enabled("server", server, caller, is_enabled=is_enabled)


def active(system: System, caller: Caller = LAPTOP, **where: Any) -> dict[str, bool]:
    """Return the items of a list of the catalogue by name, and whether each is active."""
    page, total = system.parts.catalogue.read.page(ItemFilter(**where), caller, limit=100, offset=0)
    assert total == len(page)
    return {each.content.key.name: each.is_active for each in page}


def searched(system: System, caller: Caller = LAPTOP) -> set[str]:
    """Return the names of all items that tool search can find, which must be the same in each strategy and mode."""
    strategies: tuple[Strategy, ...] = ("direct", "hybrid")
    modes: tuple[SearchMode, ...] = ("semantic", "lexical")
    found = [
        {
            tool.name
            for tool in system.search(
                "library docs", caller=caller, strategy=strategy, mode=mode, limit=50, tool_threshold=0.0
            ).tools
        }
        for strategy in strategies
        for mode in modes
    ]
    assert all(each == found[0] for each in found)
    return found[0]


# Both ways


def test_tools_of_a_disabled_server_leave_every_search_and_come_back_with_it(system: System) -> None:
    """Decision 38."""
    server = system.put_server(tools=[{**DOCS, "description": "Query library docs."}]).id
    system.put("other", description="Docs of another library.")
    assert searched(system) == {"query-docs", "other"}
    for _ in range(2):
        disable(system, server)
        assert searched(system) == {"other"}
        assert active(system) == {"query-docs": False, "other": True}
        disable(system, server, is_enabled=True)
        assert searched(system) == {"query-docs", "other"}
        assert active(system) == {"query-docs": True, "other": True}
    assert system.parts.verify().findings == []


@pytest.mark.parametrize("kind", ["prompt", "resource"])
def test_prompts_and_resources_of_the_server_do_as_its_tools(system: System, kind: str) -> None:
    server = system.put_server().id
    system.put("docs", server="c7", type=kind, **OF_DOCS)
    disable(system, server)
    assert searched(system) == set()
    system.put("more", server="c7", type=kind, **OF_DOCS)
    assert searched(system) == set()
    disable(system, server, is_enabled=True)
    assert searched(system) == {"docs", "more"}


def test_a_disabled_tool_is_read_changed_and_deleted_as_before(system: System) -> None:
    server = system.put_server(tools=[DOCS, RESOLVE]).id
    disable(system, server)
    assert active(system, server="c7") == {"query-docs": False, "resolve": False}
    [id_] = system.put("resolve", server="c7", description="Find a library.")
    assert not system.parts.catalogue.read.get(id_, LAPTOP).is_active
    [id_] = system.put("resolve", server="c7", description="New.")
    assert not system.parts.catalogue.read.get(id_, LAPTOP).is_active
    assert system.entity(server).tool_count == 2
    system.parts.catalogue.read.delete(id_, LAPTOP)
    assert (active(system), system.entity(server).tool_count) == ({"query-docs": False}, 1)


def test_skills_neither_count_nor_average_tools_of_a_disabled_server(system: System) -> None:
    server = system.put_server().id
    docs, other = system.tool("query-docs", at(0.2), server="c7"), system.tool("other", at(0.8))
    system.create("docs")
    for tool in (docs, other):
        system.assign(tool, docs=0.9)

    def counted() -> tuple[int, int, list[float] | None]:
        [skill], _ = system.parts.skills.read.page(SkillFilter(), LAPTOP, limit=10, offset=0)
        [match] = system.search("all about docs", skill_threshold=0.0).matched_skills
        return skill.tool_count, match.tool_count, system.vector("docs")

    both = counted()
    disable(system, server)
    alone = counted()
    assert (both[:2], alone[:2]) == ((2, 2), (1, 1))
    assert alone[2] == pytest.approx(at(0.8))
    # AND its assignments are kept
    assert system.skills_of(docs) == ["docs"]
    disable(system, server, is_enabled=True)
    assert counted() == both
    assert both[2] != pytest.approx(at(0.8))


# Every way into the state


def by_put(system: System) -> None:
    system.put_server(tools=[DOCS])
    system.put_server(is_enabled=False)


def by_put_with_tools(system: System) -> None:
    system.put_server()
    system.put_server(is_enabled=False, tools=[DOCS])


def created_disabled_with_tools(system: System) -> None:
    system.put_server(is_enabled=False, tools=[DOCS])


def created_disabled_for_tools_that_exist(system: System) -> None:
    system.put("query-docs", server="c7")
    system.put_server(is_enabled=False)


def tools_put_under_it(system: System) -> None:
    disable(system, system.put_server().id)
    system.put("query-docs", server="c7")


def at_a_prompt(system: System) -> None:
    system.put_server(tools=[DOCS])
    system.sql("UPDATE mcp.registry_entities SET is_enabled = false")


@pytest.mark.parametrize(
    "way",
    [
        by_put,
        by_put_with_tools,
        created_disabled_with_tools,
        created_disabled_for_tools_that_exist,
        tools_put_under_it,
        at_a_prompt,
    ],
)
def test_however_a_server_and_its_tools_come_about_its_state_is_theirs(
    system: System, way: Callable[[System], None]
) -> None:
    way(system)
    assert active(system) == {"query-docs": False}
    assert searched(system) == set()
    system.put_server(is_enabled=True)
    assert active(system) == {"query-docs": True}
    assert searched(system) == {"query-docs"}
    assert system.parts.verify().findings == []


def test_what_a_deleted_server_leaves_behind_is_searched_again(system: System) -> None:
    server = system.put_server(tools=[DOCS], is_enabled=False).id
    system.put("prompt", server="c7", type="prompt", **OF_DOCS)
    assert active(system) == {"query-docs": False, "prompt": False}
    assert server is not None
    system.parts.registry.read.delete("server", server, LAPTOP)
    assert active(system) == {"prompt": True}
    system.put("query-docs", server="c7", description="Query library docs.")
    assert searched(system) == {"prompt", "query-docs"}


def test_an_item_that_was_switched_on_at_a_prompt_is_found_and_mended(system: System) -> None:
    system.put_server(tools=[DOCS], is_enabled=False)
    [(id_, _, _)] = system.tools_of().values()
    system.sql("UPDATE mcp.tools SET is_active = true")
    [finding] = system.parts.verify().findings
    assert (finding.rule, finding.subject) == ("no item of a disabled server is searched", str(id_))
    system.parts.reindex()
    assert active(system) == {"query-docs": False}
    assert system.parts.verify().findings == []


# Whose tools


def test_a_server_s_state_is_that_of_its_own_organisation_s_tools(system: System) -> None:
    """Decisions 26 and 38."""
    shared = system.put_server(tools=[{"name": "shared", **OF_DOCS}]).id
    own = system.put_server(caller=ACME, tools=[{"name": "own", **OF_DOCS}]).id
    disable(system, shared)
    assert active(system, ACME) == {"shared": False, "own": True}
    assert (searched(system, ACME), searched(system)) == ({"own"}, set())
    disable(system, shared, is_enabled=True)
    disable(system, own, ACME)
    assert active(system, ACME) == {"shared": True, "own": False}
    assert (searched(system, ACME), searched(system)) == ({"shared"}, {"shared"})


def test_an_agent_s_state_and_a_longer_path_are_no_tool_s(system: System) -> None:
    system.put("a", server="c7")
    system.put("b", server="c7/sub")
    system.put_agent("/c7", is_enabled=False)
    system.put_server("/c", is_enabled=False)
    assert active(system) == {"a": True, "b": True}
    system.put_server("/c7", is_enabled=False)
    assert active(system) == {"a": False, "b": True}


# Registry search


@pytest.fixture
def registry(system: System) -> Registry:
    """A registry with a server that a test disables, and one that it leaves alone."""
    registry = Registry(system)
    tools = [
        ("query-docs", "Query the docs.", at(0.9)),
        ("docs", "", at(0.3)),
        ("near", "", at(0.8)),
        ("far", "", at(0.1)),
    ]
    registry.server("/off", at(0.7), name="Off", tools=tools)
    registry.server("/on", at(0.6), name="On", tools=[("other", "Docs, too.", at(0.5)), ("nearer", "", at(0.85))])
    return registry


@pytest.mark.parametrize("fusion", ["boost", "rrf", "coverage"])
@pytest.mark.parametrize("away", [False, True], ids=["hybrid", "lexical"])
def test_the_registry_shows_disabled_tools_to_who_asks_for_disabled_servers_as_if_they_were_enabled(
    registry: Registry, fusion: Fusion, away: bool
) -> None:
    """Decisions 24, 25 and 38."""
    registry.system.embedder.away = away

    def answer(**request: Any) -> tuple[list[str], dict[str, tuple[int, int]], dict[str, Any]]:
        found = registry.search("query the docs", fusion=fusion, explain=True, max_results=10, **request)
        scores = {
            # To what float32, which the index counts in, is good for.
            f"{each.path} {each.name}": (
                round(each.vector or 0.0, 5),
                each.text_boost,
                each.vector_rank,
                each.keyword_rank,
                round(each.unclamped, 5),
            )
            for each in found.explain or ()
        }
        servers = {each.path: (each.num_tools, len(each.matching_tools)) for each in found.servers}
        return [each.tool_name for each in found.tools], servers, scores

    enabled = answer()
    assert set(enabled[1]) == {"/off", "/on"}
    assert set(enabled[0]) == {"query-docs", "docs", "other"} | (set() if away else {"near", "nearer"})
    registry.system.sql("UPDATE mcp.registry_entities SET is_enabled = false WHERE path = '/off'")
    tools, servers, _ = answer()
    assert set(servers) == {"/on"}
    assert set(tools) == {"other"} | (set() if away else {"nearer"})
    assert answer(include_disabled=True) == enabled


def test_a_server_is_found_by_what_its_tools_say_while_it_is_disabled(system: System) -> None:
    server = system.put_server(tools=[DOCS], is_enabled=False).id
    system.put("draw", server="c7", description="Draws a unicorn.")
    assert system.entity_text(server) == "Context7\ndraw: Draws a unicorn.\nquery-docs: Query the docs."
    assert system.entity(server).tool_count == 2
    assert system.parts.verify().findings == []


def test_disabling_embeds_nothing_anew(system: System) -> None:
    server = system.put_server(tools=[DOCS]).id
    text = system.entity_text(server)
    system.embedder.calls.clear()
    disable(system, server)
    system.put_server(description="")
    disable(system, server, is_enabled=True)
    assert (system.entity_text(server), system.is_entity_embedded(server)) == (text, True)
    assert system.embedder.calls == []


# At once


@pytest.mark.parametrize("type_", ["tool", "prompt"])
def test_of_a_put_and_a_disabling_at_once_the_second_sees_the_first(system: System, type_: str) -> None:
    # GIVEN an item that is written and not committed
    server = system.put_server().id
    with ThreadPoolExecutor(1) as other, connected(system.url) as watcher:

        def write(session: Session) -> Future[None]:
            RegistryRepository(session).lock_servers(None, ["c7"])
            ItemRepository(session).upsert(None, None, [item_row("docs", server="c7", type=type_)])
            # WHEN its server is disabled just then
            disabled = other.submit(disable, system, server)
            while not waits_for_a_lock(watcher):
                assert not disabled.done()
            return disabled

        system.pool.transact(write).result()
    # THEN it is disabled, too
    assert active(system) == {"docs": False}


@pytest.mark.parametrize("type_", ["tool", "prompt"])
def test_an_item_that_is_put_while_its_server_is_being_disabled_is_born_inactive(system: System, type_: str) -> None:
    server = system.put_server().id
    with ThreadPoolExecutor(1) as other, connected(system.url) as watcher:

        def write(session: Session) -> Future[Any]:
            RegistryRepository(session).set_enabled("server", server or 0, None, is_enabled=False)
            put = other.submit(system.put, "docs", server="c7", type=type_)
            while not waits_for_a_lock(watcher):
                assert not put.done()
            return put

        system.pool.transact(write).result()
    assert active(system) == {"docs": False}
