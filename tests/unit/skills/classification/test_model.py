"""What becomes of a classifier's answer, whatever it says (decision 15)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.skills.classification.model import (
    MAX_CLASSIFIED_SKILLS,
    MIN_CONFIDENCE,
    WEAK_CONFIDENCE,
    ProposedAssignment,
    ToolProfile,
    settle,
)

IDS = [f"s{number}" for number in range(8)]

confidences = st.one_of(
    st.floats(0, 1), st.sampled_from([0.0, 0.29, 0.3, 0.49, 0.5, 0.8, 1.0]), st.floats(allow_nan=True)
)
proposals = st.lists(
    st.builds(ProposedAssignment, st.sampled_from(IDS), confidences, st.one_of(st.none(), st.text(max_size=3))),
    max_size=20,
)


@given(proposed=proposals, offered=st.sets(st.sampled_from(IDS)), threshold=st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]))
def test_whatever_was_proposed_the_assignments_keep_the_rules(
    proposed: list[ProposedAssignment], offered: set[str], threshold: float
) -> None:
    settled = settle(proposed, offered, min_confidence=threshold)
    ids = [each.skill_id for each in settled.assignments]
    sure = [each.confidence for each in settled.assignments]
    # THEN there are three at most, of those that were offered, each once, sure enough
    assert len(ids) <= MAX_CLASSIFIED_SKILLS
    assert set(ids) <= offered
    assert len(set(ids)) == len(ids)
    assert all(threshold <= each <= 1.0 for each in sure)
    # AND the surest is the first, and so the primary one
    assert [(-confidence, id_) for id_, confidence in zip(ids, sure, strict=True)] == sorted(
        (-confidence, id_) for id_, confidence in zip(ids, sure, strict=True)
    )
    # AND nobody who was left out is surer than one who was taken
    usable = {
        each.skill_id: max(
            other.confidence for other in proposed if other.skill_id == each.skill_id and 0.0 <= other.confidence <= 1.0
        )
        for each in proposed
        if each.skill_id in offered and 0.0 <= each.confidence <= 1.0
    }
    strong = {id_: confidence for id_, confidence in usable.items() if confidence >= threshold}
    assert len(ids) == min(MAX_CLASSIFIED_SKILLS, len(strong))
    assert all(confidence <= min(sure) for id_, confidence in strong.items() if id_ not in ids)
    assert all(strong[id_] == confidence for id_, confidence in zip(ids, sure, strict=True))
    # AND the rest is told as what it is
    assert {each.skill_id for each in settled.weak} == {
        id_ for id_, confidence in usable.items() if WEAK_CONFIDENCE <= confidence < threshold
    }
    assert len(settled.rejected) == sum(
        each.skill_id not in offered or not 0.0 <= each.confidence <= 1.0 for each in proposed
    )


@given(proposed=proposals)
def test_the_order_of_the_answer_does_not_matter(proposed: list[ProposedAssignment]) -> None:
    def chosen(given: list[ProposedAssignment]) -> list[tuple[str, float]]:
        return [(each.skill_id, each.confidence) for each in settle(given, IDS).assignments]

    assert chosen(proposed) == chosen(proposed[::-1])


@pytest.mark.parametrize(
    ("confidence", "assigned", "weak"),
    [
        (math.nextafter(WEAK_CONFIDENCE, 0), 0, 0),
        (WEAK_CONFIDENCE, 0, 1),
        (math.nextafter(MIN_CONFIDENCE, 0), 0, 1),
        (MIN_CONFIDENCE, 1, 0),
        (1.0, 1, 0),
    ],
)
def test_the_thresholds_are_exact(confidence: float, assigned: int, weak: int) -> None:
    settled = settle([ProposedAssignment("s0", confidence)], IDS)
    assert (len(settled.assignments), len(settled.weak), settled.rejected) == (assigned, weak, ())


def test_the_reasoning_of_the_surest_proposal_is_kept() -> None:
    proposed = [ProposedAssignment("s0", 0.6, "less"), ProposedAssignment("s0", 0.9, "more")]
    assert settle(proposed, IDS).assignments[0].reasoning == "more"


def profile(name: str = "t", description: str = "d", schema: dict[str, object] | None = None) -> ToolProfile:
    return ToolProfile(1, None, name, description, "", schema, (), None)


def test_the_input_hash_is_of_name_description_and_schema_whatever_the_order_of_its_keys() -> None:
    same = profile(schema={"a": 1, "b": [1, {"x": 1, "y": 2}]})
    assert same.input_hash == profile(schema={"b": [1, {"y": 2, "x": 1}], "a": 1}).input_hash
    others = [
        profile("u", schema={"a": 1}),
        profile(description="e", schema={"a": 1}),
        profile(schema={"a": 2}),
        profile(schema={}),
        profile(),
        profile("td", ""),
        profile("", "td"),
    ]
    assert len({each.input_hash for each in others}) == len(others)


def test_who_carries_it_does_not_matter_to_the_input_hash() -> None:
    other = ToolProfile(2, "acme", "t", "d", "server", None, ("text",), [1.0])
    assert other.input_hash == profile().input_hash
