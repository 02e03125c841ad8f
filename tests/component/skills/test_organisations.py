"""Decisions 29 and 30: what an organisation does with skills neither shows to another one nor hinders it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from skillroute.catalogue.model import ItemFilter
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import Conflict, NotFound
from skillroute.skills.model import SkillKey, skill_key

from tests.builders import QUERY, System, of_org
from tests.component.skills.organisations import ACME, GLOBEX, INITECH, fill, listed, matched, members
from tests.doubles import at, once, proposing

# Limits


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_global_skill_that_one_organisation_has_filled_takes_the_tools_of_others(
    system: System, most_tools: int, by_hand: bool
) -> None:
    """skill-contract, Resource Limits: 10,000 tools, of those that the organisation sees."""
    system.create("email")
    fill(system, "email", most_tools, "acme")

    def has_room(caller: Caller, name: str) -> bool:
        [tool_id] = system.put(name, caller=caller)
        if not by_hand:
            system.classifier.answers[name] = proposing(email=0.9)
            system.classify(tool_id)
            return system.skills_of(tool_id) == ["email"]
        try:
            system.assign(tool_id, caller, email=0.9)
        except Conflict:
            return False
        return True

    assert [has_room(caller, f"t_{caller.org_id}") for caller in (ACME, GLOBEX, INITECH)] == [False, True, True]
    # AND a global tool has room as well: to refuse it would tell of acme's
    assert has_room(LAPTOP, "shared")
    # AND nothing is wrong but that `fill` writes no documents
    assert {found.rule for found in system.parts.verify().findings} == {"every item has a document"}


def test_global_tools_take_the_room_of_every_organisation(system: System, most_tools: int) -> None:
    system.create("email")
    fill(system, "email", most_tools - 1, None)
    [of_acme, another], [of_globex] = system.put("a", "b", caller=ACME), system.put("c", caller=GLOBEX)
    system.assign(of_acme, ACME, email=0.9)
    system.assign(of_globex, GLOBEX, email=0.9)
    with pytest.raises(Conflict, match=f"{most_tools} tools"):
        system.assign(another, ACME, email=0.9)


def test_a_skill_is_said_to_have_the_tools_that_the_caller_sees(system: System) -> None:
    system.skill("email", at(0.9), description="Schedule a meeting by email.")
    system.tool("shared", at(0.8), skills=["email"])
    system.tools([("a1", at(0.8)), ("a2", at(0.8))], skills=["email"], org="acme")
    system.tool("g", at(0.8), skills=["email"], org="globex")
    off = system.tool("off", at(0.8), skills=["email"], org="globex")
    system.sql(f"UPDATE mcp.tools SET is_active = false WHERE id = {off}")
    for caller, count in ((ACME, 3), (GLOBEX, 2), (INITECH, 1), (LAPTOP, 1)):
        assert listed(system, caller) == {"email": (None, count)}
        assert system.parts.skills.read.get("email", caller).tool_count == count
        for mode in ("semantic", "lexical", "hybrid"):
            assert matched(system, caller, mode=mode) == {"email": ("email", count)}
            [found], _ = system.parts.tool_search.skills(QUERY, caller, threshold=0.0, mode=mode)  # type: ignore[arg-type]
            assert found.tool_count == count


def test_tools_that_an_organisation_puts_into_a_global_skill_do_not_move_it(system: System) -> None:
    system.create("email")
    system.tool("shared", at(0.9), skills=["email"])
    system.parts.aggregate_skill(skill_key("email", None))
    before = system.vector("email")
    # WHEN acme has a tool there, weighs it otherwise, switches it off, and takes it away
    of_acme = system.tool("own", at(0.1), skills=["email"], org="acme")
    system.assign(of_acme, ACME, email=0.5)
    system.sql(f"UPDATE mcp.tools SET is_active = false WHERE id = {of_acme}")
    system.assign(of_acme, ACME)
    # THEN there is no work to be done, for which it would have had to wait for others at the skill's row
    assert system.waiting("aggregate") == []
    system.parts.aggregate_skill(skill_key("email", None))
    assert system.vector("email") == before


# Ids


def test_every_organisation_has_ids_of_its_own(system: System) -> None:
    """Decision 29: an id that another organisation has is neither taken nor there."""
    for caller in (ACME, GLOBEX):
        assert system.create("email", caller, name=f"of {caller.org_id}").org_id == caller.org_id
    for caller in (ACME, GLOBEX):
        assert system.parts.skills.read.get("email", caller).name == f"of {caller.org_id}"
        assert listed(system, caller) == {"email": (caller.org_id, 0)}
        assert matched(system, caller) == {"email": (f"of {caller.org_id}", 0)}
        with pytest.raises(Conflict, match=r"^Skill already exists: email$"):
            system.create("email", caller)
    for caller in (INITECH, LAPTOP):
        assert (listed(system, caller), matched(system, caller)) == ({}, {})
        with pytest.raises(NotFound):
            system.parts.skills.read.get("email", caller)
    # AND what one does with its own leaves the other's as it is
    system.change("email", ACME, is_active=False)
    system.parts.skills.change.delete("email", ACME)
    assert listed(system, GLOBEX) == {"email": ("globex", 0)}
    with pytest.raises(Conflict, match="is deleted"):
        system.change("email", ACME, is_active=True)
    assert system.create("email", ACME, name="again").name == "again"
    assert system.parts.verify().findings == []


def test_members_and_filters_are_those_of_the_callers_own_skill(system: System) -> None:
    for org in ("acme", "globex"):
        system.skill("email", at(0.9), org=org)
        system.tool(f"t_{org}", at(0.8), skills=["email"], org=org)
    for caller in (ACME, GLOBEX):
        assert members(system, "email", caller) == [f"t_{caller.org_id}"]
        [tool] = system.search(caller=caller).tools
        assert (tool.name, tool.skill_ids, tool.primary_skill_id) == (f"t_{caller.org_id}", ["email"], "email")
    # AND no way of spelling leads to another organisation's
    for spelling in ("email/globex", "email/acme", "email/"):
        for caller in (ACME, LAPTOP):
            assert system.parts.tool_search.tools(QUERY, caller, skill_ids=[spelling], threshold=0.0)[0] == []
            assert system.parts.catalogue.read.page(ItemFilter(skill_id=spelling), caller, limit=9, offset=0) == ([], 0)
            with pytest.raises(NotFound):
                system.parts.skills.read.get(spelling, caller)


def test_skills_of_one_id_are_offered_and_classified_apart(system: System) -> None:
    ids = {}
    for caller in (ACME, GLOBEX):
        system.create("email", caller, description=f"Letters of {caller.org_id}.")
        [ids[caller.org_id]] = system.put("send", caller=caller)
    system.classifier.answers["send"] = proposing(email=0.9)
    system.classify(*ids.values())
    offered = {tool.org_id: [skill.description for skill in skills] for tool, skills in system.classifier.asked}
    assert offered == {"acme": ["Letters of acme."], "globex": ["Letters of globex."]}
    assert [system.keys_of(id_) for id_ in ids.values()] == [["email/acme"], ["email/globex"]]
    [of_acme] = system.parts.classification.classify([ids["acme"]]).values()
    assert [each.skill_id for each in of_acme.assignments] == ["email"]  # type: ignore[union-attr]


def test_skills_of_one_id_are_found_by_their_own_tools(system: System) -> None:
    """BR-004."""
    for caller in (ACME, GLOBEX):
        system.create("email", caller)
    for axis, org in enumerate(("acme", "globex"), 1):
        system.tool("send", at(0.0, axis=axis), skills=["email"], org=org)
    assert system.waiting("aggregate") == ["email/acme", "email/globex"]
    for key in system.waiting("aggregate"):
        system.parts.aggregate_skill(SkillKey(key))
    assert system.vector("email/acme") == at(0.0, axis=1)
    assert system.vector("email/globex") == at(0.0, axis=2)
    assert system.waiting("aggregate") == []


def test_a_full_thousand_of_skills_is_full_for_its_organisation_alone(system: System) -> None:
    """skill-contract, Resource Limits: 1,000 skills."""
    system.sql(
        "INSERT INTO mcp.skill_categories (id, org_id, name, description) "
        "SELECT 's' || n, 'acme', 'n', 'A description.' FROM generate_series(1, 1000) n"
    )
    with pytest.raises(Conflict, match="1000 skills"):
        system.create("one_more", ACME)
    assert [system.create("one_more", caller).org_id for caller in (GLOBEX, LAPTOP)] == ["globex", None]


@pytest.mark.parametrize("is_active", [True, False])
def test_no_organisation_takes_the_id_of_a_global_skill(system: System, is_active: bool) -> None:
    system.create("email")
    system.change("email", is_active=is_active)
    with pytest.raises(Conflict, match=r"^Skill already exists: email is global, and every organisation sees it"):
        system.create("email", ACME)
    system.parts.skills.change.delete("email", LAPTOP)
    assert system.create("email", ACME).org_id == "acme"


# Suggestions


def test_a_suggestion_whose_name_another_organisation_uses_becomes_a_skill(system: System) -> None:
    """BR-005: it would else fail for ever, and tell why."""
    system.create("video", GLOBEX)
    system.classifier.answers = {name: proposing("Video") for name in "abcd"}
    [first] = system.put("a", caller=ACME)
    system.classify(first)
    [suggestion] = system.suggestions(caller=ACME)
    approved = system.parts.skills.review.approve(suggestion.id, {}, ACME)
    assert (approved.skill.id, approved.skill.org_id, system.keys_of(first)) == ("video", "acme", ["video/acme"])
    assert approved.suggestion.resolved_skill_id == "video"
    # AND by itself, once it was made for three tools of one organisation
    system.classify(*system.put("a", "b", caller=INITECH), *system.put("c", caller=of_org("umbrella")))
    assert listed(system, INITECH) == {}
    [last] = system.put("d", caller=INITECH)
    system.classify(last)
    assert listed(system, INITECH) == {"video": ("initech", 3)}
    assert listed(system, of_org("umbrella")) == {}


# At the same moment


WRITES: dict[str, Callable[[System, Caller, dict[str, int]], object]] = {
    "create": lambda system, caller, tools: system.create("new", caller),
    "delete": lambda system, caller, tools: system.parts.skills.change.delete("own", caller),
    "assign": lambda system, caller, tools: system.assign(tools["by_hand"], caller, email=0.9),
    "classify": lambda system, caller, tools: system.classify(tools["by_classifier"]),
}


@pytest.mark.parametrize("meanwhile", WRITES)
@pytest.mark.parametrize("first", WRITES)
def test_no_organisation_waits_for_another(system: System, first: str, meanwhile: str) -> None:
    # GIVEN a global skill, and two organisations with a skill of their own and tools
    system.create("email")
    tools = {}
    for caller in (ACME, GLOBEX):
        system.create("own", caller)
        names = ("by_hand", "by_classifier")
        tools[caller] = {name: system.put(name, caller=caller)[0] for name in names}
    system.classifier.answers["by_classifier"] = proposing(email=0.9, own=0.8)
    # WHEN one has written, and has not committed yet, THEN the other one is through: or it would wait for ever
    system.database.before_commit = once(lambda: WRITES[meanwhile](system, GLOBEX, tools[GLOBEX]))
    WRITES[first](system, ACME, tools[ACME])
    assert system.parts.verify().findings == []
