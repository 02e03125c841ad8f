"""What a registered server says of itself is a part of what its items are found by (docs/adr/0069)."""

from __future__ import annotations

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.embedding.views import CONTEXT_MARK
from skillroute.core.hashing import text_hash
from skillroute.registry.text import Place

from tests.builders import System, of_org
from tests.worlds.registry import DOCS

ACME = of_org("acme")
SAID = f"{CONTEXT_MARK}Context7: Library docs."


def texts(system: System, item: int) -> list[str]:
    return system.texts(TOOL_DOCUMENTS, item)


def state(system: System, item: int) -> tuple[bool, bool, bool]:
    """Return of an item's vector: whether it has one, one that it is found by meanwhile, and that of its texts."""
    [row] = system.rows(
        "SELECT v.embedding IS NOT NULL, v.derived IS NOT NULL, v.text_hash = d.text_hash FROM mcp.document_vectors v"
        " JOIN mcp.documents d USING (collection, key) WHERE v.collection = 'mcp_unified_search' AND v.key = :key",
        key=str(item),
    )
    return tuple(row)


def one_tool(system: System, server: str = "c7", caller: Caller = LAPTOP) -> int:
    [id_] = system.put("log", server=server, caller=caller)
    return id_


def test_an_item_says_last_what_its_server_says_of_itself(system: System) -> None:
    system.put_server(description="  Library\n docs. ")
    item = one_tool(system)
    assert texts(system, item)[3:] == [SAID]
    assert state(system, item) == (True, False, True)
    # AND words do not count it
    [[lexical]] = system.rows("SELECT lexical_text FROM mcp.documents WHERE collection = 'mcp_unified_search'")
    assert "Library" not in lexical


def test_a_server_without_a_description_adds_nothing(system: System) -> None:
    system.put_server(description=" \n ")
    assert len(texts(system, one_tool(system))) == 3


def test_the_hash_is_that_of_the_texts_whoever_wrote_them(system: System) -> None:
    item = one_tool(system)
    system.put_server(description="Библиотека 図書館 📚")
    [[all_texts, lexical, stored]] = system.rows(
        "SELECT texts, lexical_text, text_hash FROM mcp.documents WHERE collection = 'mcp_unified_search'"
    )
    assert len(all_texts) == 4
    assert stored == text_hash(*all_texts, lexical)
    # AND so the same item again is no news
    before = state(system, item)
    assert one_tool(system) == item
    assert state(system, item) == before == (True, False, True)


def test_items_follow_a_server_that_is_registered_described_anew_and_renamed(system: System) -> None:
    item = one_tool(system, server="Context7")
    assert len(texts(system, item)) == 3
    system.put_server(description="Library docs.")
    assert texts(system, item)[3:] == [SAID]
    system.put_server(description="Novels.")
    assert texts(system, item)[3:] == [f"{CONTEXT_MARK}Context7: Novels."]
    # WHEN no server is meant by the name any more
    system.put_entities({"path": "/c7", "name": "System", "description": "Novels."})
    assert len(texts(system, item)) == 3
    assert state(system, item) == (False, True, True)  # found by the former vector until the relay made another
    assert system.parts.embed_missing() == 1
    assert state(system, item) == (True, False, True)
    assert system.parts.verify().findings == []


def test_an_item_is_found_by_its_former_vector_while_the_model_is_away(system: System) -> None:
    item = one_tool(system)
    system.embedder.away = True
    report = system.put_entities({"path": "/c7", "name": "Context7", "description": "Library docs."})
    system.embedder.away = False
    assert report.embedding_unavailable
    assert state(system, item) == (False, True, True)
    assert "log" in system.names("read the log", mode="semantic")
    assert system.parts.embed_missing() >= 1
    assert state(system, item) == (True, False, True)


def test_items_that_follow_their_server_are_not_classified_again_and_stay_in_their_skills(system: System) -> None:
    item = one_tool(system)
    system.create("logs")
    system.assign(item, logs=1.0)
    system.sql("DELETE FROM mcp.outbox")
    before = system.vector("logs")
    system.embedder.away = True
    system.put_server(description="Library docs.")
    system.embedder.away = False
    assert system.waiting("classify") == system.waiting("aggregate") == []
    assert system.vector("logs") == before
    system.parts.embed_missing()
    assert system.waiting("classify") == []


def test_a_server_that_comes_with_its_tools_has_them_embedded_once(system: System) -> None:
    system.put_server(description="Library docs.", tools=[DOCS])
    asked = [text for call in system.embedder.calls for text in call.texts]
    assert asked.count("query docs: Query the docs. c7") == 1
    [[item]] = system.rows("SELECT id FROM mcp.tools")
    assert texts(system, item)[3:] == [SAID]


def test_a_server_of_another_organisation_says_nothing_of_ours(system: System) -> None:
    ours, theirs = one_tool(system), one_tool(system, caller=ACME)
    system.put_server(description="Library docs.", caller=ACME)
    assert len(texts(system, ours)) == 3
    assert texts(system, theirs)[3:] == [SAID]


def test_requests_stay_beside_what_the_server_says(system: System) -> None:
    system.put_server(description="Library docs.")
    [item] = system.put("log", server="c7", requests=["what changed last week"])
    assert texts(system, item)[3:] == ["what changed last week", SAID]
    system.put_server(description="Novels.")
    assert texts(system, item)[3:] == ["what changed last week", f"{CONTEXT_MARK}Context7: Novels."]


def test_a_reindex_mends_what_was_written_before_servers_counted(system: System) -> None:
    system.put_server(description="Library docs.")
    item = one_tool(system)
    system.sql(
        "UPDATE mcp.documents SET texts = texts[1:3], text_hash = mcp.text_hash(texts[1:3] || lexical_text)"
        " WHERE collection = 'mcp_unified_search'"
    )
    system.parts.reindex()
    assert texts(system, item)[3:] == [SAID]
    assert state(system, item) == (True, False, True)


def test_a_server_is_found_by_the_words_of_its_tools_alone(system: System) -> None:
    server = system.put_server(description="Library docs.", tools=[DOCS]).id
    [words] = system.entity_words(server, Place.TOOL)
    assert "query" in words
    assert "library" not in words
