"""Which skills a prompt offers when it has not room for all (skill-contract BR-002)."""

from __future__ import annotations

import json
import math

import pytest
from skillroute.skills.classification.classifiers.llm_offer import nearest_first, offer
from skillroute.skills.classification.classifiers.prompt import (
    ANSWER_SCHEMA,
    INSTRUCTIONS,
    estimated_tokens,
    question,
    skill_entry,
)

from tests.unit.skills.classification.classifiers.llm_profiles import CALENDAR, EMAIL, FILES, skill, tool


def at(cosine: float) -> list[float]:
    """A vector of norm 1 with this cosine to (1, 0)."""
    return [cosine, math.sqrt(1 - cosine**2)]


def whole(offered: dict[str, str]) -> int:
    asking = question(tool(), offered.values())
    return sum(map(estimated_tokens, (INSTRUCTIONS, json.dumps(ANSWER_SCHEMA), asking)))


def test_all_that_fit_are_offered_by_id() -> None:
    offered = offer(tool(embedding=[1.0, 0.0]), [FILES, EMAIL, CALENDAR], max_tokens=6000)

    assert offered == {each.id: skill_entry(each) for each in (CALENDAR, EMAIL, FILES)}
    assert list(offered) == ["calendar_management", "email", "files"]


def test_of_a_thousand_skills_the_nearest_are_offered_nearest_first() -> None:
    """GIVEN 1,000 skills WHEN the prompt has room for some THEN the nearest are in it, and it is nearly full."""
    skills = [skill(f"skill_{n}", "x" * 200, description_embedding=at(n / 1000)) for n in range(1000)]

    offered = offer(tool(embedding=[1.0, 0.0]), skills, max_tokens=6000)

    assert 30 < len(offered) < 100
    assert list(offered) == [f"skill_{n}" for n in range(999, 999 - len(offered), -1)]
    assert 5800 < whole(offered) <= 6000


def test_a_skill_that_does_not_fit_makes_room_for_smaller_ones() -> None:
    large = skill("large", "x" * 900, description_embedding=at(0.8))
    near = skill("near", description_embedding=at(0.9))
    far = skill("far", description_embedding=at(0.1))
    budget = whole({}) + 2 * estimated_tokens(skill_entry(near)) + 20

    assert list(offer(tool(embedding=[1.0, 0.0]), [large, far, near], max_tokens=budget)) == ["near", "far"]


def test_the_nearest_is_offered_whatever_it_costs() -> None:
    near, far = skill("near", "x" * 1000, description_embedding=at(0.9)), skill("far", description_embedding=at(0.1))

    assert list(offer(tool(embedding=[1.0, 0.0]), [far, near], max_tokens=1)) == ["near"]


def test_without_skills_none_are_offered() -> None:
    assert offer(tool(), [], max_tokens=6000) == {}


def test_the_mean_of_its_tools_can_bring_a_skill_nearer_than_its_description() -> None:
    described = skill("described", description_embedding=at(0.5))
    meant = skill("meant", description_embedding=at(0.1), centroid=at(0.9))
    only_meant = skill("only_meant", centroid=at(0.7))
    silent = skill("silent")

    ranked = nearest_first(tool(embedding=[1.0, 0.0]), [silent, described, only_meant, meant])

    assert [each.id for each in ranked] == ["meant", "only_meant", "described", "silent"]


@pytest.mark.parametrize("reverse", [False, True])
def test_skills_without_vectors_come_by_the_words_they_share(reverse: bool) -> None:
    """GIVEN a tool without a vector WHEN skills are ranked THEN by shared words, rare ones counting more."""
    skills = [
        skill("database_access", "Tools for the data of a database", description_embedding=at(0.9)),
        skill("calendar_management", "Tools for the calendar of a user"),
        skill("weather", "Tools for the weather of a place"),
        skill("alpha", "Nichts"),
        skill("beta", "Nichts"),
    ]

    ranked = nearest_first(tool("createEvent", "For the calendar of a team"), skills[::-1] if reverse else skills)

    assert [each.id for each in ranked] == ["calendar_management", "database_access", "weather", "alpha", "beta"]


def test_examples_and_names_are_compared_as_words() -> None:
    other, same = skill("a"), skill("b", examples=("listEvents", "delete_calendar"))

    assert nearest_first(tool("getCalendarEvents", ""), [other, same]) == [same, other]
