"""Mode hybrid: which skills match by their best tools, and how many tools are looked at for it (decision 34)."""

from __future__ import annotations

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS

from tests.builders import System
from tests.doubles import at

AT_ONCE = 32
"""How many tools' skills are looked up together (`search/ranking/hybrid.py`)."""

SHOWN = 5
"""How many tools a search returns: those are looked up at the end."""


def matched(system: System, query: str = "question", **request: object) -> list[str]:
    """Return the skills that match, and forget what the index was asked before."""
    system.index.calls.clear()
    answer = system.search(query, mode="hybrid", **request)
    return [skill.id for skill in answer.matched_skills]


def lookups(system: System) -> list[int]:
    """Return how many tools the last search looked up, one look-up after the other."""
    return [
        call.limit or 0 for call in system.index.calls if (call.method, call.collection) == ("payloads", TOOL_DOCUMENTS)
    ]


def fill(system: System, count: int, skill_of: dict[int, str], *, near: str = "") -> None:
    """Store tools from the nearest on; those whose place is named are in a skill of their own, all others in one.

    Skills are far from every query, but the one that is `near`.
    """
    for skill_id in {"crowd", *skill_of.values()}:
        system.skill(skill_id, at(0.6 if skill_id == near else 0.0))
    for place in range(count):
        skills = [skill_of.get(place, "crowd")]
        system.tool(f"tool_{place:03}", at(0.9 - place / 200), skills=skills, description="nothing in common")


def test_no_more_tools_are_looked_at_than_the_skills_that_may_match_need(system: System) -> None:
    fill(system, AT_ONCE + 20, {5: "second", 10: "third", AT_ONCE + 5: "fourth"})

    assert matched(system, skill_limit=3) == ["crowd", "second", "third"]
    # Those behind may be of no skill at all (decision 39); what is shown is known by then.
    assert lookups(system) == [AT_ONCE, 20]


def test_more_tools_are_looked_at_where_one_skill_is_missing(system: System) -> None:
    fill(system, AT_ONCE + 20, {5: "second", AT_ONCE + 5: "third", AT_ONCE + 6: "fourth"})

    assert matched(system, skill_limit=3) == ["crowd", "second", "third"]
    assert lookups(system) == [AT_ONCE, 20]


def test_of_skills_whose_best_tools_score_the_same_the_first_by_id_matches(system: System) -> None:
    """Tools of one score go on behind those that were looked at together."""
    skill_of = {1: "yak", 2: "zebra", AT_ONCE + 1: "apple"}
    for skill_id in ("best", *skill_of.values()):
        system.skill(skill_id, at(0.0))
    system.tool("nearest", at(0.95), skills=["best"], description="nothing in common")
    for place in range(1, AT_ONCE + 2):
        system.tool(f"tool_{place}", at(0.5), skills=[skill_of.get(place, "best")], description="nothing in common")

    assert matched(system, skill_limit=3) == ["best", "apple", "yak"]


def test_skills_of_named_tools_do_not_end_the_search_for_another(system: System) -> None:
    """A name such as "search" is one of tools of many skills: the best of the others has its place."""
    for skill_id in ("a", "b", "c", "other"):
        system.skill(skill_id, at(0.0))
    for place in range(AT_ONCE + 3):
        skill = {1: "b", 2: "c"}.get(place, "a")
        vector = at(0.9 - place / 200)
        system.tool("search", vector, skills=[skill], server=f"server_{place}", description="something else")
    system.tool("wanted", at(0.9), skills=["other"], description="nothing in common")

    assert matched(system, "`search` my inbox", skill_limit=3) == ["a", "b", "other"]


@pytest.mark.parametrize("skill_limit", [1, 3])
def test_a_threshold_of_skills_is_no_reason_to_stop(system: System, skill_limit: int) -> None:
    """Those of the best tools may all be below it."""
    fill(system, AT_ONCE + 8, {1: "below", 2: "below_too", AT_ONCE + 4: "above"}, near="above")

    answer = system.search("question", mode="hybrid", skill_threshold=0.5, skill_limit=skill_limit, limit=5)

    best = next(tool for tool in answer.tools if tool.name == f"tool_{AT_ONCE + 4:03}")
    assert [(skill.id, skill.score) for skill in answer.matched_skills] == [("above", best.score)]
