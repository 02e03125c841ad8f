"""Decision 29: an organisation does not see a global skill whose id one of its own has; all others do."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from skillroute.catalogue.model import ItemFilter
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import Conflict, Forbidden
from skillroute.skills.classification.model import Decision
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import QUERY, System
from tests.component.skills.organisations import ACME, GLOBEX, listed, matched, members
from tests.doubles import at, once, proposing
from tests.integration.rows import waits_for_a_lock


@pytest.fixture
def shadowed(system: System) -> System:
    """A skill email of acme's with a tool, and then a global one, with a tool of everybody's and one of globex's."""
    system.skill("email", at(0.9), org="acme", name="of acme", description="Schedule a meeting: acme's.")
    system.tool("of_acme", at(0.8), skills=["email"], org="acme", description="schedule a meeting")
    system.create("email", LAPTOP, name="of all", description="Schedule a meeting: everybody's.")
    system.skill("files", at(0.7), name="files of all", description="Schedule a meeting with files.")
    system.tool("of_all", at(0.8), skills=["files", "email"], description="schedule a meeting")
    system.tool("of_globex", at(0.8), skills=["email"], org="globex", description="schedule a meeting")
    return system


def test_a_global_skill_is_created_whoever_has_its_id_and_hidden_from_them(shadowed: System) -> None:
    """Decision 29: to refuse it would tell of the organisation."""
    assert listed(shadowed, ACME) == {"email": ("acme", 1), "files": (None, 1)}
    assert listed(shadowed, GLOBEX) == {"email": (None, 2), "files": (None, 1)}
    assert listed(shadowed, LAPTOP) == {"email": (None, 1), "files": (None, 1)}
    for caller, name in ((ACME, "of acme"), (GLOBEX, "of all"), (LAPTOP, "of all")):
        assert shadowed.parts.skills.read.get("email", caller).name == name
        for mode in ("semantic", "lexical", "hybrid"):
            assert matched(shadowed, caller, mode=mode)["email"][0] == name
    with pytest.raises(Forbidden):
        shadowed.change("email", GLOBEX, name="Mine")
    assert shadowed.change("email", ACME, name="ours").org_id == "acme"
    assert shadowed.parts.verify().findings == []


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_a_global_skill_is_hidden_with_its_tools(shadowed: System, mode: str) -> None:
    assert members(shadowed, "email", ACME) == ["of_acme"]
    assert members(shadowed, "email", GLOBEX) == ["of_all", "of_globex"]
    assert members(shadowed, "email", LAPTOP) == ["of_all"]

    def seen(caller: Caller, strategy: str) -> dict[str, tuple[list[str], str | None]]:
        found = shadowed.search(caller=caller, strategy=strategy, mode=mode, limit=50, skill_limit=10).tools
        return {tool.name: (tool.skill_ids, tool.primary_skill_id) for tool in found}

    # What is in both is in the other one alone for acme.
    for strategy in ("direct", "hierarchical", "hybrid"):
        assert seen(ACME, strategy) == {"of_acme": (["email"], "email"), "of_all": (["files"], "files")}
        assert seen(GLOBEX, strategy)["of_all"] == (["files", "email"], "files")
    [shared] = [item for item in _items(shadowed, ACME) if item.content.key.name == "of_all"]
    assert (shared.skill_ids, shared.primary_skill_id) == (("files",), "files")
    for caller, skills in ((ACME, ["files"]), (GLOBEX, ["files", "email"])):
        assert [each.skill_id for each in shadowed.parts.skills.assign.of_item(shared.id, caller).skills] == skills


def _items(system: System, caller: Caller) -> list[Any]:
    return system.parts.catalogue.read.page(ItemFilter(), caller, limit=100, offset=0)[0]


def test_a_tool_that_a_query_names_leads_to_the_skills_that_the_caller_sees(shadowed: System) -> None:
    assert matched(shadowed, ACME, query="of_all", mode="lexical") == {"files": ("files of all", 1)}
    assert set(matched(shadowed, GLOBEX, query="of_all", mode="lexical")) == {"email", "files"}


