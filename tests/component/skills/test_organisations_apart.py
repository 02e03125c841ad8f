"""Decisions 29 and 30, whatever happens: what others see and are told is the same with and without an organisation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import SkillrouteError

from tests.builders import System, lent_system, of_org
from tests.component.skills.organisations import ACME, GLOBEX, listed, matched, members
from tests.doubles import EdgeIndexes, at, proposing

EMPTY = "; ".join(
    f"DELETE FROM mcp.{table}"
    for table in ("tool_skill_assignments", "skill_suggestions", "tools", "skill_categories", "outbox")
)
SKILLS = ("email", "files")


class Step(NamedTuple):
    """Something that an organisation, or nobody's operator, does with a skill, and with one of its tools."""

    org: str | None
    does: str
    skill_id: str
    tool: str


steps = st.builds(
    Step,
    st.sampled_from([None, "acme", "globex"]),
    st.sampled_from(["create", "delete", "switch off", "switch on", "assign", "classify", "suggest"]),
    st.sampled_from(SKILLS),
    st.sampled_from(["t1", "t2"]),
)


@pytest.fixture
def system(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    """A system in which two suggestions of a name make a skill."""
    with lent_system(database_url, edge_indexes, auto_approve_after=2) as system:
        yield system


def do(system: System, step: Step, tools: dict[tuple[str | None, str], int]) -> object:
    """Do it, and return what whoever does it is told."""
    caller, tool_id = of_org(step.org), tools[step.org, step.tool]
    try:
        match step.does:
            case "create":
                return system.create(step.skill_id, caller, name=f"{step.skill_id} of {step.org}").tool_count
            case "delete":
                return system.parts.skills.change.delete(step.skill_id, caller)
            case "switch off" | "switch on":
                return system.change(step.skill_id, caller, is_active=step.does == "switch on").tool_count
            case "assign":
                given = system.assign(tool_id, caller, **{step.skill_id: 0.9})
                return given, system.skills_of(tool_id)
            case _:
                suggested = {"suggest": step.skill_id} if step.does == "suggest" else {step.skill_id: 0.8}
                system.classifier.answers[step.tool] = proposing(**suggested)  # type: ignore[arg-type]
                [outcome] = system.classify(tool_id, force=True)
                return outcome.decision, outcome.assignments
    except SkillrouteError as error:
        # Numbers that count up for all are a matter of their own (docs/adr/0024).
        return type(error).__name__, str(error).replace(str(tool_id), "?")


def views(system: System) -> list[Any]:
    """Return what everybody but acme sees, by every way that there is to ask."""
    seen: list[Any] = []
    for caller in (GLOBEX, LAPTOP):
        skills = listed(system, caller, is_active=None)
        seen += [skills, matched(system, caller)]
        seen += [members(system, id_, caller) for id_ in listed(system, caller)]
        for strategy in ("direct", "hierarchical", "hybrid"):
            found = system.search(caller=caller, strategy=strategy, limit=50, skill_threshold=0.0)
            seen.append([(tool.name, tool.score, tool.skill_ids, tool.primary_skill_id) for tool in found.tools])
            seen.append([(skill.id, skill.score) for skill in found.matched_skills])
            seen.append((found.metadata.fallback_reason, found.metadata.stage2_candidate_count))
        seen.append([(each.suggested_name, each.org_id) for each in system.suggestions(caller=caller)])
    return seen


def outcome_of(system: System, todo: Sequence[Step]) -> list[Any]:
    system.sql(EMPTY)
    tools = {
        (org, name): system.tool(name, at(0.5, axis=axis), org=org)
        for org in (None, "acme", "globex")
        for axis, name in enumerate(("t1", "t2"), 1)
    }
    told = [(step, do(system, step, tools)) for step in todo]
    assert system.parts.verify().findings == []
    return [(step, said) for step, said in told if step.org != ACME.org_id] + views(system)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(todo=st.lists(steps, max_size=14))
def test_what_an_organisation_does_changes_nothing_for_others(system: System, todo: list[Step]) -> None:
    assert outcome_of(system, todo) == outcome_of(system, [step for step in todo if step.org != ACME.org_id])
