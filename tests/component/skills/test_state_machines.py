"""Both machines of skill-contract, State Machines: every transition that there is, and every one that there is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import Conflict, Forbidden, InvalidInput, NotFound
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import System, of_org
from tests.doubles import at, once, proposing

# Skills

SKILL_ACTIONS: dict[str, Callable[[System], Any]] = {
    "create": lambda system: system.create("mail"),
    "deactivate": lambda system: system.change("mail", is_active=False),
    "reactivate": lambda system: system.change("mail", is_active=True),
    "rename": lambda system: system.change("mail", name="Letters"),
    "delete": lambda system: system.parts.skills.change.delete("mail", LAPTOP),
}

SKILL_TRANSITIONS = [
    ("none", "create", "active"),
    ("none", "deactivate", NotFound),
    ("none", "reactivate", NotFound),
    ("none", "rename", NotFound),
    ("none", "delete", NotFound),
    ("active", "create", Conflict),
    ("active", "deactivate", "inactive"),
    ("active", "reactivate", "active"),
    ("active", "rename", "active"),
    ("active", "delete", "deleted"),
    ("inactive", "create", Conflict),
    ("inactive", "deactivate", "inactive"),
    ("inactive", "reactivate", "active"),
    ("inactive", "rename", "inactive"),
    ("inactive", "delete", "deleted"),
    ("deleted", "create", "active"),
    ("deleted", "deactivate", Conflict),
    ("deleted", "reactivate", Conflict),
    ("deleted", "rename", NotFound),
    ("deleted", "delete", NotFound),
]

WAYS_TO = {"none": (), "active": ("create",), "inactive": ("create", "deactivate"), "deleted": ("create", "delete")}


def state(system: System) -> str:
    rows = system.rows("SELECT is_active, deleted_at IS NOT NULL FROM mcp.skill_categories")
    if not rows:
        return "none"
    [[is_active, is_deleted]] = rows
    return "deleted" if is_deleted else "active" if is_active else "inactive"


@pytest.mark.parametrize(("before", "action", "after"), SKILL_TRANSITIONS)
def test_every_transition_of_a_skill(system: System, before: str, action: str, after: Any) -> None:
    for step in WAYS_TO[before]:
        SKILL_ACTIONS[step](system)
    assert state(system) == before
    if isinstance(after, str):
        SKILL_ACTIONS[action](system)
        assert state(system) == after
    else:
        with pytest.raises(after):
            SKILL_ACTIONS[action](system)
        assert state(system) == before


def test_an_active_skill_is_searched_and_offered_to_classifiers(system: System) -> None:
    system.create("mail")
    assert [skill.id for skill in system.search().matched_skills] == ["mail"]
    system.classify(*system.put("t"))
    assert [skill.id for skill in system.classifier.asked[0][1]] == ["mail"]


def test_an_inactive_skill_is_neither_searched_nor_offered_and_keeps_its_assignments(system: System) -> None:
    system.create("mail")
    tool_id = system.tool("t", at(0.9))
    system.assign(tool_id, mail=0.7)
    before = system.rows("SELECT * FROM mcp.tool_skill_assignments")
    system.change("mail", is_active=False)
    [tool] = system.search().tools  # by the fallback: there is no skill to be found
    assert (tool.skill_ids, tool.primary_skill_id) == ([], None)
    assert system.search().matched_skills == []
    system.classify(*system.put("u"))
    assert list(system.classifier.asked[0][1]) == []
    assert system.rows("SELECT * FROM mcp.tool_skill_assignments") == before
    # AND reactivated it is back in the very next search
    system.change("mail", is_active=True)
    [tool] = system.search(strategy="hierarchical").tools
    assert (tool.skill_ids, tool.primary_skill_id) == (["mail"], "mail")
    assert system.rows("SELECT * FROM mcp.tool_skill_assignments") == before


def test_a_deleted_skill_is_gone_from_every_query_and_its_tools_lose_it(system: System) -> None:
    system.create("mail")
    tool_id = system.tool("t", at(0.9))
    system.assign(tool_id, mail=0.7)
    system.parts.skills.change.delete("mail", LAPTOP)
    assert system.search().matched_skills == []
    assert system.search().tools[0].skill_ids == []
    assert system.parts.skills.assign.of_item(tool_id, LAPTOP).skills == ()
    assert system.rows("SELECT count(*) FROM mcp.tool_skill_assignments") == [[0]]
    for read in (system.parts.skills.read.get, system.parts.skills.change.delete):
        with pytest.raises(NotFound):
            read("mail", LAPTOP)


# Suggestions

ADMIN = LAPTOP
SUGGESTION_ACTIONS: dict[str, Callable[[System], Any]] = {
    "approve": lambda system: system.parts.skills.review.approve(1, {}, ADMIN),
    "reject": lambda system: system.parts.skills.review.reject(1, None, ADMIN),
    "merge": lambda system: system.parts.skills.review.merge(1, "mail", ADMIN),
}
RESULT = {"approve": "approved", "reject": "rejected", "merge": "merged"}


def suggestion_state(system: System) -> str:
    [[status]] = system.rows("SELECT status FROM mcp.skill_suggestions")
    return str(status)


@pytest.fixture
def suggestion(system: System) -> int:
    system.create("mail")
    [tool_id] = system.put("encode")
    system.classifier.answers["encode"] = proposing("Video")
    system.classify(tool_id)
    assert suggestion_state(system) == "pending"
    return tool_id


@pytest.mark.parametrize("action", SUGGESTION_ACTIONS)
def test_a_pending_suggestion_can_be_decided(system: System, suggestion: int, action: str) -> None:
    SUGGESTION_ACTIONS[action](system)
    assert suggestion_state(system) == RESULT[action]


@pytest.mark.parametrize("second", SUGGESTION_ACTIONS)
@pytest.mark.parametrize("first", SUGGESTION_ACTIONS)
def test_a_second_decision_is_a_conflict_that_names_the_first(
    system: System, suggestion: int, first: str, second: str
) -> None:
    SUGGESTION_ACTIONS[first](system)
    before = system.rows("SELECT * FROM mcp.skill_suggestions"), system.assigned(suggestion)
    with pytest.raises(Conflict, match=f"suggestion 1 is {RESULT[first]} already"):
        SUGGESTION_ACTIONS[second](system)
    assert (system.rows("SELECT * FROM mcp.skill_suggestions"), system.assigned(suggestion)) == before


@pytest.mark.parametrize("action", SUGGESTION_ACTIONS)
def test_an_unknown_suggestion_is_not_found(system: System, action: str) -> None:
    system.create("mail")
    with pytest.raises(NotFound):
        SUGGESTION_ACTIONS[action](system)


# Suggested descriptions


@pytest.fixture
def described(system: System) -> str:
    """A suggestion of another description for the skill mail, with the id 1."""
    system.create("mail")
    system.chat.reply = {"description": "Reading and sending letters."}
    system.parts.classification.describe("mail", LAPTOP)
    return "mail"


def test_a_description_that_is_approved_becomes_the_skills(system: System, described: str) -> None:
    reviewed = SUGGESTION_ACTIONS["approve"](system)
    assert (reviewed.skill.description, reviewed.assignment) == ("Reading and sending letters.", None)
    assert suggestion_state(system) == "approved"
    assert system.texts(SKILL_DOCUMENTS, "mail") == ["mail: Reading and sending letters."]


def test_a_description_can_be_edited_when_it_is_approved_and_nothing_else(system: System, described: str) -> None:
    with pytest.raises(InvalidInput):
        system.parts.skills.review.approve(1, {"name": "Letters"}, LAPTOP)
    reviewed = system.parts.skills.review.approve(1, {"description": "Letters and parcels."}, LAPTOP)
    assert reviewed.skill.description == "Letters and parcels."


def test_a_description_that_is_rejected_changes_nothing(system: System, described: str) -> None:
    SUGGESTION_ACTIONS["reject"](system)
    assert system.parts.skills.read.get("mail", LAPTOP).description == "All about mail."


def test_a_description_that_is_rejected_while_it_is_approved_changes_nothing(system: System, described: str) -> None:
    system.database.before_transact = once(lambda: SUGGESTION_ACTIONS["reject"](system))
    with pytest.raises(Conflict, match="rejected already"):
        SUGGESTION_ACTIONS["approve"](system)
    assert system.parts.skills.read.get("mail", LAPTOP).description == "All about mail."


def test_a_description_cannot_be_merged(system: System, described: str) -> None:
    with pytest.raises(Conflict):
        SUGGESTION_ACTIONS["merge"](system)
    assert suggestion_state(system) == "pending"


def test_a_description_is_never_taken_over_by_itself_and_a_newer_one_takes_its_place(
    system: System, described: str
) -> None:
    system.chat.reply = {"description": "Something about letters."}
    again = system.parts.classification.describe("mail", LAPTOP)
    assert again.id == 1
    [open_] = system.suggestions()
    assert (open_.suggested_description, open_.kind, open_.target_skill_id) == (
        "Something about letters.",
        "description",
        "mail",
    )
    assert system.parts.skills.read.get("mail", LAPTOP).description == "All about mail."
    assert [each["skill_id"] for each in system.notifier.details("suggestion_created")] == ["mail", "mail"]


def test_a_deleted_skill_takes_the_description_that_waits_for_it_along(system: System, described: str) -> None:
    # A skill that is created again under the id must not find another one's description waiting.
    system.parts.skills.change.delete("mail", LAPTOP)
    system.create("mail")
    assert system.suggestions() == []


def test_an_organisations_suggestions_are_decided_by_it_alone(system: System) -> None:
    acme, umbrella = of_org("acme"), of_org("umbrella")
    system.create("mail")
    for org, name in ((None, "shared"), ("acme", "own")):
        [tool_id] = system.put(name, caller=of_org(org))
        system.classifier.answers[name] = proposing(f"Skill for {name}")
        system.classify(tool_id)
    review = system.parts.skills.review
    assert [each.id for each in system.suggestions(caller=acme)] == [1, 2]
    assert [each.id for each in system.suggestions(caller=umbrella)] == [1]
    assert [each.id for each in system.suggestions(caller=LAPTOP)] == [1]
    for decide in (
        lambda id_, caller: review.approve(id_, {}, caller),
        lambda id_, caller: review.reject(id_, None, caller),
        lambda id_, caller: review.merge(id_, "mail", caller),
    ):
        with pytest.raises(Forbidden):
            decide(1, acme)
        for stranger in (umbrella, LAPTOP):
            with pytest.raises(NotFound):
                decide(2, stranger)
    assert review.approve(2, {}, acme).skill.org_id == "acme"
