"""The registry's repository: what is the same is left alone, and keywords find what a search through the text would."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pg8000.native import to_statement
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.postgres.database import Database, Session
from skillroute.core.postgres.queries import statement
from skillroute.core.rights.decide import EVERYTHING as ALL_RIGHTS
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import AgentSkill, EntityContent, EntityFilter
from skillroute.registry.refresh import refresh
from skillroute.registry.repository import RegistryRepository
from skillroute.registry.search.model import BOOSTS
from skillroute.registry.search.repository import (
    MAX_SHOWN_LENGTH,
    KeywordHit,
    KeywordHits,
    RegistryScope,
    RegistrySearchRepository,
)
from skillroute.registry.text import EntityText, Place

from tests.integration.rows import EAST, MODEL, Sql, connected, item_row, waits_for_a_lock

EVERYTHING = RegistryScope(("server", "agent"), None, ALL_RIGHTS)

DOCUMENTS = DocumentRepository.of(REGISTRY_DOCUMENTS)


@pytest.fixture
def sql(database_url: str) -> Iterator[Sql]:
    with connected(database_url) as sql:
        yield sql


def server(path: str, name: str = "A server", description: str = "", **more: Any) -> EntityContent:
    return EntityContent("server", path, name, description, **more)


def agent(path: str, name: str = "An agent", **more: Any) -> EntityContent:
    return EntityContent("agent", path, name, **more)


def put(
    database: Database,
    content: EntityContent,
    *,
    org: str | None = None,
    tools: dict[str, str] | None = None,
    is_enabled: bool | None = None,
) -> int:
    """Write an entity with its tools, by name with their descriptions, and what it is found by; return its id."""

    def write(session: Session) -> int:
        written = RegistryRepository(session).upsert(org, content, repr(content), is_enabled=is_enabled)
        rows = [item_row(name, description=said, server=content.tools_server) for name, said in (tools or {}).items()]
        ItemRepository(session).upsert(org, None, rows)
        find_by_what_it_says(session, written.id)
        return written.id

    return database.transact(write)


def find_by_what_it_says(session: Session, entity_id: int) -> None:
    refresh(session, [entity_id])


def search(
    database: Database, *keywords: str, scope: RegistryScope = EVERYTHING, limit: int | None = None
) -> KeywordHits:
    return database.read(lambda session: RegistrySearchRepository(session).keyword_search(keywords, scope, limit=limit))


def boosts(hits: KeywordHits) -> dict[str, float]:
    return {hit.path: hit.boost for hit in hits.hits}


class TestWriting:
    def test_a_new_entity_is_created_and_the_same_again_is_left_alone(self, database: Database) -> None:
        def write(session: Session) -> tuple[bool, bool]:
            written = RegistryRepository(session).upsert(None, server("/a"), "hash", is_enabled=None)
            return written.created, written.changed

        assert database.transact(write) == (True, False)
        before = database.read(lambda s: RegistryRepository(s).get("server", 1, None, rights=ALL_RIGHTS))
        assert database.transact(write) == (False, False)
        assert database.read(lambda s: RegistryRepository(s).get("server", 1, None, rights=ALL_RIGHTS)) == before

    def test_a_path_is_taken_once_an_organisation_and_kind(self, database: Database) -> None:
        ids = [put(database, server("/a")), put(database, agent("/a")), put(database, server("/a"), org="acme")]
        assert len(set(ids)) == 3
        assert put(database, server("/a", "Changed")) == ids[0]

    def test_what_is_said_of_being_enabled_is_kept_until_something_else_is_said(self, database: Database) -> None:
        put(database, server("/a"))
        for said, expected in [(None, True), (False, False), (None, False), (True, True)]:
            entity_id = put(database, server("/a"), is_enabled=said)
            entity = database.read(
                lambda s, id_=entity_id: RegistryRepository(s).get("server", id_, None, rights=ALL_RIGHTS)
            )  # type: ignore[misc]
            assert entity is not None and entity.is_enabled is expected

    def test_everything_an_owner_says_comes_back_as_it_was_said(self, database: Database) -> None:
        content = agent(
            "/ünï☃", "näme '; DROP", tags=('with "quotes", {braces}', "null"), capabilities=("streaming",),
            skills=(AgentSkill("s", "d"), AgentSkill("t", "")), document={"z": [1, {"a": None}], "a": "é"},
        )  # fmt: skip
        entity_id = put(database, content)
        entity = database.read(lambda s: RegistryRepository(s).get("agent", entity_id, None, rights=ALL_RIGHTS))
        assert entity is not None and entity.content == content
        assert list(entity.content.document) == ["z", "a"]
        assert database.read(lambda s: RegistryRepository(s).get("server", entity_id, None, rights=ALL_RIGHTS)) is None

    def test_pages_show_what_the_caller_sees_by_path(self, database: Database) -> None:
        for path, org in [("/b", None), ("/a", "acme"), ("/c", "other"), ("/d", None)]:
            put(database, server(path, tags=("Docs",) if path < "/c" else ()), org=org)
        put(database, agent("/e"))

        def page(where: EntityFilter, org: str | None, limit: int = 10, offset: int = 0) -> tuple[list[str], int]:
            found, total = database.read(
                lambda s: RegistryRepository(s).page(where, org, limit=limit, offset=offset, rights=ALL_RIGHTS)
            )
            return [entity.content.path for entity in found], total

        assert page(EntityFilter("server"), "acme") == (["/a", "/b", "/d"], 3)
        assert page(EntityFilter("server"), "acme", limit=1, offset=1) == (["/b"], 3)
        assert page(EntityFilter("server"), None) == (["/b", "/d"], 2)
        assert page(EntityFilter("server", tag="dOCS"), "acme") == (["/a", "/b"], 2)
        assert page(EntityFilter("server", path="/d"), "acme") == (["/d"], 1)
        assert page(EntityFilter("server", is_enabled=False), "acme") == ([], 0)
        assert page(EntityFilter("agent"), None) == (["/e"], 1)

    def test_only_the_owner_deletes_enables_and_disables(self, database: Database) -> None:
        entity_id = put(database, server("/a"), org="acme")
        for org in (None, "other"):
            assert not database.transact(lambda s, org=org: RegistryRepository(s).delete("server", entity_id, org))  # type: ignore[misc]
            assert not database.transact(
                lambda s, org=org: RegistryRepository(s).set_enabled("server", entity_id, org, is_enabled=False)  # type: ignore[misc]
            )
        assert database.transact(
            lambda s: RegistryRepository(s).set_enabled("server", entity_id, "acme", is_enabled=False)
        )
        assert not database.transact(lambda s: RegistryRepository(s).delete("agent", entity_id, "acme"))
        assert database.transact(lambda s: RegistryRepository(s).delete("server", entity_id, "acme"))

    def test_tools_count_when_they_are_active_tools_of_the_same_organisation(
        self, database: Database, sql: Sql
    ) -> None:
        entity_id = put(database, server("/a"), org="acme", tools={"one": "", "two": ""})
        database.transact(lambda s: ItemRepository(s).upsert(None, None, [item_row("global", server="a")]))
        database.transact(lambda s: ItemRepository(s).upsert("acme", None, [item_row("p", server="a", type="prompt")]))
        sql("UPDATE mcp.tools SET is_active = false WHERE name = 'two'")
        entity = database.read(lambda s: RegistryRepository(s).get("server", entity_id, "acme", rights=ALL_RIGHTS))
        said = database.read(lambda s: RegistryRepository(s).load_sources([entity_id]))[entity_id]
        assert entity is not None and entity.tool_count == 1
        assert [tool.name for tool in said.tools] == ["one"]

    def test_the_tools_that_are_not_listed_are_deleted_and_nothing_else(self, database: Database) -> None:
        put(database, server("/a"), tools={"one": "", "two": "", "three": ""})
        put(database, server("/b"), tools={"one": ""})
        put(database, server("/a"), org="acme", tools={"one": ""})
        database.transact(lambda s: ItemRepository(s).upsert(None, None, [item_row("p", server="a", type="prompt")]))
        assert database.transact(lambda s: ItemRepository(s).delete_others(None, "a", ["two"])) == 2
        assert boosts(search(database, "one")) == {"/b": 1.0}
        assert boosts(search(database, "one", scope=RegistryScope(("server",), "acme", ALL_RIGHTS))) == {
            "/a": 1.0,
            "/b": 1.0,
        }


class TestFoundBy:
    def test_a_text_that_changed_takes_the_vector_with_it_and_the_same_one_keeps_it(self, database: Database) -> None:
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))
        entity_id = put(database, server("/a"))

        def is_embedded() -> bool:
            entity = database.read(lambda s: RegistryRepository(s).get("server", entity_id, None, rights=ALL_RIGHTS))
            assert entity is not None
            return entity.is_embedded

        [task] = database.read(lambda s: DOCUMENTS(s).tasks([str(entity_id)], MODEL))
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST)]))
        assert is_embedded()
        assert database.read(lambda s: DOCUMENTS(s).tasks([str(entity_id)], MODEL)) == []
        put(database, server("/a"))
        assert is_embedded()
        put(database, server("/a", description="Something else"))
        assert not is_embedded()
        # A vector of the old text comes too late.
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(task, EAST)]))
        assert not is_embedded()

    def test_what_says_the_same_leaves_no_trace_in_the_change_feed(self, database: Database, sql: Sql) -> None:
        put(database, server("/a"), tools={"one": ""})
        before = sql("SELECT xid::text FROM mcp.index_changes WHERE collection = 'mcp_registry'")
        put(database, server("/a"), tools={"one": ""})
        assert sql("SELECT xid::text FROM mcp.index_changes WHERE collection = 'mcp_registry'") == before

    def test_the_words_of_a_deleted_tool_go_with_it(self, database: Database, sql: Sql) -> None:
        put(database, server("/a"), tools={"one": "", "two": ""})
        sql("DELETE FROM mcp.tools WHERE name = 'one'")
        assert boosts(search(database, "one", "two")) == {"/a": 1.0}

    def test_a_server_is_held_until_the_other_writer_of_its_tools_is_done(self, database: Database, sql: Sql) -> None:
        entity_id = put(database, server("/a"))
        sql("BEGIN")
        sql("SELECT FROM mcp.registry_entities FOR UPDATE")
        with ThreadPoolExecutor(1) as other:
            held = other.submit(
                lambda: database.transact(lambda s: RegistryRepository(s).lock_servers(None, ["a", "b", ""]))
            )
            while not waits_for_a_lock(sql):
                assert not held.done()
            sql("COMMIT")
        assert held.result() == [entity_id]

    def test_ids_and_rows_to_embed_come_in_pages(self, database: Database) -> None:
        database.transact(lambda s: IndexStateRepository(s).claim(MODEL))
        ids = [put(database, server(f"/{number}")) for number in range(3)]
        assert database.read(lambda s: RegistryRepository(s).ids(after=0, limit=2)) == ids[:2]
        assert database.read(lambda s: RegistryRepository(s).ids(after=ids[1], limit=2)) == ids[2:]
        first = database.read(lambda s: DOCUMENTS(s).to_embed(MODEL, limit=2))
        assert [task.id for task in first] == [str(id_) for id_ in ids[:2]]
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(MODEL)) == 3
        database.transact(lambda s: DOCUMENTS(s).set_embeddings(MODEL, [(first[0], EAST)]))
        assert database.read(lambda s: DOCUMENTS(s).count_to_reembed(MODEL)) == 2
        left = database.read(lambda s: DOCUMENTS(s).to_reembed(MODEL, after="", limit=9))
        assert [task.id for task in left] == [str(id_) for id_ in ids[1:]]


class TestKeywordSearch:
    def test_each_place_adds_its_boost_once_a_keyword_and_each_tool_on_its_own(self, database: Database) -> None:
        everywhere = server("/docs", "Docs docs", "docs, docs", tags=("docs", "more-docs"))
        put(database, everywhere, tools={"query-docs": "docs", "other": "the docs", "third": ""})
        assert boosts(search(database, "docs")) == {"/docs": 5.0 + 3.0 + 2.0 + 1.5 + 2 * 1.0}
        assert boosts(search(database, "docs", "third")) == {"/docs": 14.5}

    def test_keywords_are_parts_of_words_in_any_case(self, database: Database) -> None:
        put(database, server("/x", "MyCONTEXT7Server"))
        for keyword, found in [("context7", True), ("text", True), ("ver", True), ("context 7", False), ("xyz", False)]:
            assert bool(search(database, keyword).hits) is found, keyword

    def test_nothing_of_a_keyword_is_a_pattern(self, database: Database) -> None:
        # Of foo_bar it has every character and all that the index looks for, and not the word.
        put(database, server("/x", "a_b c%d e.f foo_bax fooxbar"))
        for keyword in ("a%b", "_____", "%%%", ".*.", "c_d", "e.f", "foo_bar", "foo%bar", "\\foo"):
            assert search(database, keyword).hits == [], keyword

    def test_callers_find_global_entities_and_their_own_that_are_enabled(self, database: Database) -> None:
        for org in (None, "acme", "other"):
            put(database, server(f"/docs-{org}"), org=org)
        put(database, server("/docs-off"), is_enabled=False)
        put(database, agent("/docs-agent"))

        def found(**scope: Any) -> set[str]:
            wanted = RegistryScope(**({"kinds": ("server", "agent"), "org_id": None, "rights": ALL_RIGHTS} | scope))
            return {hit.path.removeprefix("/docs-") for hit in search(database, "docs", scope=wanted).hits}

        assert found() == {"None", "agent"}
        assert found(org_id="acme") == {"None", "acme", "agent"}
        assert found(include_disabled=True) == {"None", "agent", "off"}
        assert found(kinds=("server",)) == {"None"}
        assert found(kinds=("agent",)) == {"agent"}

    def test_disabling_takes_effect_at_once(self, database: Database) -> None:
        entity_id = put(database, server("/docs"), tools={"one": ""})
        for is_enabled in (False, True):
            database.transact(
                lambda s, on=is_enabled: RegistryRepository(s).set_enabled("server", entity_id, None, is_enabled=on)  # type: ignore[misc]
            )
            assert bool(search(database, "docs").hits) is is_enabled
            assert bool(search(database, "one").hits) is is_enabled

    def test_all_tags_must_be_there(self, database: Database) -> None:
        put(database, server("/docs-one", tags=("A", "b")))
        put(database, server("/docs-two", tags=("a",)))
        for tags, found in [((), 2), (("a",), 2), (("a", "b"), 1), (("b", "c"), 0)]:
            scope = RegistryScope(("server", "agent"), None, ALL_RIGHTS, tags)
            assert len(search(database, "docs", scope=scope).hits) == found

    def test_the_best_of_each_kind_come_by_path_where_they_tie_with_the_totals(self, database: Database) -> None:
        for number in range(4):
            put(database, server(f"/docs-{number}", "Docs" if number == 3 else "x"))
        put(database, agent("/docs"))
        hits = search(database, "docs", limit=1)
        assert [(hit.kind, hit.path, hit.boost) for hit in hits.hits] == [
            ("agent", "/docs", 5.0), ("server", "/docs-3", 8.0),
        ]  # fmt: skip
        assert hits.totals == {"server": 4, "agent": 1}
        assert [hit.path for hit in search(database, "docs", limit=2).hits] == [
            "/docs", "/docs-3", "/docs-0",
        ]  # fmt: skip

    def test_what_the_query_names_comes_beside_the_best(self, database: Database) -> None:
        put(database, server("/docs", "Docs", "docs"))
        named = put(database, server("/x", "Docs, Please!"))
        put(database, server("/y", "Please"))
        put(database, server("/z", "Docs please"), is_enabled=False)
        found = database.read(
            lambda s: RegistrySearchRepository(s).keyword_search(
                ["docs"], EVERYTHING, limit=1, names=["docs please", "y"]
            )
        )
        assert [hit.path for hit in found.hits] == ["/docs"]
        assert [(hit.id, hit.boost) for hit in found.named] == [(named, 3.0)]
        assert found.totals == {"server": 2}

    def test_what_has_the_tags_comes_by_path(self, database: Database) -> None:
        for path in ("/b", "/a", "/c"):
            put(database, server(path, tags=("ai",)))
        put(database, server("/d"))
        put(database, agent("/e", tags=("AI",)))
        put(database, server("/hidden", tags=("ai",)), org="acme")
        scope = RegistryScope(("server", "agent"), None, ALL_RIGHTS, ("ai",))
        hits = database.read(lambda s: RegistrySearchRepository(s).tagged(scope, limit=2))
        assert [(hit.path, hit.boost) for hit in hits.hits] == [("/a", 0.0), ("/b", 0.0), ("/e", 0.0)]

    def test_boosts_of_given_entities_are_those_of_the_search_and_0_without_a_match(self, database: Database) -> None:
        found = put(database, server("/docs", "Docs"), tools={"docs": ""})
        other = put(database, agent("/other"))
        hits = database.read(
            lambda s: RegistrySearchRepository(s).boosts(["docs", "nothing"], [found, other, 999], EVERYTHING)
        )
        assert {id_: hit.boost for id_, hit in hits.items()} == {found: 9.0, other: 0.0}
        assert replace(hits[found], coverage=0.0) == search(database, "docs", "nothing").hits[0]

    def test_coverage_is_the_mean_over_the_keywords_of_their_saturated_boosts(self, database: Database) -> None:
        # GIVEN one that has "docs" everywhere, and one that has each keyword somewhere
        much = put(database, server("/docs", "Docs", "docs"), tools={f"docs{number}": "" for number in range(10)})
        each = put(database, server("/b", "Query", "docs of libraries"))
        keywords = ("docs", "query", "libraries", "missing")
        expected = {much: (20 / 24) / 4, each: (2 / 6 + 3 / 7 + 2 / 6) / 4}
        # WHEN
        hits = self.by_coverage(database, keywords)
        # THEN
        assert {hit.id: hit.coverage for hit in hits} == pytest.approx(expected, abs=1e-9)
        assert database.read(lambda s: RegistrySearchRepository(s).boosts(keywords, [much, each], EVERYTHING)) == {
            hit.id: hit for hit in hits
        }
        assert [hit.id for hit in self.by_coverage(database, keywords, limit=1)] == [each]
        assert [(hit.id, hit.coverage) for hit in search(database, *keywords, limit=1).hits] == [(much, 0.0)]

    def test_equal_coverage_is_a_tie_in_whatever_order_it_is_added_up(self, database: Database) -> None:
        # GIVEN each with the same five boosts, of other keywords
        words = ("alpha", "bravo", "gamma", "delta", "omega")
        for number, (path, name, said, tag, tool) in enumerate(itertools.permutations(words)):
            put(database, server(f"/{path}-{number}", name, said, tags=(tag,)), tools={tool: ""})
        # Divided by six the last bits show; by five they would not.
        hits = self.by_coverage(database, (*words, "missing"))
        assert len({hit.coverage for hit in hits}) == 1
        assert [hit.path for hit in hits] == sorted(hit.path for hit in hits)

    def by_coverage(
        self, database: Database, keywords: Sequence[str], limit: int | None = None
    ) -> Sequence[KeywordHit]:
        return database.read(
            lambda s: RegistrySearchRepository(s).keyword_search(keywords, EVERYTHING, limit=limit, by_coverage=True)
        ).hits

    def test_tools_say_how_many_keywords_they_have(self, database: Database) -> None:
        first = put(database, server("/a"), tools={"query-docs": "of libraries", "other": ""})
        second = put(database, server("/b"), tools={"docs": ""})
        tools = database.read(
            lambda s: RegistrySearchRepository(s).tools_of(["docs", "libra", "query"], [first, second], EVERYTHING)
        )
        assert [(tool.entity_id, tool.name, tool.keyword_count) for tool in tools] == [
            (first, "other", 0), (first, "query-docs", 3), (second, "docs", 1),
        ]  # fmt: skip
        details = database.read(lambda s: RegistrySearchRepository(s).tool_details([tools[1].id], room=100))
        assert details[tools[1].id].description == "of libraries"
        assert (
            database.read(lambda s: RegistrySearchRepository(s).found([first], EVERYTHING, room=100))[first].tool_count
            == 2
        )

    def test_what_has_no_room_is_not_sent(self, database: Database) -> None:
        documents = [{"x": "é" * n} for n in (10, 20, 400, 0)]
        ids = [put(database, agent(f"/a{n}", document=document)) for n, document in enumerate(documents)]
        order = [ids[1], ids[0], ids[2], ids[3]]
        found = database.read(
            lambda s: RegistrySearchRepository(s).found(ids, EVERYTHING, with_documents=order, room=100)
        )
        # THEN the first documents are there that have room together, and everything else of all
        assert [found[id_].content.document for id_ in order] == [documents[1], documents[0], {}, {}]
        assert [found[id_].content.path for id_ in ids] == ["/a0", "/a1", "/a2", "/a3"]
        assert (
            database.read(lambda s: RegistrySearchRepository(s).found(ids, EVERYTHING, room=100))[
                ids[0]
            ].content.document
            == {}
        )

        rows = [item_row(f"t{n}", input_schema={"x": "é" * n}, server="s") for n in (10, 20, 400, 0)]
        tools = [each.id for each in database.transact(lambda s: ItemRepository(s).upsert(None, None, rows)).values()]
        details = database.read(lambda s: RegistrySearchRepository(s).tool_details(tools, with_schemas=tools, room=100))
        assert 0 < sum(each.had_room for each in details.values()) < 4
        assert {each.had_room for each in details.values() if each.input_schema is None} == {False}
        without = database.read(lambda s: RegistrySearchRepository(s).tool_details(tools, room=100))
        assert {(each.input_schema, each.had_room) for each in without.values()} == {(None, True)}

    def test_a_description_is_shown_up_to_a_length(self, database: Database) -> None:
        long = put(database, server("/a", description="é" * 30_000), tools={"t": "é" * 30_000, "u": "é" * 20_000})
        cut = "é" * MAX_SHOWN_LENGTH + "…"
        assert (
            database.read(lambda s: RegistrySearchRepository(s).found([long], EVERYTHING, room=100))[
                long
            ].content.description
            == cut
        )
        ids = [
            tool.id for tool in database.read(lambda s: RegistrySearchRepository(s).tools_of([], [long], EVERYTHING))
        ]
        details = database.read(lambda s: RegistrySearchRepository(s).tool_details(ids, room=100))
        assert {each.description for each in details.values()} == {cut, "é" * MAX_SHOWN_LENGTH}


@pytest.mark.parametrize("org", ["acme", 'say "acme"', "it's, {acme}", "back\\slash", "NULL", "ünï☃ x", "doc"])
def test_an_organisation_of_any_name_finds_its_own_and_what_is_global(database: Database, org: str) -> None:
    put(database, server("/own"), org=org, tools={"docs": "Query the docs."})
    put(database, server("/global"), tools={"docs": "Query the docs."})
    put(database, server("/others"), org=f"{org}2", tools={"docs": "Query the docs."})
    mine = replace(EVERYTHING, org_id=org)
    assert boosts(search(database, "docs", "query", scope=mine)) == {"/own": 2.0, "/global": 2.0}
    assert boosts(search(database, "docs", "query")) == {"/global": 2.0}
    hits = database.read(
        lambda s: RegistrySearchRepository(s).keyword_search(["docs", "gone"], mine, limit=None, by_coverage=True)
    ).hits
    assert {hit.path: hit.coverage for hit in hits} == {"/own": 0.1, "/global": 0.1}


WORDS = st.text(alphabet="abcdeABC_Ééß☃ -.%\n", max_size=20)


@given(
    contents=st.lists(st.tuples(WORDS, WORDS, WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=3)), max_size=4),
    keywords=st.lists(st.text(alphabet="abcdeé_ß", min_size=3, max_size=4), min_size=1, max_size=3, unique=True),
)
def test_keywords_find_what_a_case_insensitive_search_through_the_text_finds(
    database: Database,
    contents: list[tuple[str, str, str, list[tuple[str, str]]]],
    keywords: list[str],
) -> None:
    expected: dict[str, float] = {}

    def write(session: Session) -> None:
        for number, (name, description, tag, tools) in enumerate(contents):
            said = server(f"/{number}", f"x{name}", description, tags=(tag,))
            written = RegistryRepository(session).upsert(None, said, "", is_enabled=None)
            rows = [
                item_row(f"{i}{tool}", description=about, server=str(number)) for i, (tool, about) in enumerate(tools)
            ]
            ItemRepository(session).upsert(None, None, rows)
            find_by_what_it_says(session, written.id)
            boost = naive_boost(RegistryRepository(session).load_sources([written.id])[written.id], keywords)
            if boost:
                expected[said.path] = boost

    database.transact(clear)
    database.transact(write)
    assert boosts(search(database, *keywords)) == expected


def clear(session: Session) -> None:
    for entity_id in RegistryRepository(session).ids(after=0, limit=1000):
        RegistryRepository(session).delete("server", entity_id, None)
    for number in range(4):
        ItemRepository(session).delete_others(None, str(number), [])


def naive_boost(said: EntityText, keywords: list[str]) -> float:
    """The document's way: each keyword as a literal regular expression, on each place."""
    content = said.content
    total = 0.0
    for keyword in keywords:
        pattern = re.compile(re.escape(keyword))
        for place, texts in [
            (Place.PATH, [content.path]),
            (Place.NAME, [content.name]),
            (Place.DESCRIPTION, [content.description]),
            (Place.TAGS, content.tags),
        ]:
            total += BOOSTS[place] * any(pattern.search(text.lower()) for text in texts)
        total += BOOSTS[Place.TOOL] * sum(
            bool(pattern.search(tool.name.lower()) or pattern.search(tool.description.lower())) for tool in said.tools
        )
    return total


