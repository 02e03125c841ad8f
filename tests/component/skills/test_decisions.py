"""Decisions 13 to 17, 19, 20 and 26, as far as the rules of the contract do not test them already.

Also what a language model writes of a skill (skill-search-design, Skill Embedding Strategy).
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import ClassifierUnavailable, Conflict, Forbidden, InvalidInput, NotFound
from skillroute.skills.classification.classifiers.llm import LlmClassifier
from skillroute.skills.classification.describe import DescribeSkill
from skillroute.skills.classification.model import Classification, Decision, SkillDraft, ToolProfile

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, FakeChat, ScriptedClassifier, at, in_threads, once, proposing, until
from tests.integration.rows import Sql, connected, waits_for_a_lock

# 13: deleting, and creating again


def test_decision_13_a_deleted_id_can_be_created_again_and_starts_with_no_tools(system: System) -> None:
    system.create("mail", keywords=("letter",), parent_domain="office")
    tool_id = system.tool("t", at(0.9))
    system.assign(tool_id, mail=0.9)
    system.parts.skills.change.delete("mail", LAPTOP)
    again = system.create("mail", description="Something else altogether.")
    assert (again.tool_count, again.description, again.keywords, again.parent_domain, again.is_active) == (
        0,
        "Something else altogether.",
        (),
        None,
        True,
    )
    assert again.created_at == again.updated_at
    assert system.parts.skills.read.tools("mail", LAPTOP, limit=10, offset=0) == ([], 0)
    assert system.search(strategy="direct").tools[0].skill_ids == []
    assert system.vector("mail") == at(1.0)


def test_decision_13_another_organisation_may_create_a_deleted_id(system: System) -> None:
    system.create("mail", of_org("acme"))
    system.parts.skills.change.delete("mail", of_org("acme"))
    assert system.create("mail", of_org("umbrella")).org_id == "umbrella"
    with pytest.raises(NotFound):
        system.parts.skills.read.get("mail", of_org("acme"))


def test_decision_13_when_a_skill_is_deleted_the_next_best_becomes_primary(system: System) -> None:
    for name in ("calendar", "mail", "maps"):
        system.create(name)
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9, maps=0.7, calendar=0.8)
    system.classify(tool_id)
    system.parts.skills.change.delete("mail", LAPTOP)
    assert system.assigned(tool_id) == {"calendar": (0.8, True, "llm_auto"), "maps": (0.7, False, "llm_auto")}
    assert system.waiting("classify") == []


def test_decision_13_when_a_skill_is_deleted_tools_that_have_it_beside_their_primary_keep_that(system: System) -> None:
    for name in ("mail", "maps"):
        system.create(name)
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=0.9, maps=0.7)
    system.parts.skills.change.delete("maps", LAPTOP)
    assert system.assigned(tool_id) == {"mail": (0.9, True, "human_manual")}


@pytest.mark.parametrize("by_hand", [True, False])
def test_decision_13_when_a_skill_is_deleted_bare_tools_are_classified_again(system: System, by_hand: bool) -> None:
    for name in ("mail", "maps"):
        system.create(name)
    [tool_id, _] = system.put("t", "u")
    system.classifier.answers["t"] = proposing(mail=0.9)
    system.classify(tool_id)
    if by_hand:
        system.assign(tool_id, mail=1.0)
    system.parts.skills.change.delete("mail", LAPTOP)
    assert system.waiting("classify")[0] == str(tool_id)
    system.classifier.answers["t"] = proposing(maps=0.9)
    system.classify(tool_id)
    assert system.skills_of(tool_id) == ["maps"]


@pytest.mark.parametrize(("first", "second"), [("calendar", "mail"), ("mail", "calendar")])
def test_decision_13_of_two_skills_that_are_deleted_at_once_neither_becomes_primary_again(
    system: System, first: str, second: str
) -> None:
    # GIVEN inactive skills, so that the deletes have no row of the feed in common at which one would wait
    for name in ("calendar", "mail", "maps"):
        system.create(name)
    a, b = system.put("a", "b")
    system.classifier.answers = {
        "a": proposing(calendar=0.9, mail=0.8, maps=0.7),
        "b": proposing(calendar=0.9, mail=0.8),
    }
    system.classify(a, b)
    for name in (first, second):
        system.change(name, is_active=False)
    # WHEN the second delete begins after all of the first is written, and before it is committed
    deleting = threading.Thread(target=lambda: system.parts.skills.change.delete(second, LAPTOP))

    def delete() -> None:
        deleting.start()
        until(lambda: not deleting.is_alive() or waits_for_a_lock(system.rows))

    system.database.before_commit = once(delete)
    system.parts.skills.change.delete(first, LAPTOP)
    deleting.join(20)
    # THEN each tool has one primary skill, or none at all and waits to be classified
    assert system.assigned(a) == {"maps": (0.7, True, "llm_auto")}
    assert (system.assigned(b), system.waiting("classify")) == ({}, [str(b)])


def test_decision_13_a_failing_classifier_after_a_deletion_leaves_the_tool_waiting(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=1.0)
    system.parts.skills.change.delete("mail", LAPTOP)
    system.classifier.answers["t"] = ClassifierUnavailable("away")
    system.classify(tool_id)
    assert system.waiting("classify") == [str(tool_id)]


def test_decision_13_a_change_names_only_what_it_changes(system: System) -> None:
    system.create("mail", keywords=("letter",), examples=("send",), parent_domain="office")
    changed = system.change("mail", name="Letters")
    assert (changed.name, changed.description, changed.keywords, changed.examples, changed.parent_domain) == (
        "Letters",
        "All about mail.",
        ("letter",),
        ("send",),
        "office",
    )
    assert changed.updated_at > changed.created_at
    assert system.change("mail", parent_domain=None, keywords=[]).keywords == ()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "n" * 256),
        ("name", None),
        ("description", "d" * 9),
        ("description", "d" * 1001),
        ("keywords", ["k"] * 21),
        ("keywords", ["K"]),
        ("keywords", None),
        ("examples", ["e"] * 11),
        ("parent_domain", "p" * 65),
        ("is_active", None),
        ("is_active", 1),
        ("id", "other"),
        ("org_id", "acme"),
        ("tool_count", 0),
        ("name", "a\x00b"),
    ],
)
def test_decision_13_a_change_is_held_to_the_same_limits(system: System, field: str, value: Any) -> None:
    before = system.create("mail")
    with pytest.raises(InvalidInput) as refused:
        system.change("mail", **{field: value})
    assert refused.value.field.split(".")[0] in {field, "body"}
    assert system.parts.skills.read.get("mail", LAPTOP) == before


def test_decision_13_of_two_changes_at_once_neither_is_lost(system: System) -> None:
    system.create("mail")
    changes = [{"name": "Letters"}, {"keywords": ["letter"]}, {"parent_domain": "office"}, {"is_active": False}]
    in_threads(4, lambda place: system.change("mail", **changes[place]))
    skill = system.parts.skills.read.get("mail", LAPTOP)
    assert (skill.name, skill.keywords, skill.parent_domain, skill.is_active) == (
        "Letters",
        ("letter",),
        "office",
        False,
    )


def test_decision_13_a_skill_that_is_deleted_while_it_is_changed_stays_deleted(system: System) -> None:
    system.create("mail")
    system.database.before_transact = once(lambda: system.parts.skills.change.delete("mail", LAPTOP))
    with pytest.raises(NotFound):
        system.change("mail", name="Letters")
    with pytest.raises(NotFound):
        system.parts.skills.read.get("mail", LAPTOP)


def test_decision_13_only_a_new_name_or_description_is_embedded(system: System) -> None:
    system.create("mail")
    system.embedder.calls.clear()
    system.change("mail", keywords=["letter"], parent_domain="office", is_active=False)
    assert system.embedder.calls == []
    system.change("mail", name="Letters")
    assert system.embedder.texts == ["Letters: All about mail."]


# 14: reserved ids


@pytest.mark.parametrize("reserved", ["classify", "suggestions"])
def test_decision_14_no_suggestion_becomes_a_skill_with_a_reserved_id(system: System, reserved: str) -> None:
    system.classifier.answers["t"] = proposing(reserved.title())
    system.classify(*system.put("t"))
    skill = system.parts.skills.review.approve(1, {}, LAPTOP).skill
    assert (skill.id, skill.name) == (f"{reserved}_skill", reserved.title())


# 15: which assignments


def test_decision_15_unknown_and_inactive_skills_take_nobodys_place(system: System) -> None:
    for name in ("calendar", "mail", "maps", "off"):
        system.create(name)
    system.change("off", is_active=False)
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(unknown=0.99, off=0.98, mail=0.7, maps=0.6, calendar=0.5)
    system.classify(tool_id)
    assert system.skills_of(tool_id) == ["mail", "maps", "calendar"]


# 16: suggestions


def test_decision_16_a_suggestion_has_name_description_and_the_reasoning_if_there_is_one(system: System) -> None:
    a, b = system.put("a", "b")
    system.classifier.answers = {
        "a": Classification((), SkillDraft("Video", "Tools for video.", "all about video")),
        "b": Classification((), SkillDraft("Sound", "Tools for sound.")),
    }
    outcomes = system.classify(a, b)
    assert [outcome.suggestion for outcome in outcomes] == [
        SkillDraft("Video", "Tools for video.", "all about video"),
        SkillDraft("Sound", "Tools for sound."),
    ]
    assert [each.reasoning for each in system.suggestions()] == ["all about video", None]


def test_decision_16_what_cannot_be_stored_of_a_language_models_answer_does_not_keep_the_tools(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    bad = "be\x00cause \ud800"
    chat = FakeChat({"assignments": [{"skill_id": "mail", "confidence": 0.9, "reasoning": bad}]})
    with lent_system(database_url, edge_indexes, classifier=LlmClassifier(chat)) as system:
        system.create("mail")
        a, b = system.put("a", "b")
        system.classify(a)
        assert system.skills_of(a) == ["mail"]
        new = {"name": f"Video {bad}", "description": f"Tools for video {bad}", "reasoning": bad}
        chat.reply = {"assignments": [], "primary_skill_id": None, "suggested_new_skill": new}
        system.classify(b)
        assert len(system.suggestions()) == 1


# 17: unchanged tools


@pytest.mark.parametrize(
    ("change", "is_asked"),
    [
        ({}, False),
        ({"tags": ["x"], "metadata": {"a": 1}}, False),
        ({"annotations": {"readOnlyHint": True}}, False),
        ({"input_schema": {"properties": {}, "type": "object"}}, False),  # the same in another order
        ({"description": "Something else."}, True),
        ({"input_schema": {"type": "object", "properties": {"x": {}}}}, True),
    ],
    ids=["nothing", "tags", "annotations", "order", "description", "schema"],
)
def test_decision_17_only_name_description_and_schema_make_a_tool_another(
    system: System, change: dict[str, Any], is_asked: bool
) -> None:
    said: dict[str, Any] = {"input_schema": {"type": "object", "properties": {}}}
    [tool_id] = system.put("t", **said)
    system.classify(tool_id)
    system.put("t", **(said | change))
    system.classify(tool_id)
    assert len(system.classifier.asked) == (2 if is_asked else 1)


def test_decision_17_another_classifier_looks_again(database_url: str, edge_indexes: EdgeIndexes) -> None:
    classifier = ScriptedClassifier({"t": proposing(mail=0.9)}, name="first")
    with lent_system(database_url, edge_indexes, classifier=classifier) as system:
        system.create("mail")
        system.create("maps")
        [tool_id] = system.put("t")
        system.classify(tool_id)
        classifier.name = "second"
        classifier.answers["t"] = proposing(maps=0.9)
        assert [each.decision for each in system.classify(tool_id)] == [Decision.CLASSIFIED]
        assert system.skills_of(tool_id) == ["maps"]
        assert system.rows("SELECT classifier FROM mcp.tool_classifications") == [["second"]]


def test_decision_17_a_change_that_says_nothing_new_is_taken_from_the_queue(system: System) -> None:
    [tool_id] = system.put("t")
    system.classify(tool_id)
    system.put("t", description="Other.")
    system.put("t")
    assert system.waiting("classify") == [str(tool_id)]
    assert [each.decision for each in system.classify(tool_id)] == [Decision.UNCHANGED]
    assert system.waiting("classify") == []


# 19: never a gap


def test_decision_19_until_the_new_assignments_are_stored_the_old_ones_are_searched(
    system: System, database_url: str
) -> None:
    for name in ("calendar", "mail", "maps"):
        system.create(name)
    tool_id = system.tool("t", at(0.9))
    system.classifier.answers["t"] = proposing(mail=0.9, maps=0.8)
    system.classify(tool_id)
    seen: dict[str, list[Any]] = {}

    def look(moment: str, sql: Sql) -> None:
        [tool] = system.search(strategy="direct").tools
        seen[moment] = [
            tool.skill_ids,
            tool.primary_skill_id,
            [row[0] for row in sql("SELECT skill_key FROM mcp.tool_skill_assignments ORDER BY 1")],
        ]

    # WHEN it is classified anew, and others look while the classifier thinks, and when all is written
    with connected(database_url) as sql:
        system.classifier.answers["t"] = proposing(calendar=0.9, mail=0.8)
        system.classifier.while_asked = lambda tool: look("while asked", sql)
        system.database.before_commit = once(lambda: look("before the commit", sql))
        system.classify(tool_id, force=True)
        look("afterwards", sql)
    # THEN
    old = [["mail", "maps"], "mail", ["mail", "maps"]]
    new = [["calendar", "mail"], "calendar", ["calendar", "mail"]]
    assert seen == {"while asked": old, "before the commit": old, "afterwards": new}


def test_decision_19_a_sync_of_a_changed_tool_leaves_its_skills_until_it_is_classified(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    system.classify(tool_id)
    system.put("t", description="Something else.")
    assert system.search(strategy="direct").tools[0].skill_ids == ["mail"]


# 20: counts, and skills that come and go


def test_decision_20_the_count_is_counted_whoever_changed_the_rows(system: System) -> None:
    system.create("mail")
    ids = system.put("a", "b", "c")
    for tool_id in ids:
        system.assign(tool_id, mail=0.9)

    def counts() -> tuple[int, int]:
        [skill] = system.search().matched_skills
        return system.parts.skills.read.get("mail", LAPTOP).tool_count, skill.tool_count

    assert counts() == (3, 3)
    system.sql(f"UPDATE mcp.tools SET is_active = false WHERE id = {ids[0]}")
    assert counts() == (2, 2)
    system.sql(f"DELETE FROM mcp.tools WHERE id = {ids[1]}")
    assert counts() == (1, 1)
    system.sql("UPDATE mcp.tools SET is_active = true")
    assert counts() == (2, 2)


def test_decision_20_an_inactive_primary_gives_way_in_search_and_comes_back(system: System) -> None:
    system.create("mail")
    system.create("maps")
    tool_id = system.tool("t", at(0.9))
    system.assign(tool_id, mail=0.9, maps=0.7)
    system.change("mail", is_active=False)
    assert system.search(strategy="direct").tools[0].skill_ids == ["maps"]
    system.change("mail", is_active=True)
    [tool] = system.search(strategy="direct").tools
    assert (tool.skill_ids, tool.primary_skill_id) == (["mail", "maps"], "mail")


# 26: tenancy


def test_decision_26_an_organisations_tool_is_offered_global_skills_and_its_own(system: System) -> None:
    system.create("shared")
    system.create("of_acme", of_org("acme"))
    system.create("of_umbrella", of_org("umbrella"))
    a, b = system.put("a", caller=of_org("acme")) + system.put("b")
    system.classifier.answers = {"a": proposing(of_acme=0.9, of_umbrella=0.8), "b": proposing(of_acme=0.9)}
    system.classify(a, b)
    offered = {tool.name: [skill.id for skill in skills] for tool, skills in system.classifier.asked}
    assert offered == {"a": ["of_acme", "shared"], "b": ["shared"]}
    assert (system.skills_of(a), system.skills_of(b)) == (["of_acme"], [])


def test_decision_26_tools_of_several_organisations_are_asked_about_at_once_and_stored_apart(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    # GIVEN a classifier that answers nobody before it is asked about all of them
    everywhere = proposing(of_acme=0.9, of_umbrella=0.8, shared=0.7)
    answers = {"a": everywhere, "b": everywhere, "c": everywhere, "d": proposing("Video")}
    classifier = ScriptedClassifier(answers, concurrency=4)
    together = threading.Barrier(4)

    def wait(tool: ToolProfile) -> None:
        together.wait(20)

    classifier.while_asked = wait
    acme, umbrella = of_org("acme"), of_org("umbrella")
    with lent_system(database_url, edge_indexes, classifier=classifier) as system:
        for skill_id, caller in (("shared", LAPTOP), ("of_acme", acme), ("of_umbrella", umbrella)):
            system.create(skill_id, caller)
        owners = {"a": acme, "b": umbrella, "c": LAPTOP, "d": acme}
        ids = [system.put(name, caller=owner)[0] for name, owner in owners.items()]
        # WHEN
        outcomes = system.classify(*ids)
        # THEN each has only skills that its organisation may have
        assert [each.tool_name for each in outcomes] == ["a", "b", "c", "d"]
        assert [system.skills_of(id_) for id_ in ids] == [
            ["of_acme", "shared"],
            ["of_umbrella", "shared"],
            ["shared"],
            [],
        ]
        # AND what was suggested belongs to the tool's
        assert [each.org_id for each in system.suggestions(caller=acme)] == ["acme"]
        assert system.suggestions(caller=umbrella) == system.suggestions() == []


def test_decision_26_changing_and_deleting_is_for_the_owner_alone(system: System) -> None:
    acme, umbrella = of_org("acme"), of_org("umbrella")
    system.create("shared")
    system.create("own", acme)
    for skill_id, caller, error in [
        ("shared", acme, Forbidden),
        ("own", umbrella, NotFound),
        ("own", LAPTOP, NotFound),
    ]:
        with pytest.raises(error):
            system.change(skill_id, caller, name="Mine")
        with pytest.raises(error):
            system.change(skill_id, caller, is_active=False)
        with pytest.raises(error):
            system.parts.skills.change.delete(skill_id, caller)
        with pytest.raises(error):
            system.parts.classification.describe(skill_id, caller)
    assert system.change("own", acme, name="Ours").name == "Ours"


def test_decision_26_classifying_at_once_is_for_the_owner_alone(system: System) -> None:
    acme = of_org("acme")
    [own], [shared] = system.put("own", caller=acme), system.put("shared")
    for_caller = system.parts.classification.classify.for_caller
    assert for_caller(own, acme).decision is Decision.SUGGESTED
    with pytest.raises(Forbidden):
        for_caller(shared, acme)
    for stranger in (of_org("umbrella"), LAPTOP):
        with pytest.raises(NotFound):
            for_caller(own, stranger)
    assert [tool.name for tool, _ in system.classifier.asked] == ["own"]


def test_decision_26_a_suggestion_belongs_to_its_tools_organisation(system: System) -> None:
    system.classify(*system.put("own", caller=of_org("acme")))
    assert [each.org_id for each in system.suggestions(caller=of_org("acme"))] == ["acme"]
    assert system.suggestions() == []


# Describing (option B): what the model is told, and what is made of its answer


def test_describing_tells_the_model_of_the_tools_and_stores_its_answer_as_a_suggestion(system: System) -> None:
    system.create("mail", keywords=("letter",))
    [tool_id] = system.put("send_letter")
    system.assign(tool_id, mail=1.0)
    system.chat.reply = {"description": f"  {'Letters. ' * 200}"}
    suggestion = system.parts.classification.describe("mail", LAPTOP)
    assert (suggestion.kind, suggestion.target_skill_id, suggestion.status) == ("description", "mail", "pending")
    assert 10 <= len(suggestion.suggested_description) <= 1000
    [(_, question)] = system.chat.asked
    assert all(word in question for word in ("send_letter", "letter", "All about mail."))


@pytest.mark.parametrize("answer", [{}, {"description": "short"}, {"description": 7}, {"description": None}])
def test_describing_with_an_answer_that_is_no_description_stores_nothing(
    system: System, answer: dict[str, Any]
) -> None:
    system.create("mail")
    system.chat.reply = answer
    with pytest.raises(ClassifierUnavailable):
        system.parts.classification.describe("mail", LAPTOP)
    assert system.suggestions() == []


def test_describing_without_a_language_model_is_a_conflict(system: System) -> None:
    system.create("mail")
    with pytest.raises(Conflict, match="SKILLROUTE_CHAT_PROVIDER"):
        DescribeSkill(system.database, None, system.notifier)("mail", LAPTOP)


def test_describing_an_unknown_skill_asks_nobody(system: System) -> None:
    with pytest.raises(NotFound):
        system.parts.classification.describe("unknown", LAPTOP)
    assert system.chat.asked == []


def test_describing_a_skill_that_is_deleted_while_the_model_thinks_suggests_nothing(system: System) -> None:
    system.create("mail")
    system.chat.reply = {"description": "Reading and sending letters."}
    system.chat.while_asked = lambda: system.parts.skills.change.delete("mail", LAPTOP)
    with pytest.raises(NotFound, match="mail"):
        system.parts.classification.describe("mail", LAPTOP)
    assert system.rows("SELECT count(*) FROM mcp.skill_suggestions") == [[0]]
    assert system.notifier.events == []
