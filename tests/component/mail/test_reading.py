"""Reading, deleting and acknowledging: within what the caller may look at, and nothing else is told."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import Conflict, Forbidden, InvalidInput, NotFound
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind, MessageFilter
from skillroute.mail.sync import MAIL_KINDS

from tests.builders import System, of_org
from tests.worlds.mail import message, reader

ACME, UMBRELLA = of_org("acme"), of_org("umbrella")
EVERY = pytest.mark.parametrize("kind", MAIL_KINDS)

NOBODY = reader(None)
BLUE = reader("bluelake")


@pytest.fixture
def ids(office: System) -> dict[str, int]:
    """Two projects, a product of both and one of the second, an agent in each, and a message in each."""
    office.mail_outcome("project", key="vault", name="Vault")
    return {
        "product": office.mail_id("product", key="both", name="Both", projects=["atlas", "vault"]),
        "product2": office.mail_id("product", key="closed", name="Closed", projects=["vault"]),
        "agent": office.mail_id("agent", name="BlueLake", projects=["atlas"]),
        "agent2": office.mail_id("agent", name="RedStone", projects=["vault"]),
        "message": office.put_message("open"),
        "message2": office.put_message("closed", project="vault", **{"from": "RedStone"}),
        "project": office.mail_id("project", key="atlas", name="Atlas"),
        "project2": office.mail_id("project", key="vault", name="Vault"),
    }


@EVERY
def test_an_operator_sees_all_of_its_organisation(office: System, ids: dict[str, int], kind: MailKind) -> None:
    assert len(office.mail_keys(kind)) == (3 if kind == "agent" else 2)


@EVERY
def test_a_token_without_an_agent_sees_nothing(office: System, ids: dict[str, int], kind: MailKind) -> None:
    assert office.mail_keys(kind, NOBODY) == []
    with pytest.raises(NotFound):
        office.parts.mail.read.get(kind, ids[kind], NOBODY)


@EVERY
def test_a_token_of_an_agent_sees_what_belongs_to_its_projects(
    office: System, ids: dict[str, int], kind: MailKind
) -> None:
    mail = office.parts.mail.read
    expected = {"project": ["atlas"], "product": ["both"], "agent": ["BlueLake"], "message": ["open"]}
    assert office.mail_keys(kind, BLUE) == expected[kind]
    assert mail.get(kind, ids[kind], BLUE).id == ids[kind]
    # What it may not look at is as unknown as what never was.
    for id_ in (ids[f"{kind}2"], 10_000):
        for ask in (lambda id_=id_: mail.get(kind, id_, BLUE), lambda id_=id_: mail.delete(kind, id_, BLUE)):
            with pytest.raises(NotFound, match=f"^no {kind} with id {id_}$"):
                ask()


def test_projects_that_the_caller_may_not_see_are_told_of_nobody(office: System, ids: dict[str, int]) -> None:
    office.mail_outcome("agent", name="BlueLake", projects=["atlas"])
    office.mail_outcome("agent", name="RedStone", projects=["vault", "atlas"])
    mail = office.parts.mail.read
    product: Any = mail.get("product", ids["product"], BLUE)
    assert (product.content.projects, product.project_ids) == (("atlas",), (ids["project"],))
    agent = office.stored_agent(ids["agent2"], BLUE)
    assert (agent.content.projects, agent.project_ids) == (("atlas",), (ids["project"],))
    found, total = mail.agents(BLUE, project_id=ids["project2"], limit=10, offset=0)
    assert (found, total) == ([], 0)


def test_a_member_that_leaves_a_project_sees_it_no_more(office: System, ids: dict[str, int]) -> None:
    office.mail_outcome("agent", name="BlueLake", projects=["vault"])
    assert office.mail_keys("message", BLUE) == ["closed"]
    office.mail_outcome("agent", name="BlueLake")
    assert office.mail_keys("message", BLUE) == []


# Lists


WHERE: list[tuple[dict[str, Any], list[str]]] = [
    ({"key": "a"}, ["a"]),
    ({"thread_id": "T"}, ["a"]),
    ({"thread_id": "t"}, []),
    ({"sender": "bluelake"}, ["a"]),
    ({"recipient": "bluelake"}, ["b"]),
    ({"recipient": "quietriver"}, ["a"]),
    ({"importance": "high"}, ["b"]),
    ({"ack_required": True}, ["b"]),
    ({"ack_required": False}, ["a"]),
    ({"sender": "bluelake", "importance": "high"}, []),
    ({}, ["b", "a"]),
]


@pytest.mark.parametrize(("where", "keys"), WHERE, ids=str)
def test_a_list_of_messages_shows_what_meets_all_conditions_the_newest_first(
    office: System, where: dict[str, Any], keys: list[str]
) -> None:
    office.put_message("a", thread_id="T", bcc=["QuietRiver"], created_ts=1)
    office.put_message(
        "b", to=["BlueLake"], importance="high", ack_required=True, created_ts=2, **{"from": "GreenHill"}
    )
    found, total = office.parts.mail.read.messages(MessageFilter(**where), LAPTOP, limit=10, offset=0)
    assert ([each.content.key for each in found], total) == (keys, len(keys))


@EVERY
def test_a_page_beyond_the_end_still_says_how_many_there_are(
    office: System, ids: dict[str, int], kind: MailKind
) -> None:
    mail = office.parts.mail.read
    page: Any = {
        "project": mail.projects,
        "product": mail.products,
        "agent": mail.agents,
        "message": lambda caller, **rest: mail.messages(MessageFilter(), caller, **rest),
    }[kind]
    total = 3 if kind == "agent" else 2
    assert page(LAPTOP, limit=10, offset=10) == ([], total)
    first, again = page(LAPTOP, limit=1, offset=1)
    assert (len(first), again) == (1, total)


def test_agents_are_listed_by_name_in_any_spelling_and_by_project(office: System, ids: dict[str, int]) -> None:
    mail = office.parts.mail.read
    for where, names in (
        ({"name": " BLUElake"}, ["BlueLake"]),
        ({"name": "Blue"}, []),
        ({"project_id": ids["project2"]}, ["RedStone"]),
        ({"name": "BlueLake", "project_id": ids["project2"]}, []),
    ):
        found, total = mail.agents(LAPTOP, limit=10, offset=0, **where)  # type: ignore[arg-type]
        assert ([each.content.name for each in found], total) == (names, len(names))


# Deleting


def test_what_is_deleted_is_gone_and_the_index_forgets_it(office: System, ids: dict[str, int]) -> None:
    mail = office.parts.mail.read
    for kind in reversed(MAIL_KINDS):
        for name in (kind, f"{kind}2"):
            mail.delete(kind, ids[name], LAPTOP)
            with pytest.raises(NotFound):
                mail.get(kind, ids[name], LAPTOP)
            with pytest.raises(NotFound):
                mail.delete(kind, ids[name], LAPTOP)
    # GreenHill is left, who was only named.
    assert office.mail_keys("agent") == ["GreenHill"]
    with office.replica.current() as index:
        assert index.count(MAIL_DOCUMENTS) == 1
    assert office.findings() == []


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("project", "project", "messages belong to project"),
        ("agent", "agent", "has sent messages"),
        ("agent", "green", "has been sent messages"),
    ],
)
def test_what_messages_refer_to_stays(
    office: System, ids: dict[str, int], kind: MailKind, name: str, told: str
) -> None:
    [[ids["green"]]] = office.rows("SELECT id FROM mcp.mail_agents WHERE name_key = 'greenhill'")
    with pytest.raises(Conflict, match=told):
        office.parts.mail.read.delete(kind, ids[name], LAPTOP)
    assert office.parts.mail.read.get(kind, ids[name], LAPTOP)
    assert office.mail_payload(ids[name])["kind"] == kind


def test_a_deleted_product_leaves_its_projects(office: System, ids: dict[str, int]) -> None:
    office.parts.mail.read.delete("product", ids["product"], LAPTOP)
    assert office.mail_keys("project") == ["atlas", "vault"]


# Whose they are (decision 26)


@EVERY
def test_a_caller_sees_global_ones_and_its_own_and_changes_its_own(
    office: System, ids: dict[str, int], kind: MailKind
) -> None:
    mail = office.parts.mail.read
    for caller in (ACME, UMBRELLA):
        key = {"name": f"{caller.org_id}"} if kind == "agent" else {"key": f"{caller.org_id}", "name": "x"}
        if kind == "message":
            office.mail_outcome("project", caller, key="atlas", name="Atlas")
            key = message(f"{caller.org_id}")
        ids[f"{caller.org_id}"] = office.mail_id(kind, caller, **key)
    assert "acme" in office.mail_keys(kind, ACME)
    assert "umbrella" not in office.mail_keys(kind, ACME)
    with pytest.raises(Forbidden, match="global"):
        mail.delete(kind, ids[kind], ACME)
    for id_, caller in ((ids["umbrella"], ACME), (ids["acme"], LAPTOP)):
        with pytest.raises(NotFound):
            mail.get(kind, id_, caller)
        with pytest.raises(NotFound):
            mail.delete(kind, id_, caller)
    mail.delete(kind, ids["acme"], ACME)
    assert "acme" not in office.mail_keys(kind, ACME)


# Acknowledging


def test_whoever_got_a_message_acknowledges_it_once(office: System) -> None:
    id_ = office.put_message(to=["GreenHill"], cc=["RedStone"], bcc=["AmberHill"])
    mail = office.parts.mail.read
    first = mail.acknowledge(id_, "greenhill", LAPTOP).acknowledged
    assert list(first) == ["GreenHill"]
    assert mail.acknowledge(id_, "GreenHill", LAPTOP).acknowledged == first
    mail.acknowledge(id_, "REDSTONE", LAPTOP)
    assert set(mail.acknowledge(id_, "AmberHill", LAPTOP).acknowledged) == {"GreenHill", "RedStone", "AmberHill"}


@pytest.mark.parametrize("name", ["BlueLake", "Nobody"])
def test_nobody_else_does(office: System, name: str) -> None:
    id_ = office.put_message()
    with pytest.raises(InvalidInput, match="is not a recipient of the message") as refused:
        office.parts.mail.read.acknowledge(id_, name, LAPTOP)
    assert refused.value.field == "agent"
    assert office.stored_message(id_).acknowledged == {}


def test_what_a_caller_may_not_look_at_it_does_not_acknowledge(office: System, ids: dict[str, int]) -> None:
    acknowledge = office.parts.mail.read.acknowledge
    for id_, caller in ((ids["message2"], BLUE), (10_000, BLUE), (ids["message"], NOBODY)):
        with pytest.raises(NotFound, match=f"^no message with id {id_}$"):
            acknowledge(id_, "GreenHill", caller)
    with pytest.raises(Forbidden, match="global"):
        acknowledge(ids["message"], "GreenHill", ACME)


def test_a_caller_of_another_organisation_s_agent_of_the_name_sees_its_own(office: System) -> None:
    office.mail_outcome("project", ACME, key="atlas", name="Atlas")
    office.mail_outcome("agent", ACME, name="BlueLake", projects=["atlas"])
    office.put_message("theirs", ACME)
    office.put_message("ours")
    assert office.mail_keys("message", reader("BlueLake", "acme")) == ["theirs"]
    assert office.mail_keys("message", BLUE) == []