_IDS = "'{1,2,3,4000}'"
_SEARCH = {
    "boosts": "'{5,3,2,1.5,1}'", "half": "4", "org_id": "NULL", "rights": "NULL",
    "include_disabled": "false", "kind": "NULL",
    "tags": "'{}'", "limit": "100", "names": "'{}'", "by_coverage": "false",
    "patterns": "'{%docs%}'", "trigrams": """'{"{doc,ocs}"}'""", "keyword_count": "1",
}  # fmt: skip
_OF_IDS = {
    "ids": _IDS, "boosts": _SEARCH["boosts"], "half": "4", "keywords": "'{docs}'", "with_documents": _IDS,
    "with_schemas": _IDS, "room": "1000", "longest": "100", "longest_annotations": "100",
    "org_id": "NULL", "rights": "NULL",
}  # fmt: skip


@pytest.fixture
def large(database: Database, sql: Sql) -> Sql:
    """A large registry, and statistics of it."""
    for number in range(3):
        put(database, server(f"/docs-{number}"), tools={f"docs{tool}": "docs of things" for tool in range(20)})
    sql(
        "INSERT INTO mcp.registry_entities (kind, path, name, content_hash) "
        "SELECT 'server', '/many-' || number, 'many', '' FROM generate_series(1, 5000) AS number"
    )
    sql(
        "INSERT INTO mcp.tools (server, name, type, content_hash) "
        "SELECT 'many-' || number % 5000, 'many' || number, 'tool', '' "
        "FROM generate_series(0, 9999) AS number"
    )
    sql(
        "INSERT INTO mcp.registry_words (entity_id, place, tool_id, words, kind, is_enabled) "
        "SELECT id, place, NULL::bigint, md5((id * 7 + place)::text) || CASE WHEN id % 3 = 0 THEN ' docs' ELSE '' END, "
        "'server', true "
        "FROM mcp.registry_entities, generate_series(2, 4) AS place WHERE name = 'many' "
        "UNION ALL SELECT e.id, 5, t.id, md5(t.id::text), 'server', true "
        "FROM mcp.registry_entities e JOIN mcp.tools t ON t.server = substr(e.path, 2) WHERE e.name = 'many'"
    )
    for table in ("registry_words", "registry_entities", "tools"):
        sql(f"ANALYZE mcp.{table}")
    return sql


