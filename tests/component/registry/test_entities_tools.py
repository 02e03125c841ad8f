"""A server's tools: replaced by a PUT that lists them, and part of what the server is found by, whoever writes them."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.sync import SyncTools
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.collection import Collection
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.postgres.database import Session
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.report import ToolCounts
from skillroute.registry.repository import RegistryRepository
from skillroute.registry.text import Place

from tests.builders import System, item, lent_system, of_org
from tests.doubles import EdgeIndexes, at, in_threads, once
from tests.integration.rows import connected, item_row, waits_for_a_lock
from tests.worlds.registry import DOCS, RESOLVE


def in_index(system: System, collection: Collection) -> list[str]:
    with system.replica.current() as index:
        return [str(payload["name"]) for payload in index.payloads(collection, [str(n) for n in range(50)]).values()]


# Replacing


def test_tools_are_created_updated_removed_and_the_same_ones_untouched(system: System) -> None:
    first = system.put_server(tools=[DOCS, RESOLVE, {"name": "gone"}])
    assert first.tools == ToolCounts(created=3)
    before = system.tools_of()
    system.embedder.calls.clear()
    # WHEN one is the same, one is changed, one is new and one is not named
    second = system.put_server(tools=[{"name": "new"}, {**RESOLVE, "description": "Draws a unicorn."}, DOCS])
    # THEN each is treated on its own, under its id
    assert (second.status, second.tools) == ("updated", ToolCounts(created=1, updated=1, unchanged=1, removed=1))
    after = system.tools_of()
    assert set(after) == {"query-docs", "resolve", "new"}
    assert after["query-docs"] == before["query-docs"]
    assert after["resolve"][0] == before["resolve"][0]
    assert after["resolve"][1] > before["resolve"][1]
    assert all(embedded for _, _, embedded in after.values())
    # AND only what changed was embedded: two tools, and the server
    assert not any("query docs" in text.lower() and "Context7" not in text for text in system.embedder.texts)
    assert system.entity_text(second.id) in system.embedder.texts
    assert sorted(in_index(system, TOOL_DOCUMENTS)) == ["new", "query-docs", "resolve"]


def test_the_same_list_again_in_another_order_changes_nothing(system: System) -> None:
    first = system.put_server(tools=[DOCS, RESOLVE])
    before, entity = system.tools_of(), system.entity(first.id)
    system.embedder.calls.clear()
    position = system.rows("SELECT max(xid::text::bigint) FROM mcp.index_changes")
    again = system.put_server(tools=[RESOLVE, DOCS])
    assert (again.status, again.id, again.tools) == ("unchanged", first.id, ToolCounts(unchanged=2))
    assert (system.tools_of(), system.entity(first.id)) == (before, entity)
    assert system.embedder.calls == []
    assert system.rows("SELECT max(xid::text::bigint) FROM mcp.index_changes") == position


def test_without_a_list_the_tools_stay_and_with_an_empty_one_none_is_left(system: System) -> None:
    system.put_server(tools=[DOCS])
    assert system.put_server(description="New.").tools is None
    assert list(system.tools_of()) == ["query-docs"]
    assert system.put_server(description="New.", tools=None).status == "unchanged"
    emptied = system.put_server(description="New.", tools=[])
    assert (emptied.status, emptied.tools) == ("updated", ToolCounts(removed=1))
    assert system.tools_of() == {}
    assert system.entity_text(emptied.id) == "Context7\nNew."


def test_a_tool_that_stays_keeps_its_skills(system: System) -> None:
    system.put_server(tools=[DOCS])
    [tool_id] = [id_ for id_, _, _ in system.tools_of().values()]
    system.create("docs")
    system.assign(tool_id, docs=0.9)
    system.put_server(tools=[{**DOCS, "description": "Something else."}])
    assert system.skills_of(tool_id) == ["docs"]


def test_tools_of_the_catalogue_with_that_server_are_the_server_s_and_what_is_else_stays(system: System) -> None:
    system.put("query-docs", server="c7", description="Query the docs.")
    system.put("prompt", server="c7", type="prompt")
    system.put("other", server="c77")
    server = system.put_server()
    assert system.entity(server.id).tool_count == 1
    assert system.entity_text(server.id) == "Context7\nquery-docs: Query the docs."
    assert system.put_server(tools=[DOCS]).tools == ToolCounts(unchanged=1)
    system.put_server(tools=[])
    left = system.rows("SELECT name FROM mcp.tools ORDER BY name")
    assert left == [["other"], ["prompt"]]


def test_many_servers_with_tools_of_the_same_names_are_kept_apart(system: System) -> None:
    report = system.put_entities(*({"name": f"s{n}", "tools": [{**DOCS, "metadata": {"n": n}}]} for n in range(100)))
    assert report.count("created") == 100
    rows = system.rows("SELECT server, metadata FROM mcp.tools")
    assert sorted((server, metadata["n"]) for server, metadata in rows) == sorted((f"s{n}", n) for n in range(100))
    assert all(system.is_entity_embedded(outcome.id) for outcome in report.outcomes)


# What a server is found by follows its tools


def test_a_server_says_what_its_tools_say_by_name_and_description_only(system: System) -> None:
    schema = {"type": "object", "properties": {"topic": {"description": "hidden"}}}
    id_ = system.put_server(tags=["docs"], tools=[RESOLVE, {**DOCS, "inputSchema": schema}]).id
    assert system.entity_text(id_) == "Context7\nTags: docs\nquery-docs: Query the docs.\nresolve: Find a library."
    assert sorted(system.entity_words(id_, Place.TOOL)) == ["a find library resolve", "docs query the"]
    assert system.entity_words(id_, Place.PATH) == ["c7"]


def test_a_tool_that_is_put_changed_or_deleted_by_itself_changes_its_server_at_once(system: System) -> None:
    id_ = system.put_server(tools=[DOCS]).id
    [tool_id] = system.put("draw", server="c7", description="Draws a unicorn.")
    assert system.entity_text(id_) == "Context7\ndraw: Draws a unicorn.\nquery-docs: Query the docs."
    assert (system.is_entity_embedded(id_), "a draw draws unicorn" in system.entity_words(id_, Place.TOOL)) == (
        True,
        True,
    )
    system.put("draw", server="c7", description="Draws a dragon.")
    assert "dragon" in system.entity_text(id_)
    assert (system.is_entity_embedded(id_), "a dragon draw draws" in system.entity_words(id_, Place.TOOL)) == (
        True,
        True,
    )
    system.parts.catalogue.read.delete(tool_id, LAPTOP)
    assert system.entity_text(id_) == "Context7\nquery-docs: Query the docs."
    # A deletion leaves the vector to the relay.
    assert (system.is_entity_embedded(id_), system.entity_words(id_, Place.TOOL)) == (False, ["docs query the"])
    assert system.entity(id_).tool_count == 1


def test_what_is_not_embedded_of_a_tool_changes_nothing_of_its_server(system: System) -> None:
    id_ = system.put_server(tools=[DOCS]).id
    before = system.rows("SELECT xid FROM mcp.index_changes WHERE collection = 'mcp_registry'")
    system.embedder.calls.clear()
    system.put("query-docs", server="c7", description="Query the docs.", tags=["new"])
    assert system.rows("SELECT xid FROM mcp.index_changes WHERE collection = 'mcp_registry'") == before
    assert system.is_entity_embedded(id_)
    assert system.embedder.calls == []


def test_items_of_another_organisation_type_or_server_change_nothing_of_a_server(system: System) -> None:
    id_ = system.put_server().id
    system.put("a", server="c7", type="prompt")
    system.put("b", server="c7", caller=of_org("acme"))
    system.put("c", server="c77")
    system.put("d")
    assert (system.entity_text(id_), system.entity(id_).tool_count) == ("Context7", 0)


def test_a_server_is_held_until_its_tools_are_written_and_nothing_is_asked_of_those_that_are_none(
    system: System,
) -> None:
    # GIVEN a catalogue whose servers are not registered, and what the database is asked
    asked: list[str] = []
    system.sql("SELECT 1")
    run = type(system.pool).transact

    def watched(pool: Any, work: Any) -> Any:
        def spy(connection: Any) -> Any:
            real = connection.run

            def noted(statement: str, **values: Any) -> Any:
                asked.append(statement)
                return real(statement, **values)

            connection.run = noted
            try:
                return work(connection)
            finally:
                del connection.run

        return run(pool, spy)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(system.pool), "transact", watched)
        system.put("a", "b", server="c7")
    # THEN the registry costs two statements, and what its servers say of themselves one, and so does what was approved
    of_tools = {"claim_model", "await_vectors", "index_state", "upsert_items", "put_documents",
                "points_without_words"}  # fmt: skip
    assert [each for each in asked if each not in of_tools] == [
        "share_names",
        "lock_servers",
        "server_texts",
        "settle_definitions",
    ]


# At once


def test_a_server_that_is_registered_while_its_tools_are_written_has_them(system: System) -> None:
    # GIVEN tools of a server that nobody has registered, written and not committed yet
    with ThreadPoolExecutor(1) as other, connected(system.url) as sql:

        def write(session: Session) -> Future[int]:
            assert RegistryRepository(session).lock_servers(None, ["c7"]) == []
            ItemRepository(session).upsert(None, None, [item_row("query-docs", server="c7")])
            # WHEN it is registered just then
            registered = other.submit(lambda: system.put_server().id)
            while not waits_for_a_lock(sql):
                assert not registered.done()
            return registered

        id_ = system.pool.transact(write).result()
    # THEN
    assert "query-docs" in system.entity_text(id_)


def test_two_that_put_different_tools_of_one_server_at_once_leave_the_text_of_both(system: System) -> None:
    id_ = system.put_server(tools=[DOCS]).id
    for round_ in range(5):
        in_threads(4, lambda n, round_=round_: system.put(f"tool{round_}{n}", server="c7"))  # type: ignore[misc]
        names = sorted(system.tools_of())
        assert len(names) == 1 + 4 * (round_ + 1)
        assert [name for name in names if f"{name}:" not in system.entity_text(id_)] == []
        assert len(system.entity_words(id_, Place.TOOL)) == len(names)
        assert system.is_entity_embedded(id_)
    assert system.parts.verify().findings == []


def test_a_second_writer_of_a_server_s_tools_waits_for_the_first(system: System) -> None:
    # GIVEN a writer that has written a tool and not committed
    id_ = system.put_server().id
    system.rows("SELECT 1")
    waiting: list[threading.Thread] = []

    def second() -> None:
        with connected(system.url) as watcher:
            waiting.append(threading.Thread(target=lambda: system.put("second", server="c7")))
            waiting[0].start()
            # WHEN another writes one, too
            while not waits_for_a_lock(watcher):
                assert waiting[0].is_alive()

    system.database.before_commit = once(second)
    system.put("first", server="c7")
    waiting[0].join()
    # THEN it sees the first one's
    assert system.entity_text(id_).startswith("Context7\nfirst: ")
    assert "\nsecond: " in system.entity_text(id_)


def test_of_two_lists_of_one_server_at_once_one_is_whole(system: System) -> None:
    system.put_server(tools=[{"name": "x"}, {"name": "y"}])
    lists = ({"x", "y"}, {"y", "z"}, {"w"})
    for _ in range(5):
        in_threads(3, lambda n: system.put_server(tools=[{"name": name} for name in sorted(lists[n])]))
        assert set(system.tools_of()) in lists
    assert system.parts.verify().findings == []


def test_a_list_is_whole_though_another_one_replaced_it_after_the_look(system: System) -> None:
    # GIVEN a writer to whom all seems the same
    system.put_server(tools=[DOCS, RESOLVE])
    other = system
    change = once(lambda: other.put_server(tools=[{**DOCS, "description": "Draws a unicorn."}, {"name": "new"}]))

    def before() -> None:
        system.database.before_transact = lambda: None
        change()

    system.database.before_transact = before
    # WHEN another one replaces the list before it writes
    outcome = system.put_server(tools=[DOCS, RESOLVE])
    # THEN the later one is whole, vectors and text included
    assert outcome.tools == ToolCounts(created=1, updated=1, removed=1)
    assert {name: embedded for name, (_, _, embedded) in system.tools_of().items()} == {
        "query-docs": True,
        "resolve": True,
    }
    assert system.entity_text(outcome.id) == "Context7\nquery-docs: Query the docs.\nresolve: Find a library."
    assert system.parts.verify().findings == []


def test_one_whose_transaction_fails_leaves_neither_entity_nor_tools(system: System) -> None:
    def fail() -> None:
        raise DatabaseUnavailable("gone")

    system.database.before_commit = fail
    with pytest.raises(DatabaseUnavailable):
        system.put_server(tools=[DOCS])
    system.database.before_commit = lambda: None
    assert (system.paths(), system.tools_of()) == ([], {})
    assert system.rows("SELECT count(*) FROM mcp.registry_words") == [[0]]


def test_tools_beside_one_that_is_refused_find_their_server_too(database_url: str, edge_indexes: EdgeIndexes) -> None:
    with lent_system(database_url, edge_indexes) as system:
        id_ = system.put_server().id
        system.sql("ALTER TABLE mcp.tools ADD CONSTRAINT no_cursed CHECK (name <> 'cursed')")
        try:
            sync: SyncTools = system.parts.catalogue.sync
            report = sync([item(name, server="c7") for name in ("a", "cursed", "b")], LAPTOP)
        finally:
            system.sql("ALTER TABLE mcp.tools DROP CONSTRAINT no_cursed")
        assert [outcome.status for outcome in report.outcomes] == ["created", "failed", "created"]
        assert system.entity_text(id_) == "Context7\na: Does what a test wants.\nb: Does what a test wants."
        assert system.is_entity_embedded(id_)


def test_a_vector_is_of_the_text_that_is_stored(system: System) -> None:
    system.embedder._inner.table["Context7\ndraw: Draws"] = at(0.5)  # type: ignore[attr-defined]
    id_ = system.put_server(tools=[{"name": "draw", "description": "Draws"}]).id
    with system.replica.current() as index:
        [record] = system.feed.load(REGISTRY_DOCUMENTS, [str(id_)], system.embedder.model)
        assert record.vector == pytest.approx(at(0.5), abs=1e-6)
        assert index.count(REGISTRY_DOCUMENTS) == 1
