"""Everything that changes skills and assignments, at once, from several processes: nothing fails, all is whole.

Of skill-contract EC-001, and whatever else happens to a tool at the same time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.model import Vector, weighted_mean
from skillroute.core.errors.model import Conflict, NotFound
from skillroute.skills.classification.model import Classification, ProposedAssignment, SkillProfile, ToolProfile

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, ScriptedClassifier, at, in_threads, proposing

SKILLS = ["calendar", "files", "mail", "maps"]
TOOLS = ["a", "b", "c", "d", "e", "f"]


class Rolling(ScriptedClassifier):
    """Proposes other skills each time, and now and then a new one."""

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        if random.random() < 0.2:
            return proposing("Video")
        chosen = random.sample(SKILLS, 3)
        return Classification(tuple(ProposedAssignment(id_, random.uniform(0.4, 1.0)) for id_ in chosen))


@pytest.mark.parametrize("seed", range(2))
def test_ec_001_whatever_happens_at_once_leaves_whole_assignments_and_no_work_undone(
    database_url: str, edge_indexes: EdgeIndexes, seed: int
) -> None:
    random.seed(seed)
    with lent_system(database_url, edge_indexes, classifier=Rolling()) as system:
        for skill_id in SKILLS:
            system.create(skill_id)
        ids = system.tools([(name, at(0.1 * number)) for number, name in enumerate(TOOLS)])
        happening = _everything(system, ids)

        def process(place: int) -> None:
            dice = random.Random(100 * seed + place)
            for _ in range(12):
                with suppress(NotFound, Conflict):  # another request was faster
                    dice.choice(happening)(dice)

        # WHEN
        in_threads(6, process)
        for skill_id in SKILLS:
            system.parts.aggregate_skill(skill_id)
        system.parts.dispatch()
        # THEN every tool has one primary skill, its surest, or none at all
        for tool_id in ids:
            assigned = list(system.assigned(tool_id).values())
            assert [primary for _, primary, _ in assigned] == [True, *[False] * (len(assigned) - 1)][: len(assigned)]
            assert len({source.startswith("human") for _, _, source in assigned}) <= 1
        # AND no deleted skill has a tool
        assert system.rows(
            "SELECT count(*) FROM mcp.tool_skill_assignments a JOIN mcp.skill_categories c ON c.key = a.skill_key "
            "WHERE c.deleted_at IS NOT NULL"
        ) == [[0]]
        # AND every skill is found by the tools that it has
        assert system.waiting("aggregate") == []
        for skill_id, *_ in system.rows("SELECT id FROM mcp.skill_categories WHERE deleted_at IS NULL"):
            assert system.vector(skill_id) == pytest.approx(_expected(system, skill_id), abs=1e-5)
        # AND a tool has no open suggestion beside its skills, nor is it forgotten
        assert (
            system.rows(
                "SELECT s.id FROM mcp.skill_suggestions s "
                "JOIN mcp.tool_skill_assignments a ON a.tool_id = s.source_tool_id WHERE s.status = 'pending'"
            )
            == []
        )
        forgotten = system.rows(
            "SELECT t.id FROM mcp.tools t "
            "WHERE NOT EXISTS (SELECT FROM mcp.tool_classifications r WHERE r.tool_id = t.id) "
            "AND NOT EXISTS (SELECT FROM mcp.outbox o WHERE o.queue = 'classify' AND o.key = t.id::text)"
        )
        assert forgotten == []


def _everything(system: System, ids: list[int]) -> list[Callable[[random.Random], object]]:
    review = system.parts.skills.review

    def assign(dice: random.Random) -> None:
        chosen = dice.sample(SKILLS, dice.randrange(4))
        system.assign(dice.choice(ids), **{skill_id: dice.uniform(0.1, 1.0) for skill_id in chosen})

    def classify(dice: random.Random) -> None:
        system.parts.classification.classify(dice.sample(ids, 3), force=dice.random() < 0.7)

    def touch(dice: random.Random) -> None:
        tool_id = dice.choice(ids)
        system.sql(f"UPDATE mcp.tools SET description = 'Said {dice.random()}.' WHERE id = {tool_id}")

    def recreate(dice: random.Random) -> None:
        skill_id = dice.choice(SKILLS)
        system.parts.skills.change.delete(skill_id, LAPTOP)
        system.create(skill_id)

    def switch(dice: random.Random) -> None:
        skill_id = dice.choice(SKILLS)
        system.change(skill_id, is_active=False)
        system.change(skill_id, is_active=True)

    def decide(dice: random.Random) -> None:
        for suggestion in system.parts.skills.review.page(None, LAPTOP, limit=100, offset=0)[0][-2:]:
            if dice.random() < 0.5:
                review.merge(suggestion.id, dice.choice(SKILLS), LAPTOP)
            else:
                review.approve(suggestion.id, {}, LAPTOP)

    return [assign, assign, classify, classify, touch, recreate, switch, decide]


def _expected(system: System, skill_id: str) -> Vector | None:
    members = system.rows(
        "SELECT t.name, a.confidence FROM mcp.tool_skill_assignments a JOIN mcp.tools t ON t.id = a.tool_id "
        "WHERE a.skill_key = :id",
        id=skill_id,
    )
    tools = [(at(0.1 * TOOLS.index(name)), confidence) for name, confidence in members]
    return weighted_mean(tools) or at(1.0)
