"""Suggestions in bulk: grouped by name, and many decisions in one call, each with a result of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from skillroute.core.answer_size import on_the_way
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, DatabaseUnavailable, InvalidInput, OutcomeUnknown
from skillroute.skills.model import AssignmentSource
from skillroute.skills.suggestions.answers import DecisionResult
from skillroute.skills.suggestions.group_decisions import DecisionOutcome, GroupDecision, ReviewAction
from skillroute.skills.suggestions.model import SuggestionGroup, SuggestionStatus
from skillroute.skills.suggestions.review_many import ReviewMany

from tests.builders import System, of_org
from tests.component.skills.test_br_005 import statuses, suggested
from tests.doubles import once

ADMIN = Caller(org_id=None, scopes=frozenset({Scope.ADMIN}), name="ann")
ACME = of_org("acme")


@pytest.fixture
def system(system: System) -> System:
    """With no skill that comes by itself."""
    system.parts.suggest_skills._approve_after = 0
    return system


def review(system: System, *decisions: GroupDecision, caller: Caller = ADMIN) -> list[DecisionOutcome]:
    return system.parts.skills.review_many(decisions, caller)


def approve(name: str | None = None, **given: Any) -> GroupDecision:
    return GroupDecision(ReviewAction.APPROVE, name, **given)


def reject(name: str | None = None, **given: Any) -> GroupDecision:
    return GroupDecision(ReviewAction.REJECT, name, **given)


def merge(name: str | None = None, *, into: str, **given: Any) -> GroupDecision:
    return GroupDecision(ReviewAction.MERGE, name, skill_id=into, **given)


def groups(system: System, caller: Caller = LAPTOP, status: str = "pending", **page: int) -> list[SuggestionGroup]:
    found, _ = system.parts.skills.review.groups(
        SuggestionStatus(status), caller, **{"limit": 100, "offset": 0, **page}
    )
    return [group for group, _ in found]


def codes(outcome: DecisionOutcome) -> dict[int, ErrorCode]:
    return {id_: error.code for id_, error in outcome.failed.items()}


# Groups


def test_names_come_once_the_most_frequent_first_with_their_oldest_suggestions(system: System) -> None:
    suggested(system, "water", name="Gardening")
    tools = suggested(system, "cut", "join", name="Video") + suggested(system, "encode", "fade", name="VIDEO_")
    first, second = groups(system)
    assert (first.suggested_name, first.count, first.skill_id) == ("Video", 4, "video")
    assert [example.source_tool_id for example in first.examples] == tools[:3]
    assert [example.source_tool_name for example in first.examples] == ["cut", "join", "encode"]
    assert (second.suggested_name, second.count, second.sources) == ("Gardening", 1, (AssignmentSource.LLM_AUTO,))
    assert first.first_created_at <= first.last_created_at


def test_groups_come_in_pages_and_say_how_many_there_are(system: System) -> None:
    for number, name in enumerate(("Video", "Audio", "Garden")):
        suggested(system, *(f"{name}_{n}" for n in range(number + 1)), name=name)
    page = system.parts.skills.review.groups
    found, total = page(SuggestionStatus.PENDING, LAPTOP, limit=2, offset=1)
    assert ([group.suggested_name for group, _ in found], total) == (["Audio", "Video"], 3)
    assert page(SuggestionStatus.PENDING, LAPTOP, limit=2, offset=3) == ([], 3)
    assert page(SuggestionStatus.REJECTED, LAPTOP, limit=2, offset=0) == ([], 0)


def test_a_group_says_whether_there_is_a_skill_of_its_id(system: System) -> None:
    suggested(system, "encode", name="Video")
    known = system.parts.skills.review.groups
    assert known(SuggestionStatus.PENDING, LAPTOP, limit=9, offset=0)[0][0][1] is False
    system.create("video")
    assert known(SuggestionStatus.PENDING, LAPTOP, limit=9, offset=0)[0][0][1] is True


def test_an_organisation_sees_its_own_groups_and_global_ones_apart(system: System) -> None:
    suggested(system, "cut", "join", name="Video")
    suggested(system, "encode", name="Video", caller=ACME)
    suggested(system, "hidden", name="Video", caller=of_org("globex"))
    assert [(group.org_id, group.count) for group in groups(system, ACME)] == [(None, 2), ("acme", 1)]
    assert [(group.org_id, group.count) for group in groups(system)] == [(None, 2)]


def test_suggestions_are_listed_by_their_name(system: System) -> None:
    suggested(system, "cut", "join", name="Video")
    suggested(system, "water", name="Gardening")
    page = system.parts.skills.review.page
    found, total = page(SuggestionStatus.PENDING, LAPTOP, name="vi-deo", limit=1, offset=0)
    assert ([one.source_tool_name for one in found], total) == (["cut"], 2)


# Approving


def test_an_approved_group_is_one_skill_with_all_its_tools(system: System) -> None:
    tools = suggested(system, "cut", "join", "encode", name="Video")
    [outcome] = review(system, approve("video"))
    assert outcome.skill is not None
    assert (outcome.skill.id, outcome.skill.name, outcome.skill.tool_count) == ("video", "Video", 3)
    assert (outcome.skill.description, outcome.also_resolved, outcome.error) == ("Tools for Video.", 0, None)
    assert {one.source_tool_id for one in outcome.decided} == set(tools)
    assert {one.reviewed_by for one in outcome.decided} == {"ann"}
    for tool in tools:
        assert system.assigned(tool) == {"video": (1.0, True, "human_override")}
    assert [status for _, status, _ in statuses(system)] == ["approved"] * 3
    assert groups(system) == []
    # AND nothing is left for classifiers to do
    assert system.waiting("classify") == []


def test_tools_keep_the_skills_that_they_have_up_to_five(system: System) -> None:
    [tool] = suggested(system, "cut", name="Video")
    names = ["a", "b", "c", "d", "e"]
    for name in names:
        system.create(name)
    system.sql(
        "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, is_primary) "
        f"SELECT {tool}, key, 0.9 - 0.1 * (ascii(key) - 97), key = 'a' FROM mcp.skill_categories"
    )
    review(system, approve("Video"))
    assert system.skills_of(tool) == ["video", "a", "b", "c", "d"]


def test_a_group_is_approved_with_other_fields_than_suggested(system: System) -> None:
    suggested(system, "cut", "join", name="Video")
    edits = {"id": "film", "name": "Film", "description": "Cutting and joining films.", "keywords": ["film"]}
    [outcome] = review(system, approve("Video", edits=edits))
    assert outcome.skill is not None
    assert {name: getattr(outcome.skill, name) for name in edits} == edits | {"keywords": ("film",)}


def test_some_of_a_name_are_approved_and_the_others_classified_again(system: System) -> None:
    tools = suggested(system, "cut", "join", "encode", name="Video")
    ids = [one.id for one in system.suggestions()]
    [outcome] = review(system, approve(ids=ids[1:]))
    assert ([one.id for one in outcome.decided], outcome.also_resolved) == (ids[1:], 1)
    assert [system.skills_of(tool) for tool in tools] == [[], ["video"], ["video"]]
    assert statuses(system)[0] == (ids[0], "merged", "video")
    assert system.waiting("classify") == [str(tools[0])]


def test_suggestions_of_several_names_become_one_skill_when_it_is_named(system: System) -> None:
    tools = suggested(system, "cut", name="Video") + suggested(system, "mix", name="Audio")
    ids = [one.id for one in system.suggestions()]
    [outcome] = review(system, approve(ids=ids))
    assert isinstance(outcome.error, InvalidInput)
    assert str(outcome.error) == "skill.name: is missing: the suggestions have 2 names, among them Audio, Video"
    assert len(system.suggestions()) == 2
    [outcome] = review(system, approve(ids=ids, edits={"name": "Media"}))
    assert outcome.skill is not None and outcome.skill.id == "media"
    assert [system.skills_of(tool) for tool in tools] == [["media"], ["media"]]


# Merging and rejecting


def test_a_merged_group_gives_its_tools_to_the_skill(system: System) -> None:
    tools = suggested(system, "cut", "join", name="Video")
    system.create("media")
    [outcome] = review(system, merge("Video", into="media"))
    assert outcome.skill is not None and (outcome.skill.id, outcome.skill.tool_count) == ("media", 2)
    assert [system.skills_of(tool) for tool in tools] == [["media"], ["media"]]
    assert {status for _, status, _ in statuses(system)} == {"merged"}


def test_a_rejected_group_leaves_its_tools_without_skills(system: System) -> None:
    tools = suggested(system, "cut", "join", name="Video")
    [outcome] = review(system, reject("Video", reason="too broad"))
    assert [(one.status, one.review_reason) for one in outcome.decided] == [("rejected", "too broad")] * 2
    assert [system.skills_of(tool) for tool in tools] == [[], []]


# What fails, and what does not because of it


def test_what_is_wrong_with_one_decision_keeps_the_others(system: System) -> None:
    suggested(system, "cut", "join", name="Video")
    suggested(system, "water", name="Gardening")
    suggested(system, "mix", name="Audio")
    system.create("audio")
    outcomes = review(
        system,
        approve("Audio"),
        merge("Gardening", into="nowhere"),
        reject("Nobody suggested this"),
        approve("Gardening", edits={"id": "No Id"}),
        approve("Video"),
    )
    assert [outcome.error and outcome.error.code for outcome in outcomes] == [
        "skill_exists",
        "skill_not_found",
        "suggestion_not_found",
        "invalid_request",
        None,
    ]
    assert isinstance(outcomes[3].error, InvalidInput) and outcomes[3].error.field == "skill.id"
    assert {one.suggested_name for one in system.suggestions()} == {"Gardening", "Audio"}


def test_what_is_wrong_with_one_suggestion_keeps_the_others(system: System) -> None:
    suggested(system, "cut", "join", name="Video")
    ids = [one.id for one in system.suggestions()]
    review(system, reject(ids=ids[:1]))
    [outcome] = review(system, approve(ids=[*ids, 999]))
    assert codes(outcome) == {ids[0]: "already_decided", 999: "suggestion_not_found"}
    assert ([one.id for one in outcome.decided], outcome.error) == (ids[1:], None)


def test_an_organisation_decides_on_its_own_suggestions_only(system: System) -> None:
    suggested(system, "cut", name="Video")
    suggested(system, "mix", name="Audio", caller=ACME)
    suggested(system, "secret", name="Secret", caller=of_org("globex"))
    of_all, own, others = [one.id for name in ("Video", "Audio", "Secret") for one in _named(system, name)]
    by_ids, by_name, by_other_name, done = review(
        system, reject(ids=[of_all, others]), reject("Video"), reject("Secret"), approve("Audio"), caller=ACME
    )
    assert codes(by_ids) == {of_all: "global_item", others: "suggestion_not_found"}
    assert by_name.error is not None and by_name.error.code == "global_item"
    assert by_other_name.error is not None and by_other_name.error.code == "suggestion_not_found"
    assert [one.id for one in done.decided] == [own]
    assert done.skill is not None and done.skill.org_id == "acme"


def _named(system: System, name: str) -> list[Any]:
    rows = system.rows("SELECT id, org_id FROM mcp.skill_suggestions WHERE suggested_name = :name", name=name)
    return [system.parts.skills.review.get(id_, of_org(org)) for id_, org in rows]


def test_a_suggestion_that_others_decide_on_meanwhile_fails_alone(system: System) -> None:
    suggested(system, "cut", "join", "encode", name="Video")
    ids = [one.id for one in system.suggestions()]
    meanwhile = once(lambda: system.parts.skills.review.reject(ids[1], None, LAPTOP))
    system.database.before_transact = meanwhile
    [outcome] = review(system, approve("Video"))
    assert codes(outcome) == {ids[1]: "already_decided"}
    assert [one.id for one in outcome.decided] == [ids[0], ids[2]]


def test_a_suggestion_that_gets_another_name_meanwhile_fails_alone(system: System) -> None:
    suggested(system, "cut", "join", name="Video")
    ids = [one.id for one in system.suggestions()]
    rename = f"UPDATE mcp.skill_suggestions SET suggested_name = 'Film' WHERE id = {ids[1]}"
    system.database.before_transact = once(lambda: system.sql(rename))
    [outcome] = review(system, approve("Video"))
    assert codes(outcome) == {ids[1]: "changed_meanwhile"}
    assert [one.suggested_name for one in system.suggestions()] == ["Film"]


def test_what_was_not_committed_is_not_said_to_be_decided(system: System) -> None:
    suggested(system, "cut", name="Video")

    def fail() -> None:
        raise Conflict("no")

    system.database.before_commit = fail
    [outcome] = review(system, approve("Video"))
    assert (outcome.decided, outcome.skill) == ([], None)
    assert isinstance(outcome.error, Conflict)


def test_without_a_database_nothing_is_answered_unless_something_was_done(system: System) -> None:
    suggested(system, "cut", name="Video")
    suggested(system, "mix", name="Audio")

    def gone() -> None:
        raise DatabaseUnavailable("gone")

    system.database.before_transact = gone
    with pytest.raises(DatabaseUnavailable):
        review(system, approve("Video"), reject("Audio"))
    # WHEN it goes after the first decision
    system.database.before_transact = _after(1, gone)
    first, second, third = review(system, approve("Video"), reject("Audio"), reject("Audio"))
    assert first.skill is not None
    assert second.error is not None and second.error.code == "database_unavailable"
    assert third.error is not None and third.error.code == "not_begun"


def _after(number: int, do: Any) -> Any:
    seen: list[None] = []

    def call() -> None:
        seen.append(None)
        if len(seen) > number:
            do()

    return call


def test_decisions_for_which_there_is_no_time_are_not_begun(system: System) -> None:
    suggested(system, "cut", name="Video")
    parts = system.parts
    late = ReviewMany(parts.database, parts.prepare_skill, parts.skills.review, within_s=0.0)
    [outcome] = late([approve("Video")], ADMIN)
    assert outcome.error is not None and outcome.error.code == "not_begun"
    assert len(system.suggestions()) == 1


def test_decisions_for_which_the_answer_has_no_room_are_not_begun(system: System) -> None:
    suggested(system, "cut", name="Video")
    suggested(system, "mix", name="Audio")
    parts = system.parts
    small = ReviewMany(parts.database, parts.prepare_skill, parts.skills.review, room=2_000)
    # GIVEN a decision whose errors take the room that there is
    nobodys = [*range(1000, 1010)]
    first, second = small([reject(ids=nobodys), reject("Video")], ADMIN)
    # THEN it is answered whole, and the next one is not begun
    assert set(codes(first).values()) == {"suggestion_not_found"}
    assert second.error is not None and second.error.code == "not_begun"
    assert len(system.suggestions()) == 2
    # AND decisions that leave room are all carried out
    assert [one.error for one in small([reject("Video"), reject("Audio")], ADMIN)] == [None, None]


def test_an_answer_takes_no_more_than_was_counted(system: System) -> None:
    system.create("media", description='Says "cut" \\ "mix". ' * 20, keywords=["film"], examples=["cut"])
    largest = 2**63 - 1
    suggested(system, "cut", name="Video")
    [one] = system.suggestions()
    outcomes = [
        *review(system, merge("Video", into="media"), reject("Nothing"), reject(ids=[*range(largest - 50, largest)])),
        DecisionOutcome(merge("Video", into="media"), decided=[replace(one, id=largest, source_tool_id=largest)] * 100),
    ]
    for outcome in outcomes:
        shown = on_the_way(DecisionResult.of(100, outcome).model_dump_json().encode())
        assert shown <= outcome.answer_bytes <= 2 * shown + 2_000


def test_a_call_has_a_hundred_decisions_at_most(system: System) -> None:
    with pytest.raises(InvalidInput, match="101 decisions; at most 100"):
        review(system, *[reject("Video")] * 101)


# Descriptions


def test_descriptions_are_decided_on_by_their_ids(system: System) -> None:
    system.create("media")
    system.create("film")
    system.chat.reply = {"description": "Cutting and joining films."}
    one, other = (system.parts.classification.describe(skill, LAPTOP).id for skill in ("media", "film"))
    [merged] = review(system, merge(ids=[one], into="film"))
    assert codes(merged) == {one: "not_a_new_skill"}
    approved, rejected = review(system, approve(ids=[one]), reject(ids=[other]))
    assert approved.skill is not None and approved.skill.description == "Cutting and joining films."
    assert [one.status for one in rejected.decided] == ["rejected"]


def _described(system: System, *skills: str) -> list[int]:
    ids = []
    for skill in skills:
        system.create(skill)
        system.chat.reply = {"description": f"Whatever is about {skill}."}
        ids.append(system.parts.classification.describe(skill, LAPTOP).id)
    return ids


def test_descriptions_that_there_is_no_time_for_are_not_begun(system: System) -> None:
    ids = _described(system, "media", "film", "sound")
    parts, now = system.parts, [0.0]

    def a_second_each() -> None:
        now[0] += 0.5  # of two transactions: what is read, and what is written

    system.database.before_transact = a_second_each
    review_many = ReviewMany(
        parts.database, parts.prepare_skill, parts.skills.review, within_s=1.0, clock=lambda: now[0]
    )
    [outcome] = review_many([approve(ids=ids)], ADMIN)
    assert 0 < len(outcome.decided) < 3
    assert set(codes(outcome).values()) == {"not_begun"}
    assert {one.id for one in outcome.decided} | outcome.failed.keys() == set(ids)


def test_of_a_description_whose_commit_is_not_known_nobody_says_that_it_was_not_begun(system: System) -> None:
    ids = _described(system, "media", "film", "sound")

    def lost() -> None:
        raise OutcomeUnknown("the connection was lost")

    system.database.before_transact = _after(1, lost)
    [outcome] = review(system, approve(ids=ids))
    assert [one.id for one in outcome.decided] == ids[:1]
    assert codes(outcome) == {ids[1]: "outcome_unknown", ids[2]: "not_begun"}


@pytest.fixture
def follow_ups(system: System, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A number for each time that commits were followed up."""
    counted: list[int] = []
    monkeypatch.setattr(system.parts.database, "_follow_up", lambda: counted.append(1))
    return counted


def test_many_decisions_are_followed_up_once(system: System, follow_ups: list[int]) -> None:
    suggested(system, "water", "prune", name="Gardening")
    suggested(system, "cut", "join", name="Video")
    follow_ups.clear()
    review(system, approve("Gardening"), approve("Video"))
    assert {status for _, status, _ in statuses(system)} == {"approved"}
    assert len(follow_ups) == 1
