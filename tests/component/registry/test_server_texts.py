"""What a registered server says of itself is a part of what its items are found by (docs/adr/0069)."""

from __future__ import annotations

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.embedding.views import CONTEXT_MARK
from skillroute.core.hashing import text_hash
from skillroute.registry.text import Place

from tests.builders import of_org
from tests.component.registry.shelf import DOCS, Shelf

ACME = of_org("acme")
SAID = f"{CONTEXT_MARK}Context7: Library docs."


def texts(shelf: Shelf, item: int) -> list[str]:
    return shelf.system.texts(TOOL_DOCUMENTS, item)


def state(shelf: Shelf, item: int) -> tuple[bool, bool, bool]:
    """Return of an item's vector: whether it has one, one that it is found by meanwhile, and that of its texts."""
    [row] = shelf.system.rows(
        "SELECT v.embedding IS NOT NULL, v.derived IS NOT NULL, v.text_hash = d.text_hash FROM mcp.document_vectors v"
        " JOIN mcp.documents d USING (collection, key) WHERE v.collection = 'mcp_unified_search' AND v.key = :key",
        key=str(item),
    )
    return tuple(row)


def one_tool(shelf: Shelf, server: str = "c7", caller: Caller = LAPTOP) -> int:
    [id_] = shelf.system.put("log", server=server, caller=caller)
    return id_


def test_an_item_says_last_what_its_server_says_of_itself(shelf: Shelf) -> None:
    shelf.server(description="  Library\n docs. ")
    item = one_tool(shelf)
    assert texts(shelf, item)[3:] == [SAID]
    assert state(shelf, item) == (True, False, True)
    # AND words do not count it
    [[lexical]] = shelf.system.rows("SELECT lexical_text FROM mcp.documents WHERE collection = 'mcp_unified_search'")
    assert "Library" not in lexical


def test_a_server_without_a_description_adds_nothing(shelf: Shelf) -> None:
    shelf.server(description=" \n ")
    assert len(texts(shelf, one_tool(shelf))) == 3


def test_the_hash_is_that_of_the_texts_whoever_wrote_them(shelf: Shelf) -> None:
    item = one_tool(shelf)
    shelf.server(description="Библиотека 図書館 📚")
    [[all_texts, lexical, stored]] = shelf.system.rows(
        "SELECT texts, lexical_text, text_hash FROM mcp.documents WHERE collection = 'mcp_unified_search'"
    )
    assert len(all_texts) == 4
    assert stored == text_hash(*all_texts, lexical)
    # AND so the same item again is no news
    before = state(shelf, item)
    assert one_tool(shelf) == item
    assert state(shelf, item) == before == (True, False, True)


def test_items_follow_a_server_that_is_registered_described_anew_and_renamed(shelf: Shelf) -> None:
    item = one_tool(shelf, server="Context7")
    assert len(texts(shelf, item)) == 3
    shelf.server(description="Library docs.")
    assert texts(shelf, item)[3:] == [SAID]
    shelf.server(description="Novels.")
    assert texts(shelf, item)[3:] == [f"{CONTEXT_MARK}Context7: Novels."]
    # WHEN no server is meant by the name any more
    shelf.put({"path": "/c7", "name": "Shelf", "description": "Novels."})
    assert len(texts(shelf, item)) == 3
    assert state(shelf, item) == (False, True, True)  # found by the former vector until the relay made another
    assert shelf.system.parts.embed_missing() == 1
    assert state(shelf, item) == (True, False, True)
    assert shelf.system.parts.verify().findings == []


def test_an_item_is_found_by_its_former_vector_while_the_model_is_away(shelf: Shelf) -> None:
    item = one_tool(shelf)
    shelf.system.embedder.away = True
    report = shelf.put({"path": "/c7", "name": "Context7", "description": "Library docs."})
    shelf.system.embedder.away = False
    assert report.embedding_unavailable
    assert state(shelf, item) == (False, True, True)
    assert "log" in shelf.system.names("read the log", mode="semantic")
    assert shelf.system.parts.embed_missing() >= 1
    assert state(shelf, item) == (True, False, True)


def test_items_that_follow_their_server_are_not_classified_again_and_stay_in_their_skills(shelf: Shelf) -> None:
    item = one_tool(shelf)
    shelf.system.create("logs")
    shelf.system.assign(item, logs=1.0)
    shelf.system.sql("DELETE FROM mcp.outbox")
    before = shelf.system.vector("logs")
    shelf.system.embedder.away = True
    shelf.server(description="Library docs.")
    shelf.system.embedder.away = False
    assert shelf.system.waiting("classify") == shelf.system.waiting("aggregate") == []
    assert shelf.system.vector("logs") == before
    shelf.system.parts.embed_missing()
    assert shelf.system.waiting("classify") == []


def test_a_server_that_comes_with_its_tools_has_them_embedded_once(shelf: Shelf) -> None:
    shelf.server(description="Library docs.", tools=[DOCS])
    asked = [text for call in shelf.system.embedder.calls for text in call.texts]
    assert asked.count("query docs: Query the docs. c7") == 1
    [[item]] = shelf.system.rows("SELECT id FROM mcp.tools")
    assert texts(shelf, item)[3:] == [SAID]


def test_a_server_of_another_organisation_says_nothing_of_ours(shelf: Shelf) -> None:
    ours, theirs = one_tool(shelf), one_tool(shelf, caller=ACME)
    shelf.server(description="Library docs.", caller=ACME)
    assert len(texts(shelf, ours)) == 3
    assert texts(shelf, theirs)[3:] == [SAID]


def test_requests_stay_beside_what_the_server_says(shelf: Shelf) -> None:
    shelf.server(description="Library docs.")
    [item] = shelf.system.put("log", server="c7", requests=["what changed last week"])
    assert texts(shelf, item)[3:] == ["what changed last week", SAID]
    shelf.server(description="Novels.")
    assert texts(shelf, item)[3:] == ["what changed last week", f"{CONTEXT_MARK}Context7: Novels."]


def test_a_reindex_mends_what_was_written_before_servers_counted(shelf: Shelf) -> None:
    shelf.server(description="Library docs.")
    item = one_tool(shelf)
    shelf.system.sql(
        "UPDATE mcp.documents SET texts = texts[1:3], text_hash = mcp.text_hash(texts[1:3] || lexical_text)"
        " WHERE collection = 'mcp_unified_search'"
    )
    shelf.system.parts.reindex()
    assert texts(shelf, item)[3:] == [SAID]
    assert state(shelf, item) == (True, False, True)


def test_a_server_is_found_by_the_words_of_its_tools_alone(shelf: Shelf) -> None:
    server = shelf.server(description="Library docs.", tools=[DOCS]).id
    [words] = shelf.words(server, Place.TOOL)
    assert "query" in words
    assert "library" not in words
