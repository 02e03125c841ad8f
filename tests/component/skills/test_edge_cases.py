"""EC-001 to EC-006 of skill-contract."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import NotFound
from skillroute.skills.classification.classifiers.llm import LlmClassifier
from skillroute.skills.classification.model import Classification, Decision, SkillProfile, ToolProfile

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, FakeChat, LogRecords, ScriptedClassifier, at, in_threads, once, proposing, until
from tests.integration.rows import waits_for_a_lock


class Varying(ScriptedClassifier):
    """Answers otherwise each time it is asked."""

    def __init__(self, answers: Sequence[Classification]) -> None:
        super().__init__()
        self._next: Iterator[Classification] = iter(answers)
        self._lock = threading.Lock()

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        with self._lock:
            answer = next(self._next)
        self.asked.append((tool, skills))
        self.while_asked(tool)
        return answer


# EC-001: concurrent classification


def test_ec_001_the_same_tool_in_many_processes_has_one_whole_answer_and_no_duplicates(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    sets = [{"mail": 0.9, "maps": 0.8}, {"calendar": 0.95}, {"maps": 0.7, "calendar": 0.6, "mail": 0.5}]
    answers = [proposing(**sets[number % 3]) for number in range(9)]
    with lent_system(database_url, edge_indexes, classifier=Varying(answers)) as system:
        for skill_id in ("calendar", "mail", "maps"):
            system.create(skill_id)
        [tool_id] = system.put("t")
        outcomes = in_threads(9, lambda _: system.classify(tool_id, force=True)[0])
        assert [outcome.decision for outcome in outcomes] == [Decision.CLASSIFIED] * 9
        assigned = system.assigned(tool_id)
        assert {skill_id: confidence for skill_id, (confidence, _, _) in assigned.items()} in sets
        assert [primary for _, primary, _ in assigned.values()] == [True, *[False] * (len(assigned) - 1)]
        assert system.waiting("classify") == []


def test_ec_001_the_last_write_wins(database_url: str, edge_indexes: EdgeIndexes) -> None:
    classifier = Varying([proposing(mail=0.9), proposing(maps=0.9)])
    with lent_system(database_url, edge_indexes, classifier=classifier) as system:
        system.create("mail")
        system.create("maps")
        [tool_id] = system.put("t")
        # GIVEN a second process that classifies, and is done, while the first one waits for its answer
        second = once(lambda: system.classify(tool_id))
        classifier.while_asked = lambda tool: second()
        system.classify(tool_id)
        # THEN the first, who wrote last, is believed
        assert system.assigned(tool_id) == {"mail": (0.9, True, "llm_auto")}


def test_ec_001_many_tools_in_many_processes_in_any_order(database_url: str, edge_indexes: EdgeIndexes) -> None:
    names = ["a", "b", "c", "d"]
    classifier = ScriptedClassifier({name: proposing(mail=0.9, maps=0.8) for name in names})
    with lent_system(database_url, edge_indexes, classifier=classifier) as system:
        system.create("mail")
        system.create("maps")
        ids = system.put(*names)
        in_threads(4, lambda place: system.classify(*(ids if place % 2 else reversed(ids)), force=True))
        assert [system.skills_of(tool_id) for tool_id in ids] == [["mail", "maps"]] * 4


def test_ec_001_a_tool_that_changes_while_it_is_classified_waits_again(system: System) -> None:
    system.create("mail")
    system.create("maps")
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    change = once(lambda: system.put("t", description="Says something else."))
    system.classifier.while_asked = lambda tool: change()
    [outcome] = system.classify(tool_id)
    # THEN nothing is stored of an answer to what it no longer says, and it is not lost
    assert (outcome.decision, system.assigned(tool_id)) == (Decision.OVERTAKEN, {})
    assert system.waiting("classify") == [str(tool_id)]
    assert system.rows("SELECT published_at FROM mcp.outbox WHERE queue = 'classify'") == [[None]]
    # AND the next time it is classified as it is
    system.classifier.answers["t"] = proposing(maps=0.9)
    system.classify(tool_id)
    assert (system.skills_of(tool_id), system.waiting("classify")) == (["maps"], [])
    assert system.classifier.asked[-1][0].description == "Says something else."


def test_ec_001_a_tool_that_is_deleted_while_it_is_classified_is_gone(system: System) -> None:
    system.create("mail")
    a, b = system.put("a", "b")
    system.classifier.answers = {"a": proposing(mail=0.9), "b": proposing(mail=0.9)}
    delete = once(lambda: system.parts.catalogue.read.delete(a, LAPTOP))
    system.classifier.while_asked = lambda tool: delete()
    outcomes = system.classify(a, b)
    assert [each.decision for each in outcomes] == [Decision.GONE, Decision.CLASSIFIED]
    assert system.skills_of(b) == ["mail"]
    assert system.waiting("classify") == []


# EC-002: a skill that is deleted while a tool is classified


def test_ec_002_a_skill_that_is_deleted_while_the_classifier_thinks_is_skipped(system: System) -> None:
    system.create("mail")
    system.create("maps")
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9, maps=0.7)
    delete = once(lambda: system.parts.skills.change.delete("mail", LAPTOP))
    system.classifier.while_asked = lambda tool: delete()
    [outcome] = system.classify(tool_id)
    assert outcome.decision is Decision.CLASSIFIED
    assert system.assigned(tool_id) == {"maps": (0.7, True, "llm_auto")}


def test_ec_002_when_it_was_the_only_one_nothing_is_assigned_and_nothing_fails(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    delete = once(lambda: system.parts.skills.change.delete("mail", LAPTOP))
    system.classifier.while_asked = lambda tool: delete()
    [outcome] = system.classify(tool_id)
    assert (system.assigned(tool_id), outcome.assignments) == ({}, ())
    assert len(system.suggestions()) == 1


def test_ec_002_a_skill_that_is_deactivated_while_the_classifier_thinks_is_skipped_too(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    deactivate = once(lambda: system.change("mail", is_active=False))
    system.classifier.while_asked = lambda tool: deactivate()
    system.classify(tool_id)
    assert system.assigned(tool_id) == {}


def test_ec_002_a_skill_that_is_deleted_at_the_moment_of_storing_takes_the_assignment_with_it(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    deleting = threading.Thread(target=lambda: system.parts.skills.change.delete("mail", LAPTOP))

    def delete() -> None:
        deleting.start()
        until(lambda: waits_for_a_lock(system.rows))

    system.database.before_commit = once(delete)
    system.classify(tool_id)
    deleting.join(20)
    # THEN whoever deletes waited, saw the new member, and queued it to be classified again
    assert system.assigned(tool_id) == {}
    assert system.waiting("classify") == [str(tool_id)]
    assert system.rows("SELECT count(*) FROM mcp.tool_skill_assignments") == [[0]]


def test_ec_002_a_person_who_assigns_to_it_is_told_that_it_is_gone(system: System) -> None:
    system.create("mail")
    [tool_id] = system.put("t")
    system.database.before_transact = once(lambda: system.parts.skills.change.delete("mail", LAPTOP))
    with pytest.raises(NotFound, match="mail"):
        system.assign(tool_id, mail=1.0)
    assert system.assigned(tool_id) == {}


# EC-003: hallucination


@pytest.mark.parametrize("skill_id", ["invented", "inactive", "deleted", "of_acme", "Mail", "", "x" * 5000, "'; --"])
def test_ec_003_a_skill_that_was_not_offered_is_rejected_and_logged(
    system: System, log: LogRecords, skill_id: str
) -> None:
    for name in ("mail", "inactive", "deleted"):
        system.create(name)
    system.change("inactive", is_active=False)
    system.parts.skills.change.delete("deleted", LAPTOP)
    system.create("of_acme", of_org("acme"))
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(**{skill_id: 0.99}, mail=0.6)
    system.classify(tool_id)
    assert system.assigned(tool_id) == {"mail": (0.6, True, "llm_auto")}
    assert len(log.having("proposed skills rejected")) == 1


# EC-004: circular updates


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_ec_004_an_aggregation_calls_for_no_other(database_url: str, edge_indexes: EdgeIndexes, share: float) -> None:
    with lent_system(database_url, edge_indexes, skill_description_share=share) as system:
        system.create("mail")
        before = system.rows("SELECT updated_at FROM mcp.skill_categories")
        tool_id = system.tool("t", at(0.4), skills=["mail"])
        assert system.waiting("aggregate") == ["mail"]
        assert system.parts.aggregate_skill("mail") is True
        # THEN nothing waits, and nobody's copy of the skill is out of date
        assert system.waiting("aggregate") == []
        assert system.rows("SELECT updated_at FROM mcp.skill_categories") == before
        # AND another one changes nothing
        assert system.parts.aggregate_skill("mail") is False
        assert system.waiting("aggregate") == []
        assert system.skills_of(tool_id) == ["mail"]


def test_ec_004_what_waits_is_done_once_by_one_dispatch(system: System) -> None:
    system.create("mail")
    system.tool("t", at(0.4), skills=["mail"])
    assert [system.parts.dispatch(), system.parts.dispatch()] == [1, 0]


# EC-005: all tools removed


def test_ec_005_a_skill_that_lost_all_its_tools_is_found_by_its_description(system: System) -> None:
    system.create("mail")
    a, b = system.tools([("a", at(0.0)), ("b", at(0.1))])
    system.assign(a, mail=0.9)
    system.assign(b, mail=0.9)
    assert system.search().matched_skills == []
    system.assign(a)
    system.parts.catalogue.read.delete(b, LAPTOP)
    [skill] = system.search().matched_skills
    assert (skill.id, skill.tool_count, skill.score) == ("mail", 0, pytest.approx(1.0))


def test_ec_005_inactive_tools_are_none(system: System) -> None:
    system.create("mail")
    system.assign(system.tool("a", at(0.0)), mail=0.9)
    system.sql("UPDATE mcp.tools SET is_active = false")
    system.parts.dispatch()
    assert system.vector("mail") == at(1.0)


# EC-006: very long descriptions


def test_ec_006_a_description_of_more_than_10000_characters_is_cut_to_2000_for_the_language_model(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    chat = FakeChat(
        {
            "assignments": [{"skill_id": "mail", "confidence": 0.9, "reasoning": "r"}],
            "primary_skill_id": "mail",
            "suggested_new_skill": None,
        }
    )
    with lent_system(database_url, edge_indexes, classifier=LlmClassifier(chat)) as system:
        system.create("mail")
        [tool_id] = system.put("t", description="q" * 12_000)
        system.classify(tool_id)
        [(instructions, question)] = chat.asked
        asked = (instructions + question).count("q")
        assert 1_900 <= asked <= 2_050  # a few are of the prompt's own words
        assert system.skills_of(tool_id) == ["mail"]


def test_ec_006_a_change_beyond_the_cut_is_a_change_all_the_same(system: System) -> None:
    system.put("t", description="q" * 12_000 + "a")
    [tool_id] = system.put("t", description="q" * 12_000 + "a")
    system.classify(tool_id)
    system.put("t", description="q" * 12_000 + "b")
    assert system.waiting("classify") == [str(tool_id)]
    system.classify(tool_id)
    assert len(system.classifier.asked) == 2
