"""Decision 30: whatever an organisation writes, the answers of another stay the same, to the last digit of a score."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillroute.search.model import Mode, Strategy

from tests.builders import System, item, lent_system, of_org
from tests.component.registry.search.searched import Registry
from tests.doubles import EdgeIndexes, at

A, B = of_org("a"), of_org("b")
WORDS = ["zebra", "rain", "invoice", "gitlab", "merge", "request", "天气", "Kalender", "retrieve", "zebra_rain", "of"]
QUERIES = ["zebra rain invoice", "merge the GitLab request", "retrieve 天气 Kalender"]
STRATEGIES: tuple[Strategy, ...] = ("hierarchical", "direct", "hybrid")
MODES: tuple[Mode, ...] = ("lexical", "semantic")
FUSIONS = ("boost", "rrf", "coverage")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@pytest.fixture
def two(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    """A system with what is global and what is B's; A has written nothing. No query's vector is remembered."""
    with lent_system(database_url, edge_indexes, query_cache_size=0) as system:
        _fill(system)
        yield system


def _fill(system: System) -> None:
    system.skill("weather", at(0.6), description="Skill for rain and zebra crossings.")
    system.skill("finance", at(0.5), description="Skill for every invoice.", org="b")
    system.tool("get_rain", at(0.8), skills=["weather"], description="Retrieve the rain of a zebra.")
    system.tool("zebra", at(0.7), skills=["weather", "finance"], description="Zebra, merge or request.", org="b")
    system.tool("pay", at(0.6), skills=["finance"], description="Pay an invoice 天气 Kalender.", org="b")
    # Two probes that differ in one word alone: their scores would tell how common those words are.
    system.tool("probe_1", at(0.1), skills=["finance"], description="invoice", org="b")
    system.tool("probe_2", at(0.1), skills=["finance"], description="gitlab", org="b")
    registry = Registry(system)
    registry.server("/gitlab", at(0.7), name="GitLab", description="Merge requests.", tools={"merge": at(0.5)})
    registry.server("/zebra", at(0.6), name="Zebra", description="Rain, invoice.", org="b", tools={"rain": at(0.4)})
    registry.agent("/invoice", at(0.5), name="Invoice", description="Retrieves the Kalender.", org="b")
    for key in ("weather", "finance/b"):
        system.parts.aggregate_skill(key)  # else the first who writes would have it done


def untimed(answer: Any) -> Any:
    """Return an answer without how long it took."""
    dumped = answer.model_dump()
    dumped["metadata"] = {name: value for name, value in dumped["metadata"].items() if not name.endswith("_ms")}
    return dumped


def answers(system: System) -> dict[tuple[str, ...], Any]:
    """Return everything that B is answered, by what was asked."""
    found: dict[tuple[str, ...], Any] = {}
    for query in QUERIES:
        for strategy, mode in itertools.product(STRATEGIES, MODES):
            found[query, strategy, mode] = untimed(
                system.search(query, caller=B, strategy=strategy, mode=mode, limit=50)
            )
        found[query, "skills"], _ = system.parts.tool_search.skills(query, B, mode="lexical")
        found[query, "tools"], _ = system.parts.tool_search.tools(query, B, mode="lexical")
        for fusion in FUSIONS:
            found[query, fusion] = untimed(Registry(system).search(query, caller=B, fusion=fusion, explain=True))
    return found | _answers_without_the_model(system)


def _answers_without_the_model(system: System) -> dict[tuple[str, ...], Any]:
    """Return the answers by words alone, of which only the first waits for the model (decision 9)."""
    found: dict[tuple[str, ...], Any] = {}
    system.embedder.away = True
    for query in QUERIES:
        for strategy in STRATEGIES:
            found[query, strategy, "away"] = untimed(system.search(query, caller=B, strategy=strategy, limit=50))
        found[query, "registry", "away"] = untimed(Registry(system).search(query, caller=B, explain=True))
    system.embedder.away = False
    system.clock.advance(60.0)
    return found


def test_decision_30_how_many_tools_of_another_have_a_word_moves_no_score(two: System) -> None:
    before = answers(two)
    assert before[QUERIES[0], "direct", "away"]["metadata"]["search_mode"] == "lexical-only"
    assert before[QUERIES[0], "registry", "away"]["search_mode"] == "lexical-only"
    two.put(*(f"invoice_{number}" for number in range(40)), caller=A, description="An invoice.")
    assert answers(two) == before


def test_decision_30_what_was_written_and_deleted_moves_no_score_either(two: System) -> None:
    before = answers(two)
    for id_ in two.put("zebra", "rain", "gitlab", caller=A, description="zebra rain gitlab"):
        two.parts.catalogue.read.delete(id_, A)
    assert answers(two) == before


def _write_tools(system: System, words: Sequence[str]) -> None:
    written = [item(f"a_{number}", server="gitlab", description=text) for number, text in enumerate(words)]
    system.parts.catalogue.sync(written, A)


def _write_named(system: System, words: Sequence[str]) -> None:
    # Called like what B sees, and like what it asks for.
    system.parts.catalogue.sync([item(text, description=text) for text in dict.fromkeys(words)], A)


def _write_skills(system: System, words: Sequence[str]) -> None:
    for number, text in enumerate(words[:3]):
        fields = {"id": f"of_a_{number}", "name": f"A {number}", "description": f"All about {text}"}
        if system.rows("SELECT 1 FROM mcp.skill_categories WHERE id = :id", id=fields["id"]):
            system.change(fields["id"], A, description=fields["description"])
        else:
            system.create(fields.pop("id"), A, **fields)
    (id_,) = system.put("in_skills", caller=A, description=words[0])
    system.assign(id_, A, of_a_0=0.9, weather=0.8)


def _write_registry(system: System, words: Sequence[str]) -> None:
    for number, path in enumerate(("/gitlab", "/zebra", "/other")):
        text = words[number % len(words)]
        server = {"path": path, "name": text[:60], "description": text, "tags": ["rain"], "tools": [item("merge")]}
        assert system.parts.registry.sync("server", [server], A).outcomes[0].id
    agent = {"path": "/invoice", "name": words[0][:60], "description": " ".join(words)}
    assert system.parts.registry.sync("agent", [agent], A).outcomes[0].id


WRITES: Mapping[str, Callable[[System, Sequence[str]], None]] = {
    "tools": _write_tools,
    "named tools": _write_named,
    "skills": _write_skills,
    "registry": _write_registry,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_decision_30_no_words_of_another_move_any_answer(
    two: System, write: Callable[[System, Sequence[str]], None]
) -> None:
    before = answers(two)

    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(words=st.lists(texts, min_size=1, max_size=8))
    def check(words: list[str]) -> None:
        # WHEN A writes (beside, or in the place of, what it wrote in the example before)
        write(two, words)
        # THEN
        assert answers(two) == before

    check()
