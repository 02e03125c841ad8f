"""BR-006 of skill-contract: what people assign, and that it stays (decision 18)."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import Forbidden, NotFound
from skillroute.skills.classification.model import Decision
from skillroute.skills.model import Assignment, AssignmentSource

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, ScriptedClassifier, at, once, proposing


@pytest.fixture(autouse=True)
def skills(system: System) -> list[str]:
    return [system.create(name).id for name in ("calendar", "mail", "maps")]


def test_br_006_a_tool_that_nobody_had_classified_is_assigned_manually(system: System) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=0.9)
    assert system.assigned(tool_id) == {"mail": (0.9, True, "human_manual")}


def test_br_006_a_classifiers_assignments_are_overridden(system: System) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9, maps=0.8)
    system.classify(tool_id)
    # WHEN a person chooses a skill that no classifier proposed
    system.assign(tool_id, calendar=1.0)
    assert system.assigned(tool_id) == {"calendar": (1.0, True, "human_override")}


def test_br_006_a_person_who_corrects_themselves_goes_on_assigning(system: System) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=0.9)
    system.assign(tool_id, maps=0.7)
    assert system.assigned(tool_id) == {"maps": (0.7, True, "human_manual")}


def test_br_006_a_person_may_be_certain_and_is_so_unless_they_say_otherwise(system: System) -> None:
    [tool_id] = system.put("t")
    assigned = system.parts.skills.assign.of_tool(tool_id, [Assignment("mail", 1.0)], LAPTOP)
    assert [(each.skill_id, each.confidence, each.is_primary) for each in assigned.skills] == [("mail", 1.0, True)]


def test_br_006_the_embeddings_of_the_skills_follow(system: System) -> None:
    tool_id = system.tool("t", at(0.4))
    system.assign(tool_id, mail=1.0)
    assert system.vector("mail") == pytest.approx(at(0.4))


@pytest.mark.parametrize("given", [{"mail": 1.0}, {}], ids=["a skill", "no skill"])
@pytest.mark.parametrize("change", [None, "says something else"])
def test_br_006_no_sync_and_no_batch_replaces_what_a_person_decided(
    system: System, given: dict[str, float], change: str | None
) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, **given)
    # WHEN it is synced again and its work is done, and the relay looks for what was lost
    if change:
        system.put("t", description=change)
    system.classifier.answers["t"] = proposing(maps=0.99)
    [outcome] = system.classify(tool_id)
    system.sql("UPDATE mcp.tools SET created_at = created_at - interval '1 year'")
    system.parts.relay()
    # THEN
    assert outcome.decision is Decision.HUMAN
    assert [each.skill_id for each in outcome.assignments] == list(given)
    assert (system.skills_of(tool_id), system.waiting("classify"), system.classifier.asked) == (list(given), [], [])


@pytest.mark.parametrize("given", [{"mail": 1.0}, {}], ids=["a skill", "no skill"])
def test_br_006_force_replaces_what_a_person_decided(system: System, given: dict[str, float]) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, **given)
    system.classifier.answers["t"] = proposing(maps=0.9)
    [outcome] = system.classify(tool_id, force=True)
    assert outcome.decision is Decision.CLASSIFIED
    assert system.assigned(tool_id) == {"maps": (0.9, True, "llm_auto")}
    # AND from then on it is a classifier's again
    system.put("t", description="says something else")
    system.classifier.answers["t"] = proposing(calendar=0.9)
    system.classify(tool_id)
    assert system.skills_of(tool_id) == ["calendar"]


def test_br_006_what_a_person_decided_is_no_evidence_for_itself_once_it_is_forced(system: System) -> None:
    # GIVEN two tools that a person gave a skill, and one that is alone in another
    [here] = system.tools([("here", at(1.0))])
    [there] = system.tools([("there", at(0.0))])
    [alone] = system.tools([("alone", at(0.5))])
    system.assign(here, mail=1.0)
    system.assign(there, mail=1.0)
    system.assign(alone, maps=1.0)
    # WHEN they are forced
    system.classify(there, force=True)
    system.classify(alone, force=True)
    # THEN the classifier sees each skill as the other tools make it
    (_, for_there), (_, for_alone) = system.classifier.asked[-2:]
    assert {skill.id: skill.centroid for skill in for_there}["mail"] == pytest.approx(at(1.0), abs=1e-6)
    assert {skill.id: skill.centroid for skill in for_alone}["maps"] is None


def test_br_006_force_on_one_tool_leaves_the_others(system: System) -> None:
    a, b = system.put("a", "b")
    system.assign(a, mail=1.0)
    system.assign(b, mail=1.0)
    system.classifier.answers = {"a": proposing(maps=0.9), "b": proposing(maps=0.9)}
    system.classify(a, force=True)
    assert (system.skills_of(a), system.skills_of(b)) == (["maps"], ["mail"])


@pytest.mark.parametrize("given", [{"mail": 1.0}, {}], ids=["a skill", "no skill"])
def test_br_006_a_person_who_decides_while_the_classifier_thinks_is_not_overruled(
    system: System, given: dict[str, float]
) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(maps=0.99)
    assign = once(lambda: system.assign(tool_id, **given))
    system.classifier.while_asked = lambda tool: assign()
    [outcome] = system.classify(tool_id)
    assert (outcome.decision, system.skills_of(tool_id)) == (Decision.HUMAN, list(given))
    assert system.waiting("classify") == []


@pytest.mark.parametrize("before", [None, {"calendar": 1.0}, {}], ids=["nobody", "a skill", "no skill"])
@pytest.mark.parametrize("given", [{"mail": 1.0}, {}], ids=["a skill", "no skill"])
def test_br_006_force_does_not_overrule_a_person_who_decides_while_the_classifier_thinks(
    system: System, before: dict[str, float] | None, given: dict[str, float]
) -> None:
    [tool_id] = system.put("t")
    if before is not None:
        system.assign(tool_id, **before)
    system.classifier.answers["t"] = proposing(maps=0.99)
    assign = once(lambda: system.assign(tool_id, **given))
    system.classifier.while_asked = lambda tool: assign()
    [outcome] = system.classify(tool_id, force=True)
    assert (outcome.decision, system.skills_of(tool_id)) == (Decision.HUMAN, list(given))
    # AND who forces it from then on knows of it
    assert [each.decision for each in system.classify(tool_id, force=True)] == [Decision.CLASSIFIED]
    assert system.skills_of(tool_id) == ["maps"]


def test_br_006_another_classifier_does_not_replace_it_either(database_url: str, edge_indexes: EdgeIndexes) -> None:
    other = ScriptedClassifier({"t": proposing(maps=0.9)}, name="other", source=AssignmentSource.SIMILARITY)
    with lent_system(database_url, edge_indexes, classifier=other) as system:
        [tool_id] = system.put("t")
        system.assign(tool_id, mail=1.0)
        assert [each.decision for each in system.classify(tool_id)] == [Decision.HUMAN]


def test_br_006_assignments_that_were_made_by_hand_before_there_was_a_record_of_it_stay_too(system: System) -> None:
    tool_id = system.tool("t", at(0.5), skills=["mail"])
    assert system.rows("SELECT count(*) FROM mcp.tool_classifications") == [[0]]
    assert [each.decision for each in system.classify(tool_id)] == [Decision.HUMAN]


def test_br_006_what_was_assigned_by_hand_is_what_classifiers_learn_from(system: System) -> None:
    by_hand, by_classifier, asked = system.tools([("by_hand", at(0.4)), ("by_classifier", at(0.6)), ("asked", None)])
    system.assign(by_hand, mail=1.0)
    system.classifier.answers["by_classifier"] = proposing(mail=0.9)
    system.classify(by_classifier)
    system.classify(asked)
    offered = {skill.id: skill for skill in system.classifier.asked[-1][1]}
    assert offered["mail"].centroid == pytest.approx(at(0.4))
    assert offered["maps"].centroid is None


def test_br_006_an_organisation_assigns_its_own_tools_to_global_skills_and_its_own(system: System) -> None:
    acme, umbrella = of_org("acme"), of_org("umbrella")
    system.create("of_acme", acme)
    [own] = system.put("own", caller=acme)
    [shared] = system.put("shared")
    system.assign(own, acme, of_acme=0.9, mail=0.8)
    assert system.skills_of(own) == ["of_acme", "mail"]
    with pytest.raises(Forbidden):
        system.assign(shared, acme, mail=1.0)
    with pytest.raises(NotFound):
        system.assign(own, umbrella, mail=1.0)
    with pytest.raises(NotFound, match="of_acme"):
        system.assign(shared, LAPTOP, of_acme=1.0)
    [others] = system.put("others", caller=umbrella)
    with pytest.raises(NotFound, match="of_acme"):
        system.assign(others, umbrella, of_acme=1.0)


def test_br_006_a_tools_skills_are_listed_the_surest_first_with_who_assigned_them(system: System) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=0.6, maps=0.9)
    system.change("maps", is_active=False)
    listed = system.parts.skills.assign.of_item(tool_id, LAPTOP).skills
    assert [(each.skill_id, each.skill_name, each.is_active, each.is_primary) for each in listed] == [
        ("maps", "maps", False, True),
        ("mail", "mail", True, False),
    ]
    assert {each.source for each in listed} == {AssignmentSource.HUMAN_MANUAL}
    with pytest.raises(NotFound):
        system.parts.skills.assign.of_item(99, LAPTOP)
