"""BR-007 and BR-008 of skill-contract: listing skills, and a skill's tools."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import NotFound
from skillroute.skills.model import SkillFilter

from tests.builders import System, of_org


def listed(
    system: System,
    where: SkillFilter | None = None,
    *,
    limit: int = 100,
    offset: int = 0,
    org: str | None = None,
) -> list[str]:
    skills, _ = system.parts.skills.read.page(where or SkillFilter(), of_org(org), limit=limit, offset=offset)
    return [skill.id for skill in skills]


# BR-007


def test_br_007_skills_are_sorted_by_name(system: System) -> None:
    for skill_id, name in [("c", "Alpha"), ("a", "Gamma"), ("b", "Beta")]:
        system.create(skill_id, name=name)
    assert listed(system) == ["c", "b", "a"]


def test_br_007_skills_of_one_name_are_sorted_by_id(system: System) -> None:
    for skill_id in ("b", "a", "c"):
        system.create(skill_id, name="Same")
    assert listed(system) == ["a", "b", "c"]
    assert [listed(system, limit=1, offset=offset) for offset in range(4)] == [["a"], ["b"], ["c"], []]


@pytest.mark.parametrize(("is_active", "found"), [(True, ["on"]), (False, ["off"]), (None, ["off", "on"])])
def test_br_007_filtered_by_is_active(system: System, is_active: bool | None, found: list[str]) -> None:
    system.create("on")
    system.create("off")
    system.create("gone")
    system.change("off", is_active=False)
    system.parts.skills.change.delete("gone", LAPTOP)
    assert listed(system, SkillFilter(is_active=is_active)) == found


def test_br_007_only_active_skills_by_default(system: System) -> None:
    system.create("on")
    system.create("off")
    system.change("off", is_active=False)
    assert listed(system) == ["on"]


def test_br_007_filtered_by_parent_domain_exactly(system: System) -> None:
    system.create("a", parent_domain="work")
    system.create("b", parent_domain="Work")
    system.create("c")
    assert listed(system, SkillFilter(parent_domain="work")) == ["a"]
    assert listed(system, SkillFilter(parent_domain="w%")) == []
    system.change("a", is_active=False)
    assert listed(system, SkillFilter(parent_domain="work")) == []
    assert listed(system, SkillFilter(is_active=None, parent_domain="work")) == ["a"]


def test_br_007_pages_with_limit_and_offset_and_the_number_of_all(system: System) -> None:
    for number in range(5):
        system.create(f"s{number}")
    page = system.parts.skills.read.page
    for limit, offset, found in [(2, 0, ["s0", "s1"]), (2, 4, ["s4"]), (2, 5, []), (100, 1, ["s1", "s2", "s3", "s4"])]:
        skills, total = page(SkillFilter(), LAPTOP, limit=limit, offset=offset)
        assert ([skill.id for skill in skills], total) == (found, 5)


def test_br_007_each_skill_with_its_tool_count_of_active_tools(system: System) -> None:
    system.create("mail")
    system.create("maps")
    a, b = system.put("a", "b")
    system.assign(a, mail=0.9, maps=0.5)
    system.assign(b, mail=0.9)
    system.sql(f"UPDATE mcp.tools SET is_active = false WHERE id = {b}")
    skills, _ = system.parts.skills.read.page(SkillFilter(), LAPTOP, limit=100, offset=0)
    assert {skill.id: skill.tool_count for skill in skills} == {"mail": 1, "maps": 1}


def test_br_007_an_organisation_sees_global_skills_and_its_own(system: System) -> None:
    system.create("shared")
    system.create("of_acme", of_org("acme"))
    system.create("of_umbrella", of_org("umbrella"))
    assert listed(system) == ["shared"]
    assert listed(system, org="acme") == ["of_acme", "shared"]
    assert listed(system, org="umbrella") == ["of_umbrella", "shared"]
    with pytest.raises(NotFound):
        system.parts.skills.read.get("of_umbrella", of_org("acme"))


# BR-008


def test_br_008_all_tools_of_the_skill_with_confidence_and_primacy_the_surest_first(system: System) -> None:
    system.create("mail")
    system.create("maps")
    a, b, c, _ = system.put("a", "b", "c", "d", server="post")
    system.assign(a, mail=0.5, maps=0.9)
    system.assign(b, mail=0.9)
    system.assign(c, mail=0.5)
    members, total = system.parts.skills.read.tools("mail", LAPTOP, limit=100, offset=0)
    assert total == 3
    assert [(each.tool_id, each.tool_name, each.server, each.confidence, each.is_primary) for each in members] == [
        (b, "b", "post", 0.9, True),
        (a, "a", "post", 0.5, False),
        (c, "c", "post", 0.5, True),
    ]
    assert all(each.assigned_at is not None and each.source == "human_manual" for each in members)


def test_br_008_pages(system: System) -> None:
    system.create("mail")
    ids = system.put("a", "b", "c")
    for tool_id in ids:
        system.assign(tool_id, mail=0.9)
    tools = system.parts.skills.read.tools
    for limit, offset, found in [(2, 0, ids[:2]), (2, 2, ids[2:]), (2, 3, [])]:
        members, total = tools("mail", LAPTOP, limit=limit, offset=offset)
        assert ([member.tool_id for member in members], total) == (found, 3)


@pytest.mark.parametrize("skill_id", ["unknown", "deleted", "of_umbrella"])
def test_br_008_an_unknown_skill_is_not_found(system: System, skill_id: str) -> None:
    system.create("deleted")
    system.parts.skills.change.delete("deleted", LAPTOP)
    system.create("of_umbrella", of_org("umbrella"))
    with pytest.raises(NotFound):
        system.parts.skills.read.tools(skill_id, of_org("acme"), limit=100, offset=0)


def test_br_008_a_skill_without_tools_has_an_empty_list(system: System) -> None:
    system.create("mail")
    assert system.parts.skills.read.tools("mail", LAPTOP, limit=100, offset=0) == ([], 0)


def test_br_008_an_inactive_skill_shows_its_tools(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("a")
    system.assign(tool_id, mail=0.9)
    system.change("mail", is_active=False)
    [member], _ = system.parts.skills.read.tools("mail", LAPTOP, limit=100, offset=0)
    assert member.tool_id == tool_id


def test_br_008_an_organisation_sees_no_other_organisations_tools_in_a_global_skill(system: System) -> None:
    system.create("mail")
    for org in (None, "acme", "umbrella"):
        [tool_id] = system.put("t", caller=of_org(org))
        system.assign(tool_id, of_org(org), mail=0.9)
    seen = {org: system.parts.skills.read.tools("mail", of_org(org), limit=100, offset=0) for org in (None, "acme")}
    assert [(len(members), total) for members, total in seen.values()] == [(1, 1), (2, 2)]
    # AND it is counted as many as it sees (decision 29)
    counts = {org: system.parts.skills.read.get("mail", of_org(org)).tool_count for org in (None, "acme", "initech")}
    assert counts == {None: 1, "acme": 2, "initech": 1}
