"""Reading what a language model answered: the output of skill-contract BR-002, and everything else that it may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.errors.model import ClassifierAnswerInvalid
from skillroute.skills.classification.classifiers.llm_answer import ReadAnswer, read_answer
from skillroute.skills.classification.model import Classification, ProposedAssignment, SkillDraft, settle

OFFERED = {"calendar_management", "email"}
SURE = {"skill_id": "calendar_management", "confidence": 0.95, "reasoning": "Creates calendar events"}
PROPOSED = ProposedAssignment("calendar_management", 0.95, "Creates calendar events")


def read(*entries: object, **others: object) -> ReadAnswer:
    return read_answer({"assignments": list(entries), **others}, OFFERED)


def test_br_002_the_contracts_answer_is_read() -> None:
    """GIVEN the contract's answer WHEN it is read THEN its assignments are, in order, and nothing is missing."""
    second = {"skill_id": "email", "confidence": 0.4, "reasoning": "May send invites"}

    answer = read(SURE, second, primary_skill_id="calendar_management", suggested_new_skill=None)

    assert answer == ReadAnswer(
        Classification((PROPOSED, ProposedAssignment("email", 0.4, "May send invites"))), malformed=0, not_offered=()
    )


@pytest.mark.parametrize("assignments", [None, {}, "none", 3, SURE], ids=str)
def test_br_002_an_answer_without_a_list_of_assignments_is_refused(assignments: object) -> None:
    with pytest.raises(ClassifierAnswerInvalid, match="without a list of assignments"):
        read_answer({"assignments": assignments}, OFFERED)


def test_br_002_an_answer_of_another_shape_is_refused() -> None:
    with pytest.raises(ClassifierAnswerInvalid):
        read_answer({"skill": "calendar_management"}, OFFERED)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "calendar_management",
        [],
        {},
        {"skill_id": "email"},
        {"confidence": 0.9},
        {"skill_id": None, "confidence": 0.9},
        {"skill_id": 7, "confidence": 0.9},
        {"skill_id": ["email"], "confidence": 0.9},
        {"skill_id": " \x00 ", "confidence": 0.9},
        {"skill_id": "email", "confidence": None},
        {"skill_id": "email", "confidence": "0.9"},
        {"skill_id": "email", "confidence": True},
        {"skill_id": "email", "confidence": float("nan")},
        {"skill_id": "email", "confidence": float("inf")},
        {"skill_id": "email", "confidence": 10**400},
    ],
    ids=lambda entry: str(entry)[:50],
)
def test_a_malformed_assignment_costs_only_itself(entry: object) -> None:
    """GIVEN one assignment that is none WHEN the answer is read THEN the others stay, and it is counted."""
    assert read(entry, SURE) == ReadAnswer(Classification((PROPOSED,)), malformed=1, not_offered=())


def test_ec_003_a_skill_that_was_not_offered_is_left_out() -> None:
    """GIVEN an invented skill WHEN the answer is read THEN it is left out, and named."""
    answer = read({"skill_id": "time_travel", "confidence": 1.0}, SURE, {"skill_id": "Email", "confidence": 0.9})

    assert answer == ReadAnswer(Classification((PROPOSED,)), malformed=0, not_offered=("time_travel", "Email"))


def test_a_skill_id_is_not_made_an_offered_one_by_cutting_it() -> None:
    longest = "a" * 64

    answer = read_answer({"assignments": [{"skill_id": longest + "b", "confidence": 1}]}, {longest})

    assert answer.classification.assignments == ()


def test_confidences_out_of_range_are_passed_on_to_be_rejected() -> None:
    """GIVEN confidences 7 and -1 WHEN the answer is read and settled THEN neither is assigned (decision 15)."""
    answer = read({"skill_id": "email", "confidence": 7}, {"skill_id": "calendar_management", "confidence": -1})

    proposed = answer.classification.assignments
    assert [each.confidence for each in proposed] == [7.0, -1.0]
    assert settle(proposed, OFFERED).assignments == ()


def test_what_the_model_calls_primary_is_not_read() -> None:
    assert read(SURE, primary_skill_id={"no": "id"}) == read(SURE)


@pytest.mark.parametrize(("reasoning", "kept"), [(None, None), (7, None), ("", None), (" \n", None), ("a\n b", "a b")])
def test_a_reason_is_a_text_or_none(reasoning: object, kept: str | None) -> None:
    [assignment] = read({**SURE, "reasoning": reasoning}).classification.assignments

    assert assignment.reasoning == kept


def test_what_will_be_stored_is_cut() -> None:
    suggestion = {"name": "n" * 255, "description": "d" * 2000, "reasoning": "r" * 2000}

    answer = read({**SURE, "reasoning": "r" * 2000}, suggested_new_skill=suggestion).classification

    assert answer.assignments[0].reasoning == "r" * 500
    assert answer.suggestion == SkillDraft("n" * 255, "d" * 1000, "r" * 500)


def test_decisions_16_a_suggestion_is_read_with_and_without_a_reason() -> None:
    with_reason = {"name": " Time  Travel ", "description": "Tools for going back", "reasoning": "nothing fits"}
    without = {"name": "Time Travel", "description": "Tools for going back"}

    assert read(suggested_new_skill=with_reason).classification.suggestion == SkillDraft(
        "Time Travel", "Tools for going back", "nothing fits"
    )
    assert read(suggested_new_skill=without).classification.suggestion == SkillDraft(
        "Time Travel", "Tools for going back"
    )


@pytest.mark.parametrize(
    "suggestion",
    [
        "Time Travel",
        [],
        {},
        {"name": "Time Travel"},
        {"description": "Tools for going back"},
        {"name": None, "description": "Tools for going back"},
        {"name": "  ", "description": "Tools for going back"},
        {"name": "\x00\ud800", "description": "Tools for going back"},
        {"name": "n" * 256, "description": "Tools for going back"},
        {"name": "Time Travel", "description": ["Tools"]},
        {"name": "Time Travel", "description": ""},
    ],
    ids=lambda suggestion: ascii(suggestion)[:50],
)
def test_a_malformed_suggestion_is_none(suggestion: object) -> None:
    """GIVEN a suggestion that is none WHEN the answer is read THEN the assignments stay, and it is counted."""
    assert read(SURE, suggested_new_skill=suggestion) == ReadAnswer(
        Classification((PROPOSED,)), malformed=1, not_offered=()
    )


def test_what_cannot_be_stored_is_taken_out() -> None:
    dirty = "a\x00b\ud800c\x1b[31m\x85d\x7f\n\te"

    answer = read(
        {**SURE, "reasoning": dirty},
        {"skill_id": dirty, "confidence": 1},
        suggested_new_skill={"name": dirty, "description": dirty},
    )

    assert answer.classification.assignments[0].reasoning == "abc[31m d e"
    assert answer.classification.suggestion == SkillDraft("abc[31m d e", "abc[31m d e")
    assert answer.not_offered == ("abc[31m d e",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
LIKELY = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("skill_id", "confidence", "reasoning", "name", "description"), JSON)
)


@given(st.lists(JSON | LIKELY), JSON | LIKELY)
def test_no_answer_breaks_the_reading_and_what_is_read_can_be_stored(entries: list[Any], suggestion: Any) -> None:
    answer = read(*entries, suggested_new_skill=suggestion)

    texts = [*answer.not_offered, *(each.reasoning or "" for each in answer.classification.assignments)]
    if draft := answer.classification.suggestion:
        texts += [draft.name, draft.description, draft.reasoning or ""]
    for text in texts:
        assert "\x00" not in text
        text.encode("utf-8")