def test_an_id_means_the_callers_own_skill_to_people_and_to_classifiers(shadowed: System) -> None:
    shadowed.classifier.answers["t"] = proposing(email=0.9)
    keys = {}
    for caller in (ACME, GLOBEX, LAPTOP):
        by_hand, by_classifier = *shadowed.put("by_hand", caller=caller), *shadowed.put("t", caller=caller)
        shadowed.assign(by_hand, caller, email=1.0)
        shadowed.classify(by_classifier)
        offered = {skill.id: skill.name for skill in shadowed.classifier.asked[-1][1]}
        assert offered["email"] == ("of acme" if caller is ACME else "of all")
        keys[caller.org_id] = shadowed.keys_of(by_hand) + shadowed.keys_of(by_classifier)
    assert keys == {"acme": ["email/acme"] * 2, "globex": ["email"] * 2, None: ["email"] * 2}


def test_an_inactive_skill_of_its_own_hides_the_global_one_as_well(shadowed: System) -> None:
    shadowed.change("email", ACME, is_active=False)
    assert listed(shadowed, ACME) == {"files": (None, 1)}
    assert listed(shadowed, ACME, is_active=False) == {"email": ("acme", 1)}
    assert set(matched(shadowed, ACME)) == {"files"}
    assert shadowed.parts.tool_search.tools(QUERY, ACME, skill_ids=["email"], threshold=0.0)[0] == []


def test_once_its_own_is_deleted_an_organisation_sees_the_global_one(shadowed: System) -> None:
    shadowed.parts.skills.change.delete("email", ACME)
    assert listed(shadowed, ACME) == {"email": (None, 1), "files": (None, 1)}
    assert matched(shadowed, ACME)["email"] == ("of all", 1)
    assert members(shadowed, "email", ACME) == ["of_all"]
    with pytest.raises(Conflict, match="is global"):
        shadowed.create("email", ACME)


def test_a_classifier_that_was_shown_another_skill_of_the_id_assigns_none(system: System) -> None:
    # GIVEN a tool of acme's, and a global skill that comes while the classifier thinks about acme's own
    system.create("email", ACME)
    [tool_id] = system.put("t", caller=ACME)
    system.classifier.answers["t"] = proposing(email=0.9)

    def replaced(_: object) -> None:
        system.parts.skills.change.delete("email", ACME)
        system.create("email")

    system.classifier.while_asked = replaced
    assert [each.decision for each in system.classify(tool_id)] == [Decision.SUGGESTED]
    assert system.keys_of(tool_id) == []


def test_a_described_skill_is_the_callers_own(shadowed: System) -> None:
    shadowed.chat.reply = {"description": "All that acme does by email."}
    suggestion = shadowed.parts.classification.describe("email", ACME)
    assert (suggestion.target_skill_id, suggestion.target_skill_key) == ("email", "email/acme")
    accepted = shadowed.parts.skills.review.approve(suggestion.id, {}, ACME)
    assert (accepted.skill.org_id, accepted.skill.description) == ("acme", "All that acme does by email.")
    assert shadowed.parts.skills.read.get("email", LAPTOP).description == "Schedule a meeting: everybody's."


def test_the_index_knows_skills_by_their_keys(shadowed: System) -> None:
    with shadowed.replica.current() as index:
        skills = index.payloads(SKILL_DOCUMENTS, ["email", "email/acme"])
    assert {key: skill["hidden_from"] for key, skill in skills.items()} == {"email": ["acme"], "email/acme": []}


@pytest.mark.parametrize("global_first", [True, False])
def test_of_an_organisation_and_a_global_skill_of_one_id_at_once_the_second_sees_the_first(
    system: System, global_first: bool
) -> None:
    """Else a tool could be in a global skill that its organisation no longer sees."""
    system.create("older")  # the first vector of all decides the model, which all wait for
    first, second = (LAPTOP, ACME) if global_first else (ACME, LAPTOP)
    refused: list[str] = []

    def create() -> None:
        try:
            system.create("email", second)
        except Conflict as error:
            refused.append(str(error))

    late = threading.Thread(target=create)

    def join() -> None:
        late.start()
        while late.is_alive() and not waits_for_a_lock(system.rows):
            pass

    system.database.before_commit = once(join)
    system.create("email", first)
    late.join(20)
    assert bool(refused) == global_first
    assert listed(system, ACME)["email"] == (None if global_first else "acme", 0)
    assert listed(system, LAPTOP)["email"] == (None, 0)
