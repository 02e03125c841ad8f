"""The embedding model away, another one, and back; and the check that servers and agents are found by what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.reindex import ReindexReport
from skillroute.core.embedding.model import to_bytes
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.repository import RegistryRepository

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, LogRecords, TableEmbedder, at, once
from tests.worlds.registry import DOCS

ACME = of_org("acme")
RULE = "a server or agent is found by what it says"
IN_REGISTRY = "the index mcp_registry says what PostgreSQL does"


# Away


def test_without_the_model_all_is_stored_and_says_so_and_gets_its_vectors_from_the_relay(
    system: System, counted: Callable[[str], float]
) -> None:
    system.embedder.away = True
    report = system.put_entities({"path": "/c7", "name": "Context7", "tools": [DOCS]})
    assert (report.count("created"), report.embedding_unavailable) == (1, True)
    [agent] = system.put_entities({"name": "Planner"}, kind="agent").outcomes
    server = report.outcomes[0].id
    assert [
        system.is_entity_embedded(server),
        system.is_entity_embedded(agent.id),
        system.tools_of()["query-docs"][2],
    ] == [False] * 3
    assert not system.entity(server).is_embedded
    assert counted("EmbeddingFailed") == 2
    # WHEN it is back THEN all get their vectors without anyone's help
    system.embedder.away = False
    assert system.parts.relay().embedded == 3
    assert [
        system.is_entity_embedded(server),
        system.is_entity_embedded(agent.id),
        system.tools_of()["query-docs"][2],
    ] == [True] * 3
    assert system.parts.embed_missing() == 0


def test_of_what_is_the_same_nothing_is_embedded_so_its_absence_is_not_noticed(system: System) -> None:
    system.put_server(tools=[DOCS])
    system.embedder.away = True
    report = system.put_entities({"path": "/c7", "name": "Context7", "tools": [DOCS], "version": "2"})
    assert (report.count("updated"), report.embedding_unavailable) == (1, False)


def test_the_same_again_when_it_is_back_gives_the_vectors_and_is_no_change(system: System) -> None:
    system.embedder.away = True
    first = system.put_server(tools=[DOCS])
    system.embedder.away = False
    again = system.put_server(tools=[DOCS])
    assert (again.status, again.id, system.is_entity_embedded(first.id)) == ("unchanged", first.id, True)
    assert system.tools_of()["query-docs"][2]


def test_a_changed_text_does_not_keep_the_old_vector_while_it_is_away(system: System) -> None:
    id_ = system.put_server(tools=[DOCS]).id
    system.embedder.away = True
    system.put_server(tools=[{**DOCS, "description": "Draws a unicorn."}])
    assert not system.is_entity_embedded(id_)
    assert "unicorn" in system.entity_text(id_)


def test_a_deleted_or_new_tool_takes_its_server_s_vector_while_it_is_away(system: System) -> None:
    id_ = system.put_server(tools=[DOCS]).id
    system.embedder.away = True
    [tool_id] = system.put("draw", server="c7")
    assert not system.is_entity_embedded(id_)
    system.embedder.away = False
    system.parts.embed_missing()
    assert system.is_entity_embedded(id_)
    system.embedder.away = True
    system.parts.catalogue.read.delete(tool_id, LAPTOP)
    assert not system.is_entity_embedded(id_)


def test_when_only_the_server_s_own_vector_fails_that_is_told_too(system: System, log: LogRecords) -> None:
    def leave() -> None:
        system.embedder.away = True

    system.database.before_commit = once(leave)
    report = system.put_entities({"path": "/c7", "name": "Context7", "tools": [DOCS]})
    assert (report.count("created"), report.embedding_unavailable) == (1, True)
    assert (system.tools_of()["query-docs"][2], system.is_entity_embedded(report.outcomes[0].id)) == (True, False)
    [record] = log.having("entities stored without embedding")
    assert record.entities == 1  # type: ignore[attr-defined]


# Another one


def test_with_another_model_all_is_written_without_a_vector(
    system: System, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    system.put_server(tools=[DOCS])
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(name="other")) as other:
        for kind in ("server", "agent"):
            report = other.put_entities({"name": "New", "path": "/new"}, kind=kind)  # type: ignore[arg-type]
            assert (report.count("created"), report.embedding_unavailable) == (1, True)
            assert not system.is_entity_embedded(report.outcomes[0].id)
        assert other.embedder.calls == []
    assert (system.paths(), system.paths("agent")) == (["/c7", "/new"], ["/new"])


def test_a_switch_after_the_commit_leaves_the_vector_to_the_reindex(system: System, log: LogRecords) -> None:
    system.put_server()
    switch = "UPDATE mcp.index_state SET embedding_model = 'other', epoch = gen_random_uuid()"
    real = system.embedder.embed

    def embed(texts: list[str], *, timeout_s: float) -> list[list[float]]:
        system.sql(switch)
        return real(texts, timeout_s=timeout_s)

    system.embedder.embed = embed  # type: ignore[method-assign, assignment]
    report = system.put_entities({"path": "/c7", "name": "Context7", "description": "New."})
    assert (report.count("updated"), report.embedding_unavailable) == (1, True)
    assert not system.is_entity_embedded(report.outcomes[0].id)
    assert log.having("entities stored without embedding")


def test_a_reindex_moves_servers_and_agents_to_the_new_model(
    system: System, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    server, agent = system.put_server(tools=[DOCS]).id, system.put_agent().id
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(name="other")) as other:
        assert other.parts.reindex.remaining() == 3
        assert other.parts.reindex() == ReindexReport(Counter({TOOL_DOCUMENTS: 1, REGISTRY_DOCUMENTS: 2}))
        assert other.parts.reindex.remaining() == 0
        assert other.models(REGISTRY_DOCUMENTS) == ["other", "table"]
        assert other.parts.verify().findings == []
        assert (other.is_entity_embedded(server), other.is_entity_embedded(agent)) == (True, True)


def test_what_is_written_on_the_old_model_during_a_reindex_is_moved_as_well(
    system: System, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    # GIVEN a process on the old model that writes once the reindex has done the servers
    system.put_server(tools=[DOCS])
    batches: list[int] = []

    def write(rows: int) -> None:
        batches.append(rows)
        if len(batches) == 2:  # the tool, then the server
            system.put_server(tools=[DOCS], description="Late.")

    # THEN both are moved, the tool for what its server says of itself now
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(name="other")) as other:
        assert other.parts.reindex(write) == ReindexReport(Counter({TOOL_DOCUMENTS: 2, REGISTRY_DOCUMENTS: 2}))
        assert other.models(REGISTRY_DOCUMENTS) == ["other", "table"]


BREAK_TEXT = "UPDATE mcp.documents SET text_hash = 'x', texts = '{old}' WHERE collection = 'mcp_registry' AND key = '1'"
BREAK_WORDS = "UPDATE mcp.registry_words SET words = 'old' WHERE entity_id = 1 AND place = 3"
LOSE_WORDS = "DELETE FROM mcp.registry_words WHERE entity_id = 2"
NEVER_DERIVED = "DELETE FROM mcp.documents WHERE collection = 'mcp_registry' AND key = '2'"
BEHIND_ITS_BACK = "UPDATE mcp.tools SET description = 'Draws.'"


@pytest.mark.parametrize(
    ("statement", "subject"),
    [(BREAK_TEXT, "1"), (BREAK_WORDS, "1"), (LOSE_WORDS, "2"), (NEVER_DERIVED, "2"), (BEHIND_ITS_BACK, "1")],
    ids=["text", "words", "no words", "no text", "a tool changed by hand"],
)
def test_what_is_not_found_by_what_it_says_is_named_and_a_reindex_mends_it(
    system: System, statement: str, subject: str
) -> None:
    system.put_server(description="Docs.", tools=[DOCS])
    system.put_agent(description="Plans.", skills=[{"name": "Plan"}])
    report = system.parts.verify()
    assert (report.checked[REGISTRY_DOCUMENTS], report.checked[TOOL_DOCUMENTS], report.findings) == (2, 1, [])
    system.sql(statement)
    found = [each for each in system.parts.verify().findings if each.rule != "every tool is decided on or waits"]
    assert [(each.rule, each.subject) for each in found if each.rule != IN_REGISTRY] == [(RULE, subject)]
    system.parts.reindex()
    assert system.parts.verify().findings == []


@pytest.mark.parametrize("change", ["org_id = 'acme'", "kind = 'agent'", "is_enabled = false"])
def test_words_that_belong_to_others_than_their_entity_are_named_and_a_reindex_mends_them(
    system: System, change: str
) -> None:
    own = system.put_server(caller=ACME, description="Docs.", tools=[DOCS]).id
    global_ = system.put_server(description="Docs.", tools=[DOCS]).id
    off = system.put_server("/off", is_enabled=False).id
    sound = "SELECT entity_id, place, tool_id, org_id, kind, is_enabled FROM mcp.registry_words ORDER BY 1, 2"
    before = system.rows(sound)
    assert system.parts.verify().findings == []
    system.sql(f"UPDATE mcp.registry_words SET {change} WHERE entity_id = {global_} AND place IN (1, 5)")
    [found] = system.parts.verify().findings
    assert (found.rule, found.subject) == ("words belong to whom their server or agent does", str(global_))
    assert found.detail == "2 rows of words do not"
    log = system.rows("SELECT max(xid::text::bigint) FROM mcp.index_changes WHERE collection = 'mcp_registry'")
    system.parts.reindex()
    assert system.parts.verify().findings == []
    assert system.rows(sound) == before
    assert {row[0] for row in before} == {own, global_, off}
    # AND no entity changed for it
    assert log == system.rows("SELECT max(xid::text::bigint) FROM mcp.index_changes WHERE collection = 'mcp_registry'")


def test_what_is_written_between_the_statements_of_a_look_is_no_finding(system: System) -> None:
    # GIVEN a server whose tools are changed in the middle of the look at it
    id_ = system.put_server(tools=[DOCS]).id
    real = RegistryRepository.words
    free: list[object] = []

    def words(registry: RegistryRepository, entity_ids: list[int]) -> object:
        free.append(system.rows("SELECT id FROM mcp.registry_entities FOR UPDATE SKIP LOCKED"))
        if len(free) == 1:
            with pytest.MonkeyPatch.context() as unwatched:
                unwatched.setattr(RegistryRepository, "words", real)
                system.put("draw", server="c7", description="Draws.")
        return real(registry, entity_ids)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RegistryRepository, "words", words)
        assert system.parts.verify().findings == []
    # THEN the look saw one moment, and held nobody up
    assert free == [[[id_]]]
    assert "draw: Draws." in system.entity_text(id_)


def test_of_many_each_is_looked_at(system: System) -> None:
    system.embedder.away = True  # without vectors there is less to compare, and this is not about them
    for start in range(0, 600, 100):
        system.put_entities(*({"name": f"s{n}"} for n in range(start, start + 100)))
    assert system.parts.verify().checked[REGISTRY_DOCUMENTS] == 600
    system.sql(
        "UPDATE mcp.documents SET text_hash = 'x' WHERE collection = 'mcp_registry' AND key IN ('500', '501', '600')"
    )
    found = system.parts.verify().findings
    assert [each.subject for each in found if each.rule == RULE] == ["500", "501", "600"]


@pytest.mark.parametrize(
    ("statement", "detail"),
    [
        ("""UPDATE mcp.documents SET payload = payload || '{"name": "Other"}' WHERE key = '1'""", "it differs in name"),
        (f"UPDATE mcp.document_vectors SET embedding = decode('{to_bytes(at(0.0, axis=7)).hex()}', 'hex')", "vector"),
        ("DELETE FROM mcp.documents WHERE key = '1'", "should not be"),
    ],
    ids=["name", "vector", "gone"],
)
def test_an_index_that_says_something_else_is_found(system: System, statement: str, detail: str) -> None:
    system.put_server()
    with system.replica.current():
        pass
    # Behind the feed's back: the index cannot know.
    system.sql(f"SET LOCAL session_replication_role = replica; {statement}")
    found = [each for each in system.parts.verify().findings if each.rule == IN_REGISTRY]
    assert [(each.subject, detail in each.detail) for each in found] == [("1", True)]
    assert REGISTRY_DOCUMENTS.value in IN_REGISTRY


def test_the_relay_says_when_it_cannot_embed(system: System) -> None:
    system.embedder.away = True
    system.put_agent()
    with pytest.raises(EmbeddingUnavailable):
        system.parts.embed_missing()
    assert "embed" in system.parts.relay().failed
