"""What a search asks an index in PostgreSQL: few questions, with the answers of a replica (ADR 61)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.core.caller import Caller
from skillroute.core.documents.index.postgres_replica import PostgresReplica
from skillroute.core.time.timing import Stopwatch
from skillroute.search.batch.search import Answered, BatchSearch
from skillroute.search.model import SearchRequest, SearchResponse
from skillroute.wiring.index import cutters

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, FaultyDatabase, TableEmbedder, at

A = of_org("a")
QUERY = "Schedule a meeting with send_4, then water the plants in the garden"


@pytest.fixture
def filled(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(), default_mode="hybrid") as system:
        for place, skill in enumerate(("home", "office", "letters", "travel")):
            system.skill(skill, at(0.9 - place / 10))
        for number in range(60):
            skills = [("home", "office", "letters", "travel")[number % 4]]
            names = {"server": "c7", "description": f"Schedule meeting {number}."}
            system.tool(f"send_{number}", at(0.95 - number / 80), skills=skills, org="ab"[number % 3 == 0], **names)
        system.put_server("/c7", caller=A)
        yield system


@pytest.fixture
def database(filled: System) -> FaultyDatabase:
    return FaultyDatabase(filled.pool)


@pytest.fixture
def replica(filled: System, database: FaultyDatabase) -> PostgresReplica:
    replica = PostgresReplica(database, lambda: filled.embedder.model, cutters())
    replica.catch_up(60.0)
    return replica


def said(answer: SearchResponse) -> Any:
    """Return what an answer says, but for how it was made; engines agree on six decimals of what scores are made of."""
    return json.loads(
        answer.model_dump_json(exclude={"metadata"}), parse_float=lambda written: round(float(written), 6)
    )


@pytest.mark.parametrize(
    ("request_", "most"),
    [
        # The state; what is near, has a word, and is named; the scores of what one of these lacks; the results, and
        # their skills with their servers.
        ({"strategy": "direct"}, 5),
        # And the skills of the tools, and how many tools each has.
        ({"strategy": "hierarchical"}, 7),
        ({"strategy": "hybrid"}, 7),
        ({"strategy": "hierarchical", "server": ["c7"]}, 9),
        ({"strategy": "direct", "mode": "lexical"}, 4),
    ],
)
def test_a_search_asks_few_questions_and_finds_what_a_replica_does(
    filled: System, replica: PostgresReplica, database: FaultyDatabase, request_: dict[str, Any], most: int
) -> None:
    """GIVEN a search of each kind, WHEN PostgreSQL is its index, THEN each step of it is one round trip."""
    request = SearchRequest(query=QUERY, limit=8, **request_)
    expected = filled.parts.tool_search.search(request, A)
    database.calls = 0
    answer = filled.parts.tool_search.search(request, A, lent=replica)
    assert said(answer) == said(expected)
    assert len(answer.tools) == 8
    assert answer.metadata.index == "postgres"
    assert database.calls <= most


def test_the_searches_of_a_batch_share_nothing_that_was_read(filled: System, replica: PostgresReplica) -> None:
    """GIVEN a batch, WHEN a tool changes between two of its searches, THEN the second sees it."""
    request = SearchRequest(query=QUERY, limit=5, strategy="direct")
    searches = filled.parts.tool_search
    answers: list[SearchResponse] = []

    class Changing:
        """Searches, then has the catalogue change."""

        embed_ahead = searches.embed_ahead

        def search(self, request: SearchRequest, caller: Caller, **how: Any) -> SearchResponse:
            answers.append(searches.search(request, caller, **how))
            filled.sql('UPDATE mcp.documents SET payload = payload || \'{"description": "Changed."}\'')
            return answers[-1]

    results = BatchSearch(Changing(), replica)([request, request], A, Stopwatch())  # type: ignore[arg-type]
    assert all(isinstance(result, Answered) for result in results)
    first, second = ([tool.description for tool in answer.tools] for answer in answers)
    assert "Changed." not in first
    assert set(second) == {"Changed."}
