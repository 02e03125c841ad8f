"""BR-003 of skill-contract: storing assignments."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import Conflict, InvalidInput, NotFound
from skillroute.core.errors.statement import StatementRejected
from skillroute.skills.model import MAX_TOOLS_PER_SKILL, Assignment

from tests.builders import System
from tests.doubles import LogRecords, at, proposing, succeed_at_once


@pytest.fixture
def skills(system: System) -> list[str]:
    return [system.create(name).id for name in ("calendar", "files", "mail", "maps", "notes", "video")]


def fill(system: System, skill_id: str, number: int) -> None:
    """Give a skill a number of tools by SQL."""
    system.sql(
        "INSERT INTO mcp.tools (name, type, content_hash) "
        f"SELECT 'filler_{skill_id}_' || n, 'tool', 'c' FROM generate_series(1, {number}) n"
    )
    system.sql(
        "INSERT INTO mcp.tool_skill_assignments (tool_id, skill_key, confidence, source) "
        f"SELECT id, '{skill_id}', 0.6, 'similarity' FROM mcp.tools WHERE name LIKE 'filler_{skill_id}_%'"
    )


def test_br_003_an_assignment_stores_tool_skill_confidence_primacy_source_and_moment(
    system: System, skills: list[str]
) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.8, maps=0.7)
    system.classify(tool_id)
    rows = system.rows(
        "SELECT tool_id, skill_key, confidence, is_primary, source, reasoning, assigned_at <= now() "
        "FROM mcp.tool_skill_assignments ORDER BY skill_key"
    )
    assert rows == [
        [tool_id, "mail", 0.8, True, "llm_auto", "because of mail", True],
        [tool_id, "maps", 0.7, False, "llm_auto", "because of maps", True],
    ]


def test_br_003_reclassifying_replaces_all_old_assignments(system: System, skills: list[str]) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9, maps=0.8, notes=0.7)
    system.classify(tool_id)
    system.classifier.answers["t"] = proposing(calendar=0.9, maps=0.6)
    system.classify(tool_id, force=True)
    assert system.assigned(tool_id) == {"calendar": (0.9, True, "llm_auto"), "maps": (0.6, False, "llm_auto")}


def test_br_003_reclassifying_to_nothing_leaves_nothing(system: System, skills: list[str]) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    system.classify(tool_id)
    system.classifier.answers["t"] = proposing()
    system.classify(tool_id, force=True)
    assert system.assigned(tool_id) == {}


def test_br_003_the_index_has_the_skills_and_the_primary_one(system: System, skills: list[str]) -> None:
    tool_id = system.tool("t", at(0.9))
    system.assign(tool_id, mail=0.6, maps=0.7)
    [hit] = system.search(strategy="direct").tools
    assert (hit.skill_ids, hit.primary_skill_id) == (["maps", "mail"], "maps")
    assert system.names(strategy="hierarchical", skill_limit=10) == ["t"]


def test_br_003_a_tool_has_many_skills_and_a_skill_many_tools(system: System, skills: list[str]) -> None:
    a, b = system.put("a", "b")
    system.assign(a, mail=0.9, maps=0.8)
    system.assign(b, mail=0.7, maps=0.9)
    assert system.skills_of(a) == ["mail", "maps"]
    assert system.skills_of(b) == ["maps", "mail"]
    assert system.parts.skills.read.get("mail", LAPTOP).tool_count == 2


def test_br_003_exactly_one_skill_is_primary_the_highest_and_of_equals_the_first_by_id(
    system: System, skills: list[str]
) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, maps=0.7, mail=0.7, notes=0.6)
    assert [primary for _, primary, _ in system.assigned(tool_id).values()] == [True, False, False]
    assert system.skills_of(tool_id)[0] == "mail"


def test_br_003_all_or_nothing_a_failure_at_the_end_leaves_everything_as_it_was(
    system: System, skills: list[str]
) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    system.classify(tool_id)
    decided = system.rows("SELECT * FROM mcp.tool_classifications")
    # WHEN the transaction that replaces them fails when all is written
    system.classifier.answers["t"] = proposing(maps=0.9, notes=0.8)

    def fail() -> None:
        raise StatementRejected("no room", state="53100", constraint=None)

    system.database.before_commit = fail
    with pytest.raises(StatementRejected):
        system.classify(tool_id, force=True)
    # THEN
    assert system.skills_of(tool_id) == ["mail"]
    assert system.rows("SELECT * FROM mcp.tool_classifications") == decided


# Limits


@pytest.mark.parametrize("number", [0, 1, 5])
def test_br_003_up_to_five_skills_by_hand(system: System, skills: list[str], number: int) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, **dict.fromkeys(skills[:number], 0.9))
    assert system.skills_of(tool_id) == skills[:number]


def test_br_003_six_skills_by_hand_are_refused_and_change_nothing(system: System, skills: list[str]) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=0.9)
    with pytest.raises(InvalidInput, match="at most 5"):
        system.assign(tool_id, **dict.fromkeys(skills, 0.9))
    assert system.skills_of(tool_id) == ["mail"]


@pytest.mark.parametrize("confidence", [0.0, 0.3, 1.0])
def test_br_003_a_person_may_be_as_sure_as_they_are(system: System, skills: list[str], confidence: float) -> None:
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=confidence)
    assert system.assigned(tool_id) == {"mail": (confidence, True, "human_manual")}


@pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan")])
def test_br_003_a_confidence_outside_0_to_1_is_refused(system: System, skills: list[str], confidence: float) -> None:
    [tool_id] = system.put("t")
    with pytest.raises(InvalidInput):
        system.assign(tool_id, mail=confidence)


def test_br_003_unknown_tools_and_skills_are_not_found_and_nothing_is_written(
    system: System, skills: list[str]
) -> None:
    [tool_id] = system.put("t")
    with pytest.raises(NotFound, match="unknown"):
        system.assign(tool_id, mail=0.9, unknown=0.8)
    with pytest.raises(NotFound, match="99"):
        system.assign(99, mail=0.9)
    assert system.rows("SELECT count(*) FROM mcp.tool_skill_assignments") == [[0]]


def test_br_003_a_reasoning_that_cannot_be_stored_is_refused(system: System, skills: list[str]) -> None:
    [tool_id] = system.put("t")
    for bad in ("a\x00b", "\ud800"):
        with pytest.raises(InvalidInput):
            system.parts.skills.assign({tool_id: [Assignment("mail", 0.9, bad)]}, LAPTOP)


def test_br_003_a_skill_may_have_10000_tools() -> None:
    assert MAX_TOOLS_PER_SKILL == 10_000


def test_br_003_a_skill_takes_its_last_tool_and_no_other(
    system: System, skills: list[str], log: LogRecords, most_tools: int
) -> None:
    fill(system, "mail", most_tools - 1)
    last, too_many, classified = system.put("last", "too_many", "classified")
    system.assign(last, mail=0.9)
    with pytest.raises(Conflict, match=f"at most {most_tools}"):
        system.assign(too_many, mail=0.9)
    assert system.skills_of(too_many) == []
    # AND whoever belongs to it already may be assigned again
    system.assign(last, mail=0.8)
    # AND a classifier's next best skill is taken instead
    system.classifier.answers["classified"] = proposing(mail=0.9, maps=0.7)
    system.classify(classified)
    assert system.skills_of(classified) == ["maps"]
    assert log.having("skills have no room for more tools")


def test_br_003_of_a_batch_each_tool_takes_only_the_room_that_it_needs(
    system: System, skills: list[str], most_tools: int
) -> None:
    # GIVEN room for one more tool in each of two skills
    fill(system, "mail", most_tools - 1)
    fill(system, "maps", most_tools - 1)
    a, b, c = system.put("a", "b", "c")
    # WHEN two tools are classified together, each into another of them
    system.classifier.answers = {"a": proposing(mail=0.9), "b": proposing(maps=0.9), "c": proposing(mail=0.9)}
    system.classify(a, b, c)
    # THEN each has its place, and who comes after them has not
    assert [system.skills_of(tool_id) for tool_id in (a, b, c)] == [["mail"], ["maps"], []]


def test_br_003_people_who_assign_several_tools_need_room_only_for_those_of_a_skill(
    system: System, skills: list[str], most_tools: int
) -> None:
    fill(system, "mail", most_tools - 1)
    a, b, c = system.put("a", "b", "c")
    system.parts.skills.assign({a: [Assignment("mail", 0.9)], b: [Assignment("maps", 0.9)]}, LAPTOP)
    assert (system.skills_of(a), system.skills_of(b)) == (["mail"], ["maps"])
    with pytest.raises(Conflict):
        system.parts.skills.assign({c: [Assignment("mail", 0.9)], b: [Assignment("maps", 0.9)]}, LAPTOP)


def test_br_003_of_two_that_take_the_last_place_at_once_one_succeeds(
    system: System, skills: list[str], most_tools: int
) -> None:
    fill(system, "mail", most_tools - 1)
    ids = system.put("a", "b")

    def assign(place: int) -> None:
        system.parts.skills.assign({ids[place]: [Assignment("mail", 0.9)]}, LAPTOP)

    assert succeed_at_once(2, assign) == [False, True]
    assert system.rows("SELECT count(*) FROM mcp.tool_skill_assignments WHERE skill_key = 'mail'") == [[most_tools]]
