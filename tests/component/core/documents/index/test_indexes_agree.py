"""PostgreSQL answers as a replica does: the examples' catalogue, their requests, every mode and strategy (ADR 61)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.settings import LocalSettings
from skillroute.registry.search.model import RegistrySearchRequest
from skillroute.search.model import SearchRequest
from skillroute.skills.model import NewSkill
from skillroute.wiring import Parts

from tests.builders import of_org

EXAMPLES = Path(__file__).parents[5] / "examples"
CALLERS = (LAPTOP, of_org("acme"))
TOLERANCE = 2e-5
"""Six decimals of a cosine, and what the probability curve makes of them."""


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / f"{name}.jsonl").read_text("utf-8").splitlines()]


def parts_over(url: str, index: str) -> Parts:
    return Parts(LocalSettings(database_url=url, index=index))  # type: ignore[arg-type]


@pytest.fixture
def both(database_url: str) -> Iterator[tuple[Parts, Parts]]:
    """Two processes over the examples, one with a replica of its own, the other searching PostgreSQL."""
    embedded, postgres = parts_over(database_url, "embedded"), parts_over(database_url, "postgres")
    tools = lines("tools")
    for caller, some in ((LAPTOP, tools), (of_org("acme"), tools[::7])):
        assert embedded.catalogue.sync(some, caller).count("failed") == 0
    for skill in lines("skills"):
        embedded.skills.create(NewSkill(**{name: skill[name] for name in ("id", "name", "description")}), LAPTOP)
    assert embedded.registry.sync("server", lines("servers")[:100], LAPTOP).count("failed") == 0
    postgres.replica.catch_up(60.0, check=True)
    yield embedded, postgres
    for parts in (embedded, postgres):
        parts.close()


def ranked(answer: Any) -> list[tuple[str, float]]:
    """What was found, where rounding may have put two that tie in another order: by name."""
    return sorted((tool.name, tool.score) for tool in answer.tools)


def assert_alike(mine: list[tuple[str, float]], other: list[tuple[str, float]]) -> None:
    assert [name for name, _ in mine] == [name for name, _ in other]
    assert [score for _, score in mine] == pytest.approx([score for _, score in other], abs=TOLERANCE)


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_tools_and_skills_are_found_with_the_same_scores(both: tuple[Parts, Parts], mode: str) -> None:
    requests = [query["query"] for query in lines("queries")][:12]
    for query, strategy, caller in product(requests, ("hierarchical", "direct", "hybrid"), CALLERS):
        request = SearchRequest(query=query, strategy=strategy, mode=mode, limit=10)  # type: ignore[arg-type]
        embedded, postgres = (parts.tool_search.search(request, caller) for parts in both)
        assert (embedded.metadata.index, postgres.metadata.index) == ("embedded", "postgres")
        assert_alike(ranked(postgres), ranked(embedded))
        assert [skill.id for skill in postgres.matched_skills] == [skill.id for skill in embedded.matched_skills]
        assert postgres.metadata.stage2_candidate_count == embedded.metadata.stage2_candidate_count


def test_servers_are_found_with_the_same_scores(both: tuple[Parts, Parts]) -> None:
    for query in [query["query"] for query in lines("queries")][:12]:
        embedded, postgres = (found_servers(parts, query, LAPTOP) for parts in both)
        assert_alike(postgres, embedded)


def found_servers(parts: Parts, query: str, caller: Caller) -> list[tuple[str, float]]:
    answer = parts.registry_search(RegistrySearchRequest(query=query, max_results=10), caller)
    return sorted((server.path, server.relevance_score) for server in answer.servers)


def test_what_is_written_or_switched_off_is_found_or_not_at_once(both: tuple[Parts, Parts]) -> None:
    """What is committed is found, words included, without anybody who fills anything."""
    writer, searching = both

    def found(query: str = "pollinate the orchids") -> list[str]:
        request = SearchRequest(query=query, strategy="direct", mode="lexical")
        return [tool.name for tool in searching.tool_search.search(request, LAPTOP).tools]

    def switch(is_active: bool) -> None:
        statement = f"UPDATE mcp.tools SET is_active = {is_active} WHERE name = 'garden_42'"
        writer.pool.transact(lambda connection: connection.script(statement))

    writer.catalogue.sync([{"name": "garden_42", "description": "Pollinates orchids."}], LAPTOP)
    assert found() == ["garden_42"]
    # WHEN it is switched off behind everybody's back, THEN it is gone, AND switched on it has its words again
    switch(False)
    assert found() == []
    switch(True)
    assert found() == ["garden_42"]
    # AND with another text it is found by that alone
    writer.catalogue.sync([{"name": "garden_42", "description": "Waters cacti."}], LAPTOP)
    assert found() == []
    assert found("cacti") == ["garden_42"]
