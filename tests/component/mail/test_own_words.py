"""Without scope admin a token writes, changes and acknowledges as the one agent that it names (decision 31)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.model import Forbidden, NotFound
from skillroute.mail.model import MailKind
from skillroute.mail.sync import MAIL_KINDS

from tests.builders import System, of_org
from tests.worlds.mail import message, reader, statuses

MOLE, RAT, NOBODY = reader("Mole"), reader("Rat"), reader(None)
OPERATOR = Caller(scopes=frozenset({Scope.ADMIN}), agent="Boss")
OWN = {"from": "Mole", "to": ["Rat"]}


@pytest.fixture
def ids(office: System) -> dict[str, int]:
    """Mole and Rat belong to `atlas`, Rat and Toad to `river`; Mole has written to Rat, and Rat to Mole."""
    return {
        "river": office.mail_id("project", key="river", name="River"),
        "Mole": office.mail_id("agent", name="Mole", contact="mole@x.test", projects=["atlas"]),
        "Rat": office.mail_id(
            "agent", name="Rat", description="Rows.", contact="rat@x.test", projects=["atlas", "river"]
        ),
        "Toad": office.mail_id("agent", name="Toad", projects=["river"]),
        "mine": office.put_message("mine", **OWN),
        "his": office.put_message("his", **{"from": "Rat", "to": ["Mole"], "cc": ["Toad"]}),
    }


def refused(office: System, kind: MailKind, caller: Caller = MOLE, **fields: Any) -> tuple[str | None, str | None]:
    """Write one thing that must fail and change nothing, and return the field and the reason of the answer."""
    tables = "documents", "projects", "products", "agents", "messages", "recipients", "memberships"

    def everything() -> list[Any]:
        return [office.rows(f"SELECT xmin::text, t::text FROM mcp.mail_{each} t ORDER BY 2") for each in tables]

    before = everything()
    outcome = office.mail_outcome(kind, caller, **fields)
    assert (outcome.status, outcome.id, everything()) == ("failed", None, before)
    return outcome.field, outcome.reason


# Sending


def test_a_message_is_from_the_agent_that_the_token_names(office: System, ids: dict[str, int]) -> None:
    """Decision 31."""
    reason = "must be the agent that the token names"
    for sender in ("Rat", "Mole2", "Boss"):
        assert refused(office, "message", **message("new", **{"from": sender})) == ("from", reason)
    assert office.mail_outcome("message", MOLE, **message("new", **OWN)).status == "created"


@pytest.mark.parametrize("sender", ["MOLE", " mole ", "Ｍole"])
def test_the_sender_is_compared_as_names_of_agents_are(office: System, ids: dict[str, int], sender: str) -> None:
    id_ = office.put_message("new", MOLE, **{"from": sender})
    assert office.message_content(id_).sender == "Mole"


def test_one_forged_message_fails_alone(office: System, ids: dict[str, int]) -> None:
    forged = message("b", **{"from": "Rat", "to": ["Toad"]})
    report = office.put_mail("message", message("a", **OWN), forged, message("c", **OWN), caller=MOLE)
    assert statuses(report) == ["created", "failed", "created"]
    assert office.mail_keys("message", RAT) == ["mine", "his", "a", "c"]


def test_an_operator_sends_in_everybody_s_name(office: System, ids: dict[str, int]) -> None:
    assert office.mail_outcome("message", OPERATOR, **message("new", **{"from": "Rat"})).status == "created"
    assert office.mail_outcome("message", OPERATOR, **message("mine", **{"from": "Rat"})).status == "updated"


@pytest.mark.parametrize("agent", [None, "", "Mo\u200ble", "a\x07b"])
@pytest.mark.parametrize(
    ("kind", "field", "fields"),
    [
        ("message", "from", message("new", **OWN)),
        ("agent", "name", {"name": "New"}),
        ("project", "key", {"key": "new", "name": "New"}),
        ("product", "key", {"key": "new", "name": "New", "projects": ["atlas"]}),
    ],
    ids=MAIL_KINDS[::-1],
)
def test_a_token_that_names_no_agent_writes_nothing(
    office: System, ids: dict[str, int], kind: MailKind, field: str, fields: dict[str, Any], agent: str | None
) -> None:
    reason = "cannot be written: the token names no agent and lacks scope admin"
    assert refused(office, kind, reader(agent), **fields) == (field, reason)


# Changing


def test_a_message_is_its_sender_s_to_change(office: System, ids: dict[str, int]) -> None:
    """Decision 31."""
    taken = ("key", "is the key of another agent's message, which only its sender can change")
    for changed in (message("his", **OWN), message("his", subject="Other", **OWN)):
        assert refused(office, "message", **changed) == taken
    # AND not even written as it is, in the sender's name
    his = office.stored_message(ids["his"]).content
    same = {"from": "Rat", "to": ["Mole"], "cc": ["Toad"], "subject": his.subject, "body": his.body}
    assert refused(office, "message", **message("his", **same)) == taken
    assert office.mail_outcome("message", RAT, **message("his", **same)).status == "unchanged"
    assert office.mail_outcome("message", RAT, **message("his", **same | {"body": "New."})).status == "updated"
    assert office.mail_outcome("message", MOLE, **message("mine", subject="Other", **OWN)).status == "updated"


def test_a_message_keeps_its_sender(office: System, ids: dict[str, int]) -> None:
    assert refused(office, "message", **message("mine", **{"from": "Rat", "to": ["Mole"]}))[0] == "from"


def test_a_message_is_its_sender_s_to_delete(office: System, ids: dict[str, int]) -> None:
    """Decision 31."""
    delete = office.parts.mail.read.delete
    with pytest.raises(Forbidden, match=f"^message {ids['his']} is another agent's; only its sender "):
        delete("message", ids["his"], MOLE)
    with pytest.raises(NotFound):
        delete("message", ids["his"], NOBODY)
    delete("message", ids["mine"], reader("MOLE"))
    delete("message", ids["his"], OPERATOR)
    assert office.mail_keys("message") == []


# Acknowledging


def test_an_agent_acknowledges_for_itself(office: System, ids: dict[str, int]) -> None:
    """Decision 31."""
    acknowledge = office.parts.mail.read.acknowledge
    for name in ("Toad", "Rat", "Nobody"):
        with pytest.raises(Forbidden, match="an agent acknowledges for itself"):
            acknowledge(ids["his"], name, MOLE)
    assert office.stored_message(ids["his"]).acknowledged == {}
    assert list(acknowledge(ids["his"], "mole ", MOLE).acknowledged) == ["Mole"]
    assert set(acknowledge(ids["his"], "Toad", OPERATOR).acknowledged) == {"Mole", "Toad"}


# Agents


@pytest.mark.parametrize("field", ["description", "contact"])
@pytest.mark.parametrize("name", ["Rat", "rat", "New"])
def test_description_and_contact_of_an_agent_are_its_own_to_write(
    office: System, ids: dict[str, int], name: str, field: str
) -> None:
    fields = {"name": name, "projects": ["atlas"], field: "Mine."}
    assert refused(office, "agent", **fields) == (field, "can only be written by the agent itself")
    assert office.mail_outcome("agent", OPERATOR, **fields).status in {"created", "updated"}
    assert office.mail_outcome("agent", MOLE, name="MOLE", contact="new@x.test", projects=["atlas"]).status == "updated"
    mole = office.stored_agent(ids["Mole"]).content
    assert (mole.name, mole.contact) == ("MOLE", "new@x.test")


def test_an_agent_of_its_projects_is_brought_into_another_and_stays_who_it_is(
    office: System, ids: dict[str, int]
) -> None:
    new = office.mail_id("project", MOLE, key="new", name="New")
    for status in ("updated", "unchanged"):
        assert office.mail_outcome("agent", MOLE, name="RAT", projects=["new"]).status == status
    rat = office.stored_agent(ids["Rat"])
    assert (rat.content.name, rat.content.description, rat.content.contact) == ("Rat", "Rows.", "rat@x.test")
    assert sorted(rat.content.projects) == ["atlas", "new", "river"]
    assert new in office.mail_document(ids["Rat"], "project_ids")[0]
    assert office.is_mail_embedded(ids["Rat"])
    assert office.findings() == []


@pytest.mark.parametrize("projects", [[], ["atlas"]])
def test_nobody_takes_another_out_of_a_project(office: System, ids: dict[str, int], projects: list[str]) -> None:
    assert office.mail_outcome("agent", RAT, name="Mole", projects=projects).status == "unchanged"
    assert office.mail_outcome("agent", MOLE, name="Rat", projects=projects).status == "unchanged"
    assert sorted(office.stored_agent(ids["Rat"]).content.projects) == ["atlas", "river"]
    # AND an agent leaves as it likes
    assert office.mail_outcome("agent", RAT, name="Rat", projects=[]).status == "updated"
    assert office.stored_agent(ids["Rat"]).project_ids == ()


def test_an_agent_that_nobody_has_described_is_brought_in_and_one_out_of_sight_is_not(
    office: System, ids: dict[str, int]
) -> None:
    # GIVEN agents of no project: one that a message names, and one with a description
    office.put_message("new", MOLE, **{"from": "Mole", "to": ["Otter"]})
    office.mail_outcome("agent", name="Badger", description="Secret.")
    # THEN the first can be brought in; joining would show the description of the other
    assert office.mail_outcome("agent", MOLE, name="otter", projects=["atlas"]).status == "updated"
    assert office.mail_keys("message", reader("Otter")) == office.mail_keys("message", MOLE)
    assert refused(office, "agent", name="Badger", projects=["atlas"]) == ("name", "is taken")
    assert refused(office, "agent", name="Toad", projects=["atlas"]) == ("name", "is taken")
    assert office.mail_outcome("agent", reader("Badger"), name="Badger", contact="b@x.test").status == "updated"


def test_an_agent_is_its_own_to_delete(office: System, ids: dict[str, int]) -> None:
    delete = office.parts.mail.read.delete
    shrew = office.mail_id("agent", name="Shrew", projects=["atlas"])
    with pytest.raises(Forbidden, match=f"^agent {shrew} is another's"):
        delete("agent", shrew, MOLE)
    delete("agent", shrew, reader("Shrew"))
    assert "Shrew" not in office.mail_keys("agent")


# Projects and products


def test_a_project_that_others_belong_to_is_an_operator_s_to_delete(office: System, ids: dict[str, int]) -> None:
    delete = office.parts.mail.read.delete
    with pytest.raises(Forbidden, match=f"^other agents belong to project {ids['river']}"):
        delete("project", ids["river"], RAT)
    office.mail_outcome("agent", OPERATOR, name="Toad")
    delete("project", ids["river"], RAT)
    assert office.mail_keys("project") == ["atlas"]


def test_a_global_project_that_agents_of_an_organisation_belong_to_stays(office: System) -> None:
    shared = office.mail_id("project", MOLE, key="shared", name="Shared")
    # GIVEN another agent of the same name
    office.mail_outcome("agent", of_org("acme"), name="Mole", projects=["shared"])
    with pytest.raises(Forbidden):
        office.parts.mail.read.delete("project", shared, MOLE)
    office.mail_outcome("agent", of_org("acme"), name="Mole")
    office.parts.mail.read.delete("project", shared, MOLE)


@pytest.mark.parametrize(
    ("deleter", "left"), [(MOLE, ["river"]), (RAT, None), (LAPTOP, None)], ids=["of one", "of both", "operator"]
)
def test_a_deleted_product_keeps_the_projects_that_the_caller_may_not_look_at(
    office: System, ids: dict[str, int], deleter: Caller, left: list[str] | None
) -> None:
    both = {"key": "both", "name": "Both", "projects": ["atlas", "river"]}
    product = office.mail_id("product", **both)
    delete: Callable[..., None] = office.parts.mail.read.delete
    delete("product", product, deleter)
    assert office.mail_keys("product", deleter) == []
    found: Any = [office.parts.mail.read.get("product", product, LAPTOP)] if left else []
    assert [list(each.content.projects) for each in found] == ([left] if left else [])
    # AND writing it as it was changes it
    assert office.mail_outcome("product", **both).status == ("updated" if left else "created")
    assert office.mail_keys("product", MOLE) == ["both"]
