"""Three organisations, and what each of them sees of skills, by every way that there is to ask."""

from __future__ import annotations

from typing import Any

from skillroute.catalogue.model import ItemFilter
from skillroute.core.caller import Caller
from skillroute.skills.model import SkillFilter

from tests.builders import QUERY, System, of_org

ACME, GLOBEX, INITECH = of_org("acme"), of_org("globex"), of_org("initech")


def fill(system: System, skill_id: str, number: int, org: str | None) -> None:
    """Give a global skill a number of tools of an organisation, by SQL."""
    owner = "NULL" if org is None else f"'{org}'"
    system.sql(
        "INSERT INTO mcp.tools (org_id, name, type, content_hash) "
        f"SELECT {owner}, 'filler_' || n, 'tool', 'c' FROM generate_series(1, {number}) n;"
        "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, is_primary) "
        f"SELECT id, '{skill_id}', 0.6, true FROM mcp.tools "
        f"WHERE name LIKE 'filler_%' AND org_id IS NOT DISTINCT FROM {owner}"
    )


def listed(system: System, caller: Caller, *, is_active: bool | None = True) -> dict[str, tuple[str | None, int]]:
    """Return the skills that a caller sees, each with whose it is and how many tools it is said to have."""
    skills, total = system.parts.skills.read.page(SkillFilter(is_active=is_active), caller, limit=1000, offset=0)
    assert total == len(skills)
    return {skill.id: (skill.org_id, skill.tool_count) for skill in skills}


def members(system: System, skill_id: str, caller: Caller) -> list[str]:
    """Return the names of the tools that a caller sees in a skill, by every way that there is to ask."""
    tools, total = system.parts.skills.read.tools(skill_id, caller, limit=1000, offset=0)
    names = sorted(tool.tool_name for tool in tools)
    items, counted = system.parts.catalogue.read.page(ItemFilter(skill_id=skill_id), caller, limit=1000, offset=0)
    found, _ = system.parts.tool_search.tools(QUERY, caller, skill_ids=[skill_id], limit=50, threshold=0.0)
    assert (total, counted) == (len(tools), len(items))
    assert names == sorted(item.content.key.name for item in items) == sorted(tool.name for tool in found)
    return names


def matched(system: System, caller: Caller, **request: Any) -> dict[str, tuple[str, int]]:
    """Return the skills that a search matches, with their names and counts."""
    answer = system.search(caller=caller, skill_limit=10, skill_threshold=0.0, **request)
    assert answer.metadata.skill_ids_used in (None, [skill.id for skill in answer.matched_skills])
    return {skill.id: (skill.name, skill.tool_count) for skill in answer.matched_skills}
