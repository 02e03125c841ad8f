"""What classifiers are shown of skills: kept while it is the same, and read again when anything of it changed."""

from __future__ import annotations

import pytest
from skillroute.skills.classification import profiles as skill_profiles
from skillroute.skills.classification.profiles import SkillProfiles

from tests.builders import System, of_org
from tests.doubles import at

LEXICAL = "SELECT lexical_text FROM mcp.documents ORDER BY collection, key"


@pytest.fixture
def profiles(system: System) -> SkillProfiles:
    system.create("mail")
    system.create("maps")
    return SkillProfiles(system.database)


def test_while_nothing_changed_it_is_the_same_list(system: System, profiles: SkillProfiles) -> None:
    model = system.embedder.model
    first = profiles("acme", model)
    assert [each.id for each in first] == ["mail", "maps"]
    # What is another organisation's is no change, nor is a tool that a classifier put there.
    system.create("of_umbrella", of_org("umbrella"))
    assert profiles("acme", model) is first
    system.create("of_acme", of_org("acme"))
    second = profiles("acme", model)
    assert [each.id for each in second] == ["mail", "maps", "of_acme"]
    # AND only what changed was read
    assert (second[0] is first[0], second[1] is first[1]) == (True, True)


def test_the_lists_of_the_eight_organisations_that_came_last_are_kept(system: System, profiles: SkillProfiles) -> None:
    model = system.embedder.model
    lists = {number: profiles(f"org_{number}", model) for number in range(8)}
    # GIVEN that the first one came again, before a ninth
    assert profiles("org_0", model) is lists[0]
    profiles("org_8", model)
    # THEN
    assert [profiles(f"org_{number}", model) is lists[number] for number in (0, 2, 3, 4, 5, 6, 7)] == [True] * 7
    again = profiles("org_1", model)
    assert (again is lists[1], again == lists[1]) == (False, True)


def test_the_lists_that_are_kept_are_bounded_in_bytes(
    system: System, profiles: SkillProfiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    # GIVEN room for one list of two skills
    monkeypatch.setattr(skill_profiles, "_BYTES", 4_000)
    profiles = SkillProfiles(system.database)
    model = system.embedder.model
    one = profiles("one", model)
    assert profiles("one", model) is one
    profiles("two", model)
    assert profiles("one", model) is not one


def test_keywords_that_become_examples_make_another_profile_though_the_words_are_the_same(
    system: System, profiles: SkillProfiles
) -> None:
    # GIVEN keywords that say, word for word, what an example says: its name, and its name in words
    model = system.embedder.model
    system.change("mail", keywords=["send", "send"])
    assert profiles(None, model)[0].keywords == ("send", "send")
    words = system.rows(LEXICAL)
    assert words != []
    # WHEN
    system.change("mail", keywords=[], examples=["send"])
    # THEN
    assert system.rows(LEXICAL) == words
    mail = profiles(None, model)[0]
    assert (mail.keywords, mail.examples) == ((), ("send",))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "Letters"},
        {"description": "Something else altogether."},
        {"keywords": ["letter"]},
        {"examples": ["send_letter"]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_a_person_changes_of_a_skill_makes_another_profile(
    system: System, profiles: SkillProfiles, change: dict[str, object]
) -> None:
    model = system.embedder.model
    before = profiles(None, model)
    system.change("mail", **change)
    after = profiles(None, model)
    assert (after[0] == before[0], after[1] is before[1]) == (False, True)


def test_a_tool_that_a_person_gives_a_skill_moves_its_centroid(system: System, profiles: SkillProfiles) -> None:
    model = system.embedder.model
    assert profiles(None, model)[0].centroid is None
    system.assign(system.tool("t", at(0.4)), mail=1.0)
    assert profiles(None, model)[0].centroid == pytest.approx(at(0.4))