def test_no_table_is_read_from_end_to_end(large: Sql) -> None:
    """Neither with the one plan for all values that a prepared statement may get, nor with one for a common word."""
    for name, values, index in [
        ("keyword_search", _SEARCH, "registry_words_trigrams"),
        ("keyword_boosts", _OF_IDS, "registry_words_key"),
        ("keyword_tools", _OF_IDS, "registry_words_key"),
        ("found_entities", _OF_IDS, "registry_entities_pkey"),
        ("tool_details", _OF_IDS, "tools_pkey"),
    ]:
        query, in_order = to_statement(statement(name))  # as pg8000 numbers parameters
        large(f"PREPARE {name} AS {query}")
        for mode in ("generic", "custom"):
            large(f"SET plan_cache_mode = force_{mode}_plan")
            plan = "\n".join(row[0] for row in large(f"EXPLAIN EXECUTE {name} ({', '.join(in_order(values))})"))
            assert bool(re.search(r"\$\d", plan)) is (mode == "generic"), plan
            assert index in plan
            # index_state has one row, and what rules ask of tool groups has none here.
            few = re.sub("Seq Scan on (index_state|skill_categories)", "", plan)
            assert "Seq Scan" not in few, plan


def test_a_search_reads_no_words_of_other_organisations(large: Sql) -> None:
    """Decision 30: else its time tells how many of them have a word, and grows with them."""
    # GIVEN a word that thousands of A's servers have and one of B's
    large("UPDATE mcp.registry_words SET org_id = 'a'")
    large("UPDATE mcp.registry_words SET org_id = 'b \"B\"' WHERE entity_id = 1")
    large("ANALYZE mcp.registry_words")
    own = large("SELECT count(*) FROM mcp.registry_words WHERE org_id LIKE 'b%'")[0][0]
    query, in_order = to_statement(statement("keyword_search"))
    large(f"PREPARE keyword_search AS {query}")
    mine = _SEARCH | {
        "org_id": "'b \"B\"'",
        "patterns": "'{%docs%,%docs%}'",
        "trigrams": """ARRAY['{doc,ocs}', '{"docb \\"B\\"","ocsb \\"B\\""}']""",
    }
    for mode in ("generic", "custom"):
        # WHEN B looks for it
        large(f"SET plan_cache_mode = force_{mode}_plan")
        [[plan]] = large(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE keyword_search ({', '.join(in_order(mine))})")
        # THEN the rows that any part of the plan reads are B's
        read = [part for part in _parts(plan[0]["Plan"]) if part.get("Relation Name") == "registry_words"]
        assert read, mode
        assert all(_rows(part) <= 2 * own for part in read), (mode, plan)


def _rows(part: dict[str, Any]) -> float:
    """Return how many rows a part of a plan read."""
    removed = part.get("Rows Removed by Filter", 0) + part.get("Rows Removed by Index Recheck", 0)
    return float((part["Actual Rows"] + removed) * part["Actual Loops"])


def _parts(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _parts(part)
