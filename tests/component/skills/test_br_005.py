"""BR-005 of skill-contract: suggestions of new skills, and what becomes of them."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.model import Conflict, InvalidInput, NotFound
from skillroute.skills.classification.model import Decision, SkillDraft
from skillroute.skills.model import AssignmentSource
from skillroute.skills.suggestions.repository import SuggestionRepository

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, LogRecords, ScriptedClassifier, in_threads, once, proposing, succeed_at_once
from tests.integration.rows import connected, waits_for_a_lock

ADMIN = Caller(org_id=None, scopes=frozenset({Scope.ADMIN}), name="ann")


def suggested(system: System, *tools: str, name: str = "Video", caller: Caller = LAPTOP) -> list[int]:
    """Let the classifier suggest a skill for each of the tools; return their ids."""
    ids = system.put(*tools, caller=caller)
    system.classifier.answers |= {tool: proposing(name) for tool in tools}
    system.classify(*ids)
    return ids


def approve(system: System, suggestion_id: int, caller: Caller = ADMIN, **edits: Any) -> Any:
    return system.parts.skills.review.approve(suggestion_id, edits, caller)


def statuses(system: System) -> list[tuple[int, str, str | None]]:
    return [(each.id, each.status.value, each.resolved_skill_id) for each in _all(system)]


def _all(system: System) -> list[Any]:
    found = [each for status in ("pending", "approved", "rejected", "merged") for each in system.suggestions(status)]
    return sorted(found, key=lambda each: each.id)


# Being made


def test_br_005_a_suggestion_is_stored_and_pending(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    [suggestion] = system.suggestions()
    assert suggestion.status == "pending"
    assert (suggestion.suggested_name, suggestion.suggested_description) == ("Video", "Tools for Video.")
    assert (suggestion.source_tool_id, suggestion.source_tool_name) == (tool_id, "encode")
    assert (suggestion.reasoning, suggestion.source) == ("nothing fits", AssignmentSource.LLM_AUTO)
    assert (suggestion.reviewed_by, suggestion.reviewed_at, suggestion.resolved_skill_id) == (None, None, None)


def test_br_005_people_are_told_once_for_each_name_with_what_they_need(system: System) -> None:
    [tool_id, _] = suggested(system, "encode", "translate")
    [details] = system.notifier.details("suggestion_created")
    [suggestion, _] = system.suggestions()
    assert details == {
        "suggestion_id": suggestion.id,
        "suggested_name": "Video",
        "suggested_description": "Tools for Video.",
        "reasoning": "nothing fits",
        "tool_id": tool_id,
        "tool_name": "encode",
        "server": "",
        "approve": f"POST /api/v1/skills/suggestions/{suggestion.id}/approve",
        "reject": f"POST /api/v1/skills/suggestions/{suggestion.id}/reject",
    }
    assert system.notifier.events[0][1] == "Skill suggested: Video"


def test_br_005_nobody_is_told_of_what_was_not_stored(system: System) -> None:
    [tool_id] = system.put("encode")
    system.classifier.answers["encode"] = proposing("Video")

    def fail() -> None:
        raise Conflict("no")

    system.database.before_commit = fail
    with pytest.raises(Conflict):
        system.classify(tool_id)
    assert system.notifier.events == []


def test_br_005_the_tool_stays_without_skills_until_it_is_decided(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    assert system.assigned(tool_id) == {}
    assert [each.decision for each in system.classify(tool_id)] == [Decision.UNCHANGED]
    assert system.waiting("classify") == []


def test_br_005_a_tool_has_one_open_suggestion_the_newest(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    [first] = system.suggestions()
    system.classifier.answers["encode"] = proposing("Media")
    system.classify(tool_id, force=True)
    [second] = system.suggestions()
    assert (second.id, second.suggested_name) == (first.id, "Media")


def test_br_005_people_are_told_when_the_newest_has_a_new_name(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    system.classifier.answers["encode"] = proposing("Media")
    system.classify(tool_id, force=True)
    system.classify(tool_id, force=True)  # the same name again is no news
    assert [each["suggested_name"] for each in system.notifier.details("suggestion_created")] == ["Video", "Media"]


def test_br_005_a_tool_that_is_classified_after_all_takes_its_open_suggestion_with_it(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    system.create("media")
    system.classifier.answers["encode"] = proposing(media=0.9)
    system.classify(tool_id, force=True)
    assert system.suggestions() == []


def test_br_005_a_person_who_assigns_the_tool_takes_its_open_suggestion_away(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    system.create("media")
    system.assign(tool_id, media=1.0)
    assert system.suggestions() == []


def test_br_005_a_deleted_tool_takes_its_open_suggestion_along_and_what_was_decided_stays(system: System) -> None:
    [refused] = suggested(system, "mix", name="Audio")
    system.parts.skills.review.reject(1, None, ADMIN)
    gone, left = suggested(system, "encode", "decode")
    [open_one] = [each.id for each in system.suggestions() if each.source_tool_id == gone]
    for tool_id in (refused, gone):
        system.parts.catalogue.read.delete(tool_id, LAPTOP)
    assert [each.source_tool_id for each in system.suggestions()] == [left]
    with pytest.raises(NotFound):
        approve(system, open_one)
    [decided] = system.suggestions("rejected")
    assert (decided.source_tool_id, decided.source_tool_name) == (None, "mix")


def test_br_005_a_server_whose_tools_are_replaced_takes_their_open_suggestions_along(system: System) -> None:
    system.classifier.answers["encode"] = proposing("Video")
    [tool_id] = system.put("encode", server="media")
    system.classify(tool_id)
    assert len(system.suggestions()) == 1
    system.parts.registry.sync("server", [{"name": "media", "tools": []}], LAPTOP)
    assert system.suggestions(None) == []


def test_br_005_a_draft_that_says_little_becomes_one_that_a_skill_may_have(system: System) -> None:
    [tool_id] = system.put("encode")
    system.classifier.answers["encode"] = proposing(SkillDraft("V" * 300, "short"))
    system.classify(tool_id)
    [suggestion] = system.suggestions()
    assert len(suggestion.suggested_name) <= 255
    skill = approve(system, suggestion.id).skill
    assert (len(skill.id), len(skill.description) >= 10) == (64, True)


# Approved


def test_br_005_approved_creates_the_skill_and_assigns_the_tool(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    reviewed = approve(system, 1)
    assert (reviewed.skill.id, reviewed.skill.name, reviewed.skill.description) == (
        "video",
        "Video",
        "Tools for Video.",
    )
    assert (reviewed.skill.tool_count, reviewed.message) == (1, "Skill created and tool assigned")
    assert (reviewed.assignment.skill_id, reviewed.assignment.confidence) == ("video", 1.0)
    [(skill_id, (confidence, is_primary, source))] = system.assigned(tool_id).items()
    assert (skill_id, confidence, is_primary) == ("video", 1.0, True)
    assert source.startswith("human_")
    [decided] = system.suggestions("approved")
    assert (decided.resolved_skill_id, decided.reviewed_by) == ("video", "ann")
    assert decided.reviewed_at is not None
    # AND the very next search finds it
    assert system.names(strategy="hierarchical") == ["encode"]


def test_br_005_approved_with_edits_has_them(system: System) -> None:
    suggested(system, "encode")
    skill = approve(
        system,
        1,
        id="media",
        name="Media",
        description="Sound and moving pictures.",
        keywords=["film"],
        examples=["encode"],
        parent_domain="creative",
    ).skill
    assert (skill.id, skill.name, skill.description) == ("media", "Media", "Sound and moving pictures.")
    assert (skill.keywords, skill.examples, skill.parent_domain) == (("film",), ("encode",), "creative")


def test_br_005_an_edited_name_makes_the_id(system: System) -> None:
    suggested(system, "encode")
    assert approve(system, 1, name="Moving Pictures").skill.id == "moving_pictures"


@pytest.mark.parametrize(
    "edits",
    [
        {"id": "Video"},
        {"id": "classify"},
        {"id": None},
        {"name": ""},
        {"name": None},
        {"description": "short"},
        {"keywords": ["Film"]},
        {"tool_count": 7},
        {"name": "a\x00b"},
    ],
)
def test_br_005_edits_that_no_skill_may_have_are_refused_and_nothing_is_decided(
    system: System, edits: dict[str, Any]
) -> None:
    suggested(system, "encode")
    with pytest.raises(InvalidInput):
        approve(system, 1, **edits)
    assert statuses(system) == [(1, "pending", None)]


def test_br_005_when_the_id_exists_it_is_a_conflict_and_stays_pending(system: System) -> None:
    suggested(system, "encode")
    system.create("video")
    with pytest.raises(Conflict, match="Skill already exists: video"):
        approve(system, 1)
    assert statuses(system) == [(1, "pending", None)]
    assert approve(system, 1, id="video_tools").skill.id == "video_tools"


def test_br_005_names_without_a_latin_letter_make_skills_of_their_own(system: System) -> None:
    suggested(system, "plan", name="Календарь")
    suggested(system, "post", name="郵便")
    first, second = approve(system, 1).skill, approve(system, 2).skill
    assert (first.name, second.name) == ("Календарь", "郵便")
    assert first.id != second.id


@pytest.mark.parametrize("said", [SkillDraft("Film", "Tools for Video."), SkillDraft("Video", "Moving pictures.")])
def test_br_005_what_says_something_else_than_the_person_read_is_not_approved(system: System, said: SkillDraft) -> None:
    # GIVEN a classifier that suggests something else for the tool while a person approves
    [tool_id] = suggested(system, "encode")
    system.classifier.answers["encode"] = proposing(said)
    system.database.before_transact = once(lambda: system.classify(tool_id, force=True))
    # WHEN
    with pytest.raises(Conflict, match="has just changed"):
        approve(system, 1)
    # THEN nothing is decided, and whoever looks again decides on what it says now
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]
    assert statuses(system) == [(1, "pending", None)]
    skill = approve(system, 1).skill
    assert (skill.name, skill.description) == (said.name, said.description)


@pytest.mark.parametrize("decide", ["approve", "merge"])
def test_br_005_others_of_the_name_are_merged_and_their_tools_queued_again(system: System, decide: str) -> None:
    system.parts.suggest_skills._approve_after = 0
    first, second, third = suggested(system, "cut", "decode", "encode")
    suggested(system, "paint", name="Pictures")
    system.classifier.answers["decode"] = proposing(" VI-deo_ ")
    system.classify(second, force=True)
    if decide == "approve":
        reviewed = approve(system, 1)
    else:
        system.create("video")
        reviewed = system.parts.skills.review.merge(1, "video", ADMIN)
    assert reviewed.also_resolved == 2
    assert statuses(system) == [
        (1, "approved" if decide == "approve" else "merged", "video"),
        (2, "merged", "video"),
        (3, "merged", "video"),
        (4, "pending", None),
    ]
    assert system.waiting("classify") == [str(second), str(third)]
    # AND although they say what they said, the classifier looks at them again
    system.classifier.answers |= {name: proposing(video=0.9) for name in ("decode", "encode")}
    system.classify(second, third)
    assert [system.skills_of(tool_id) for tool_id in (first, second, third)] == [["video"]] * 3


# Rejected


def test_br_005_rejected_is_discarded_with_its_reason_and_the_tool_stays_without_skills(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    decided = system.parts.skills.review.reject(1, "not ours", ADMIN)
    assert (decided.status, decided.review_reason, decided.reviewed_by) == ("rejected", "not ours", "ann")
    assert system.assigned(tool_id) == {}
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


def test_br_005_rejected_needs_no_reason(system: System) -> None:
    suggested(system, "encode")
    assert system.parts.skills.review.reject(1, None, ADMIN).review_reason is None


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800"])
def test_br_005_a_reason_that_cannot_be_stored_is_the_callers_mistake(system: System, bad: str) -> None:
    suggested(system, "encode")
    with pytest.raises(InvalidInput):
        system.parts.skills.review.reject(1, bad, ADMIN)
    assert statuses(system) == [(1, "pending", None)]


# Merged


def test_br_005_merged_assigns_the_tool_to_the_skill_that_is_there(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    system.create("media")
    reviewed = system.parts.skills.review.merge(1, "media", ADMIN)
    assert (reviewed.skill.id, reviewed.skill.tool_count, reviewed.message) == (
        "media",
        1,
        "Skill found and tool assigned",
    )
    assert system.skills_of(tool_id) == ["media"]
    assert statuses(system) == [(1, "merged", "media")]


def test_br_005_merged_into_an_unknown_or_deleted_skill_is_not_found(system: System) -> None:
    suggested(system, "encode")
    system.create("media")
    system.parts.skills.change.delete("media", LAPTOP)
    for skill_id in ("unknown", "media"):
        with pytest.raises(NotFound):
            system.parts.skills.review.merge(1, skill_id, ADMIN)
    assert statuses(system) == [(1, "pending", None)]


# Decided once


def test_br_005_of_two_that_decide_at_once_one_succeeds(system: System) -> None:
    [tool_id] = suggested(system, "encode")

    def decide(place: int) -> None:
        if place == 0:
            approve(system, 1)
        else:
            system.parts.skills.review.reject(1, None, ADMIN)

    assert succeed_at_once(2, decide) == [False, True]
    [(_, status, skill_id)] = statuses(system)
    assert (status, skill_id, system.skills_of(tool_id)) in [
        ("approved", "video", ["video"]),
        ("rejected", None, []),
    ]


@pytest.mark.parametrize("decide", ["approve", "reject", "merge"])
def test_br_005_one_that_is_taken_away_while_it_is_decided_is_not_found(system: System, decide: str) -> None:
    # GIVEN a classifier that finds a skill for the tool while a person looks at the suggestion
    [tool_id] = suggested(system, "encode")
    system.create("media")
    system.classifier.answers["encode"] = proposing(media=0.9)
    review = system.parts.skills.review
    system.database.before_transact = once(lambda: system.classify(tool_id, force=True))
    # WHEN
    with pytest.raises(NotFound, match="suggestion"):
        {
            "approve": lambda: review.approve(1, {}, ADMIN),
            "reject": lambda: review.reject(1, None, ADMIN),
            "merge": lambda: review.merge(1, "media", ADMIN),
        }[decide]()
    # THEN
    assert system.skills_of(tool_id) == ["media"]


def test_br_005_a_tool_that_is_deleted_while_its_suggestion_is_approved_leaves_nothing_to_approve(
    system: System,
) -> None:
    [tool_id] = suggested(system, "encode")
    system.database.before_transact = once(lambda: system.parts.catalogue.read.delete(tool_id, LAPTOP))
    with pytest.raises(NotFound):
        approve(system, 1)
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


@pytest.mark.parametrize("decide", ["approve", "merge", "by itself"])
def test_br_005_whoever_decides_waits_for_the_tool_before_holding_the_suggestion(
    system: System, database_url: str, decide: str
) -> None:
    # GIVEN a classification under way, which holds the tool and will write its suggestion
    system.create("media")
    suggested(system, "a", "b")
    [last] = system.put("c")
    system.classifier.answers["c"] = proposing("Video")
    review = system.parts.skills.review
    deciding = threading.Thread(
        target={
            "approve": lambda: review.approve(1, {}, ADMIN),
            "merge": lambda: review.merge(1, "media", ADMIN),
            "by itself": lambda: system.classify(last),
        }[decide]
    )
    with connected(database_url) as sql:
        sql("BEGIN")
        sql("SELECT FROM mcp.tools WHERE name IN ('a', 'b') FOR NO KEY UPDATE")
        # WHEN
        deciding.start()
        while not waits_for_a_lock(system.rows):
            assert deciding.is_alive()
        # THEN it finds nobody in its way
        assert sql("SELECT id FROM mcp.skill_suggestions WHERE id <= 2 ORDER BY id FOR UPDATE NOWAIT") == [[1], [2]]
        sql("COMMIT")
    deciding.join(20)
    assert statuses(system)[0][1] == ("merged" if decide == "merge" else "approved")


def test_br_005_whoever_is_about_to_decide_reads_the_suggestions_of_the_name_without_waiting_for_them(
    system: System, database_url: str
) -> None:
    suggested(system, "a", "b")
    with connected(database_url) as sql:
        sql("BEGIN")
        sql("SELECT FROM mcp.skill_suggestions FOR UPDATE")
        read: list[Any] = []
        reading = threading.Thread(
            target=lambda: read.extend(
                system.database.read(lambda session: SuggestionRepository(session).same_name("Video", None))
            )
        )
        reading.start()
        while reading.is_alive() and not waits_for_a_lock(system.rows):
            reading.join(0.01)
        assert [each[0] for each in read] == [1, 2]
        sql("COMMIT")
    reading.join(20)


def test_br_005_whoever_decides_holds_all_suggestions_of_the_name_in_the_order_of_their_ids(
    system: System, database_url: str
) -> None:
    # GIVEN one who holds the first
    system.create("media")
    suggested(system, "a", "b")
    deciding = threading.Thread(target=lambda: system.parts.skills.review.merge(2, "media", ADMIN))
    with connected(database_url) as sql:
        sql("BEGIN")
        sql("SELECT FROM mcp.skill_suggestions WHERE id = 1 FOR UPDATE")
        # WHEN
        deciding.start()
        while not waits_for_a_lock(system.rows):
            assert deciding.is_alive()
        # THEN whoever waits for it does not hold the second meanwhile
        assert sql("SELECT id FROM mcp.skill_suggestions WHERE id = 2 FOR UPDATE NOWAIT") == [[2]]
        sql("COMMIT")
    deciding.join(20)
    assert [status for _, status, _ in statuses(system)] == ["merged", "merged"]


# Auto-approval (decision 21)


def test_br_005_the_third_tool_of_a_name_creates_the_skill_and_assigns_them_all(system: System) -> None:
    ids = suggested(system, "encode", "decode")
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]
    ids += suggested(system, "cut")
    [skill] = system.rows("SELECT id, name, description, is_active FROM mcp.skill_categories")
    assert skill == ["video", "Video", "Tools for Video.", True]
    assert [system.skills_of(tool_id) for tool_id in ids] == [["video"]] * 3
    assert statuses(system) == [(number, "approved", "video") for number in (1, 2, 3)]
    assert {each.reviewed_by for each in system.suggestions("approved")} == {"auto-approval"}
    # AND what a classifier suggested is a classifier's assignment
    assert {system.assigned(tool_id)["video"][2] for tool_id in ids} == {"llm_auto"}
    # AND people are told how to undo it
    [details] = system.notifier.details("skill_auto_approved")
    assert details == {
        "skill_id": "video",
        "name": "Video",
        "description": "Tools for Video.",
        "tool_ids": sorted(ids),
        "undo": "DELETE /api/v1/skills/video",
    }


def test_br_005_three_in_one_batch_are_three(system: System) -> None:
    ids = suggested(system, "encode", "decode", "cut")
    assert [system.skills_of(tool_id) for tool_id in ids] == [["video"]] * 3
    assert len(system.notifier.details("skill_auto_approved")) == 1


def test_br_005_case_spacing_and_separators_do_not_part_names(system: System) -> None:
    suggested(system, "a", name="Video Tools")
    suggested(system, "b", name="  video   TOOLS ")
    suggested(system, "c", name="video-tools")
    suggested(system, "d", name="Video_Tools")
    assert system.rows("SELECT id FROM mcp.skill_categories") == [["video_tools"]]


def test_br_005_other_names_do_not_count(system: System) -> None:
    suggested(system, "a")
    suggested(system, "b")
    suggested(system, "c", name="Videos")
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


def test_br_005_the_same_tool_three_times_is_one_tool(system: System) -> None:
    [tool_id] = suggested(system, "encode")
    for _ in range(3):
        system.classify(tool_id, force=True)
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


def test_br_005_rejected_ones_do_not_count(system: System) -> None:
    suggested(system, "a", "b")
    for suggestion in system.suggestions():
        system.parts.skills.review.reject(suggestion.id, None, ADMIN)
    suggested(system, "c", "d")
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


def test_br_005_tools_of_other_organisations_do_not_count_nor_see_it(system: System) -> None:
    suggested(system, "a", caller=of_org("acme"))
    suggested(system, "b", caller=of_org("umbrella"))
    suggested(system, "c")
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]
    suggested(system, "d", "e", caller=of_org("acme"))
    assert system.rows("SELECT id, org_id FROM mcp.skill_categories") == [["video", "acme"]]


def test_br_005_what_similarity_drafts_does_not_count(database_url: str, edge_indexes: EdgeIndexes) -> None:
    similar = ScriptedClassifier(source=AssignmentSource.SIMILARITY)
    with lent_system(database_url, edge_indexes, classifier=similar) as system:
        system.classifier = similar
        suggested(system, "a", "b", "c", "d")
        assert len(system.suggestions()) == 4
        assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


def test_br_005_a_language_model_that_suggests_nothing_is_no_vote_for_the_draft_made_in_its_place(
    system: System,
) -> None:
    # GIVEN an answer without assignments and without a suggestion, for three tools whose drafts have one name
    names = ("get_order", "list_order", "set_order")
    system.classifier.answers = {name: proposing() for name in names}
    outcomes = system.classify(*system.put(*names, server="acme"))
    # THEN
    assert [each.decision for each in outcomes] == [Decision.SUGGESTED] * 3
    assert [(each.suggested_name, each.source) for each in system.suggestions()] == [
        ("Order", AssignmentSource.SIMILARITY)
    ] * 3
    system.parts.relay()
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]


def test_br_005_a_name_that_a_person_rejected_is_left_to_people(system: System) -> None:
    suggested(system, "a")
    system.parts.skills.review.reject(1, "not ours", ADMIN)
    ids = suggested(system, "b", "c", "d", name=" VI-deo_ ")
    system.parts.relay()
    assert [system.assigned(tool_id) for tool_id in ids] == [{}] * 3
    assert [status for _, status, _ in statuses(system)] == ["rejected", "pending", "pending", "pending"]
    # AND they may still take it
    assert approve(system, 2).also_resolved == 2


def test_br_005_a_name_whose_skill_was_deleted_is_not_created_again_by_itself(system: System) -> None:
    ids = suggested(system, "a", "b", "c")
    assert [system.skills_of(tool_id) for tool_id in ids] == [["video"]] * 3
    system.parts.skills.change.delete("video", LAPTOP)
    # WHEN the tools that it leaves are classified again, and the classifier says what it said
    system.classify(*ids)
    system.parts.relay()
    # THEN
    assert [system.assigned(tool_id) for tool_id in ids] == [{}] * 3
    assert [each.source_tool_id for each in system.suggestions()] == ids
    assert len(system.notifier.details("skill_auto_approved")) == 1


def test_br_005_what_was_suggested_often_enough_and_not_approved_at_once_is_approved_by_the_relay(
    system: System, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    # GIVEN a consumer that is killed as soon as the third suggestion is stored, and so approves nothing
    with lent_system(database_url, edge_indexes, auto_approve_after=0) as killed:
        ids = suggested(killed, "a", "b", "c")
        suggested(killed, "d", "e", name="Pictures")
    assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[0]]
    # WHEN
    system.parts.relay()
    system.parts.relay()
    # THEN
    assert system.rows("SELECT id FROM mcp.skill_categories") == [["video"]]
    assert [system.skills_of(tool_id) for tool_id in ids] == [["video"]] * 3
    assert [details["tool_ids"] for details in system.notifier.details("skill_auto_approved")] == [ids]


@pytest.mark.parametrize(("approve_after", "tools", "is_created"), [(0, 5, False), (1, 1, True), (5, 4, False)])
def test_br_005_the_number_is_a_setting_and_0_turns_it_off(
    database_url: str, edge_indexes: EdgeIndexes, approve_after: int, tools: int, is_created: bool
) -> None:
    with lent_system(database_url, edge_indexes, auto_approve_after=approve_after) as system:
        suggested(system, *(f"t{number}" for number in range(tools)))
        assert system.rows("SELECT count(*) FROM mcp.skill_categories") == [[int(is_created)]]


def test_br_005_at_the_third_at_once_from_several_processes_one_skill_is_created(system: System) -> None:
    ids = system.put("a", "b", "c", "d")
    system.classifier.answers = {name: proposing("Video") for name in "abcd"}
    in_threads(4, lambda place: system.classify(ids[place]))
    assert system.rows("SELECT id FROM mcp.skill_categories") == [["video"]]
    assert len(system.notifier.details("skill_auto_approved")) == 1
    resolved = [each.source_tool_id for each in system.suggestions("approved")]
    assert len(resolved) >= 3
    assert sorted(resolved) == [tool_id for tool_id in ids if system.skills_of(tool_id) == ["video"]]


def test_br_005_when_the_skill_exists_already_it_stays_for_people(system: System, log: LogRecords) -> None:
    system.create("video")
    ids = suggested(system, "a", "b", "c")
    # AND when the relay tries again, each minute, nothing is embedded for it and nobody is warned
    system.parts.relay()
    system.embedder.calls.clear()
    system.parts.relay()
    assert [system.assigned(tool_id) for tool_id in ids] == [{}] * 3
    assert len(system.suggestions()) == 3
    assert system.embedder.texts == []
    assert log.having("suggestion not approved by itself") == []


def test_br_005_a_person_who_assigned_one_of_the_three_meanwhile_is_not_overruled(system: System) -> None:
    a, b = suggested(system, "a", "b")
    system.create("media")
    system.assign(a, media=1.0)
    suggested(system, "c")
    assert system.rows("SELECT id FROM mcp.skill_categories") == [["media"]]
    assert (system.skills_of(a), system.skills_of(b)) == (["media"], [])


# Listing


def test_br_005_suggestions_are_listed_by_status_in_order_with_their_number(system: System) -> None:
    suggested(system, "a", name="A")
    suggested(system, "b", name="B")
    suggested(system, "c", name="C")
    system.parts.skills.review.reject(2, None, ADMIN)
    page = system.parts.skills.review.page
    found, total = page(system.suggestions()[0].status, LAPTOP, limit=1, offset=1)
    assert ([each.suggested_name for each in found], total) == (["C"], 2)
    assert [each.suggested_name for each in system.suggestions("rejected")] == ["B"]
