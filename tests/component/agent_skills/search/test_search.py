"""Finding Agent Skills by what their descriptions and bodies say."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.agent_skills.search import candidates
from skillroute.agent_skills.search.model import AgentSkillSearchResponse
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import DatabaseUnavailable, IndexUnavailable

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes
from tests.worlds.agent_skills import agent_skill

ACME, UMBRELLA = of_org("acme"), of_org("umbrella")
LONG = "word " * 120
LETTERS = f"# Alphabet\n{LONG}\n## Bees\nHives need honey frames.\n{LONG}"


def paths(answer: AgentSkillSearchResponse) -> list[str]:
    return [skill.path for skill in answer.agent_skills]


@pytest.fixture(params=["embedded", "postgres"])
def worded(request: Any, database_url: str, edge_indexes: EdgeIndexes) -> Any:
    """A system whose vectors are of the words of texts, over each index in turn."""
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), index=request.param) as system:
        yield system


def test_a_skill_is_found_by_its_description_and_by_a_piece_of_its_body(worded: System) -> None:
    # GIVEN
    worded.put_agent_skills(
        agent_skill("farm/letters", LETTERS, description="Teaches the alphabet."),
        agent_skill("refunds", description="Processes refund requests."),
        agent_skill("weather", "# Weather\nForecasts of rain.", description="Tells the weather."),
    )
    # WHEN
    by_body = worded.find_agent_skills("hives with honey frames")
    by_description = worded.find_agent_skills("process a refund request")
    # THEN
    first = by_body.agent_skills[0]
    assert (first.path, first.name) == ("farm/letters", "letters")
    assert (first.matched.part, first.matched.heading) == ("body", "Alphabet > Bees")
    assert first.matched.snippet.startswith("## Bees Hives need honey frames.")
    assert first.matched.snippet.endswith("word…")
    assert by_description.agent_skills[0].path == "refunds"
    assert by_description.search_mode == "hybrid"
    assert by_description.metadata.degraded == []


def test_a_skill_with_many_matching_pieces_is_one_result(worded: System) -> None:
    body = "".join(f"# Honey {nth}\nhoney {LONG}\n" for nth in range(8))
    worded.put_agent_skills(agent_skill("bees", body), agent_skill("cars", "# Cars\nWheels."))
    assert paths(worded.find_agent_skills("honey")) == ["bees", "cars"]


def test_only_the_description_is_searched_where_that_is_asked_for(worded: System) -> None:
    worded.put_agent_skills(agent_skill("letters", LETTERS, description="Teaches the alphabet."))
    found = worded.find_agent_skills("honey", parts=["description"])
    assert [skill.matched.part for skill in found.agent_skills] == ["description"]
    found = worded.find_agent_skills("alphabet", parts=["body"])
    assert [skill.matched.part for skill in found.agent_skills] == ["body"]


def test_a_caller_finds_global_skills_and_its_own(worded: System) -> None:
    # GIVEN
    for caller, path in ((of_org(None), "all/bees"), (ACME, "acme/bees"), (UMBRELLA, "umbrella/bees")):
        worded.put_agent_skill(path, caller=caller)
    # THEN
    assert set(paths(worded.find_agent_skills("bees", ACME))) == {"all/bees", "acme/bees"}
    assert set(paths(worded.find_agent_skills("bees", of_org(None)))) == {"all/bees"}


def test_what_another_organisation_has_moves_no_score(worded: System) -> None:
    worded.put_agent_skills(agent_skill("bees"), agent_skill("cars"))
    before = worded.find_agent_skills("bees refunds", ACME).agent_skills
    worded.put_agent_skills(*(agent_skill(f"x{nth}/bees", LETTERS) for nth in range(9)), caller=UMBRELLA)
    assert worded.find_agent_skills("bees refunds", ACME).agent_skills == before


def test_a_skill_that_is_switched_off_changed_or_deleted_is_found_as_it_is_now(worded: System) -> None:
    # GIVEN
    id_ = worded.put_agent_skill("letters", LETTERS).id
    assert id_ is not None
    read = worded.parts.agent_skills.read
    assert paths(worded.find_agent_skills("honey")) == ["letters"]
    # THEN
    read.switch(id_, of_org(None), is_active=False)
    assert paths(worded.find_agent_skills("honey")) == []
    read.switch(id_, of_org(None), is_active=True)
    assert paths(worded.find_agent_skills("honey")) == ["letters"]
    worded.put_agent_skill("letters", "# Cars\nWheels and tyres.")
    [found] = worded.find_agent_skills("tyres").agent_skills
    assert found.matched.heading == "Cars"
    read.delete(id_, of_org(None))
    assert paths(worded.find_agent_skills("honey")) == []


def test_many_pieces_of_one_skill_leave_room_for_others(worded: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many pieces are looked at as it takes to have the skills that are asked for."""
    # GIVEN
    body = "".join(f"# Honey {nth}\nhoney honey honey {LONG}\n" for nth in range(12))
    little = agent_skill("hives", f"# Hives\nA little honey {LONG}", description=LONG)
    worded.put_agent_skills(agent_skill("bees", body, description="Honey"), little)
    monkeypatch.setattr(candidates, "POOL", 4)
    # THEN
    assert paths(worded.find_agent_skills("honey", limit=2)) == ["bees", "hives"]
    monkeypatch.setattr(candidates, "MAX_POOL", 4)
    assert paths(worded.find_agent_skills("honey", limit=2)) == ["bees"]


def test_no_more_than_the_limit_are_returned(worded: System) -> None:
    worded.put_agent_skills(*(agent_skill(f"x{nth}/bees") for nth in range(4)))
    assert len(worded.find_agent_skills("bees", limit=3).agent_skills) == 3


def test_without_the_model_skills_are_found_by_words_and_the_answer_says_so(system: System) -> None:
    # GIVEN
    system.put_agent_skills(agent_skill("letters", LETTERS), agent_skill("refunds"))
    system.embedder.away = True
    # WHEN
    found = system.find_agent_skills("honey")
    # THEN
    assert (found.search_mode, found.metadata.degraded) == ("lexical-only", ["embedding_unavailable"])
    assert [(skill.path, skill.score, skill.similarity) for skill in found.agent_skills] == [("letters", 1.0, None)]


def test_skills_that_wait_for_their_vectors_are_found_by_words_and_the_answer_says_so(system: System) -> None:
    # GIVEN
    system.put_agent_skill("cars")
    system.sql("UPDATE mcp.document_vectors SET embedding = NULL")
    # WHEN
    found = system.find_agent_skills("cars")
    # THEN
    assert (found.search_mode, found.metadata.degraded) == ("lexical-only", ["vectors_missing"])
    assert paths(found) == ["cars"]


def test_without_the_index_nothing_is_found_and_the_answer_says_so(system: System) -> None:
    system.put_agent_skill()
    system.index.fail(AGENT_SKILL_DOCUMENTS, IndexUnavailable("broken"))
    found = system.find_agent_skills("refunds")
    assert (paths(found), found.metadata.degraded) == ([], ["index_unavailable"])


def test_without_postgresql_there_is_no_answer(system: System) -> None:
    system.put_agent_skill()
    assert paths(system.find_agent_skills("refunds")) == ["acme/billing/refunds"]
    system.database.down = True
    with pytest.raises(DatabaseUnavailable):
        system.find_agent_skills("refunds")
