"""Mail is embedded as messages, and what is asked about it as well, where the model tells them from tools."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.collection import Collection
from skillroute.core.embedding.model import Vector, from_bytes
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search.model import MessageSearchRequest

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, TypedEmbedder, at

TOOLS, MESSAGES = at(0.0, 2), at(0.0, 3)


@pytest.fixture
def typed(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=TypedEmbedder()) as system:
        yield system


def stored(system: System, collection: Collection) -> list[Vector]:
    rows = system.rows(
        "SELECT DISTINCT embedding FROM mcp.document_vectors WHERE collection = :collection AND embedding IS NOT NULL",
        collection=collection.value,
    )
    return [from_bytes(vector) for [vector] in rows]


def write(system: System) -> None:
    office = system
    office.mail_outcome("project", key="atlas", name="Atlas")
    office.put_message(body="The totals are right now.")
    system.put("send_mail")


def test_what_is_written_is_embedded_by_its_type(typed: System) -> None:
    write(typed)

    assert stored(typed, MAIL_DOCUMENTS) == [MESSAGES]
    assert stored(typed, TOOL_DOCUMENTS) == [TOOLS]


def test_so_is_what_waited_for_the_model(typed: System) -> None:
    typed.embedder.away = True
    write(typed)
    assert stored(typed, MAIL_DOCUMENTS) == []
    typed.embedder.away = False

    typed.parts.embed_missing()

    assert stored(typed, MAIL_DOCUMENTS) == [MESSAGES]
    assert stored(typed, TOOL_DOCUMENTS) == [TOOLS]


def test_so_is_what_moves_to_the_model(system: System, database_url: str, edge_indexes: EdgeIndexes) -> None:
    write(system)
    with lent_system(database_url, edge_indexes, embedder=TypedEmbedder()) as other:
        other.parts.reindex()

        assert MESSAGES in stored(other, MAIL_DOCUMENTS)
        assert TOOLS not in stored(other, MAIL_DOCUMENTS)
        assert TOOLS in stored(other, TOOL_DOCUMENTS)
        assert MESSAGES not in stored(other, TOOL_DOCUMENTS)


def test_questions_about_mail_and_requests_for_tools_meet_vectors_of_their_own_type(typed: System) -> None:
    write(typed)

    request = MessageSearchRequest.model_validate({"text": "how are the totals", "mode": "semantic", "limit": 1})
    [found] = typed.parts.messages.search(request, LAPTOP).results
    [tool] = typed.search("how are the totals").tools

    assert found.score == pytest.approx(1.0)
    assert tool.similarity == pytest.approx(1.0)
