"""Whoever is no operator writes within what it may look at, and learns nothing of the rest (docs/adr/0022)."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.caller import Caller
from skillroute.core.errors.model import NotFound
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind

from tests.builders import System, of_org
from tests.worlds.mail import message, reader, statuses

MOLE, NOBODY = reader("Mole"), reader(None)


@pytest.fixture
def ids(office: System) -> dict[str, int]:
    """Mole belongs to `atlas`, Spy to `vault`, Both to both; a product and a message in each."""
    return {
        "vault": office.mail_id("project", key="vault", name="Vault"),
        "atlas": office.mail_id("project", key="atlas", name="Atlas"),
        "Mole": office.mail_id("agent", name="Mole", projects=["atlas"]),
        "Spy": office.mail_id("agent", name="Spy", projects=["vault"]),
        "Both": office.mail_id("agent", name="Both", projects=["atlas", "vault"]),
        "hidden": office.mail_id("product", key="hidden", name="Hidden", projects=["vault"]),
        "mixed": office.mail_id("product", key="mixed", name="Mixed", projects=["atlas", "vault"]),
        "open": office.put_message("open"),
        "closed": office.put_message("closed", project="vault", subject="The merger is on"),
    }


def everything(office: System) -> list[list[Any]]:
    """Return all rows with the transactions that wrote them."""
    tables = (
        "documents",
        "projects",
        "products",
        "product_projects",
        "agents",
        "messages",
        "recipients",
        "memberships",
    )
    return [office.rows(f"SELECT xmin::text, t::text FROM mcp.mail_{table} t ORDER BY 2") for table in tables]


def members(office: System, id_: int) -> list[int]:
    """Return the projects of an agent, which its document says, too."""
    rows = office.rows("SELECT project_id FROM mcp.mail_memberships WHERE agent_id = :id ORDER BY 1", id=id_)
    found = [row[0] for row in rows]
    assert office.mail_document(id_, "project_ids") == [found]
    return found


def from_mole(key: str = "m1", **fields: Any) -> dict[str, Any]:
    return message(key, **{"from": "Mole"}, **fields)


def refusal(office: System, kind: MailKind, caller: Caller = MOLE, **said: Any) -> tuple[str | None, str | None]:
    """Write one thing that must fail, and return what the answer says of it."""
    before = everything(office)
    outcome = office.mail_outcome(kind, caller, **said)
    assert (outcome.status, outcome.id) == ("failed", None)
    assert everything(office) == before
    return outcome.field, outcome.reason


# What is named


def test_nobody_gives_itself_rights(office: System, ids: dict[str, int]) -> None:
    assert refusal(office, "agent", name="Mole", projects=["atlas", "vault"]) == (
        "projects.1", "there is no project vault",
    )  # fmt: skip
    assert office.mail_keys("project", MOLE) == ["atlas"]
    assert office.mail_keys("message", MOLE) == ["open"]


@pytest.mark.parametrize("caller", [MOLE, NOBODY], ids=["of a project", "of none"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("agent", {"name": "New", "projects": ["?"]}),
        ("product", {"key": "new", "name": "New", "projects": ["?"]}),
        ("message", from_mole("new", project="?")),
    ],
    ids=["agent", "product", "message"],
)
def test_a_project_out_of_sight_is_as_unknown_as_what_never_was(
    office: System, ids: dict[str, int], kind: MailKind, said: dict[str, Any], caller: Caller
) -> None:
    def told(project: str) -> tuple[str | None, str]:
        naming = {"project": project} if kind == "message" else {"projects": [project]}
        field, reason = refusal(office, kind, caller, **{**said, **naming})
        return field, str(reason).replace(project, "?")

    assert told("vault") == told("never-was")
    if caller is NOBODY:
        assert told("atlas") == told("never-was")


def test_within_its_projects_an_agent_writes_what_it_likes(office: System, ids: dict[str, int]) -> None:
    assert office.mail_outcome("agent", MOLE, name="New", projects=["atlas"]).status == "created"
    assert office.mail_outcome("product", MOLE, key="new", name="New", projects=["atlas"]).status == "created"
    assert office.mail_outcome("message", MOLE, **from_mole("new")).status == "created"
    assert office.mail_outcome("message", MOLE, **from_mole("new")).status == "unchanged"
    assert office.mail_outcome("message", MOLE, **from_mole("new", body="New.")).status == "updated"
    assert office.mail_outcome("project", MOLE, key="atlas", name="Other").status == "updated"


def test_an_own_project_out_of_sight_does_not_hide_a_global_one_of_its_key(office: System) -> None:
    shared = office.mail_id("project", key="shared", name="Shared")
    office.mail_outcome("agent", name="Mole", projects=["shared"])
    office.mail_outcome("project", of_org("acme"), key="shared", name="Secret")
    mole = reader("Mole", "acme")
    id_ = office.mail_id("agent", mole, name="New", projects=["shared"])
    assert members(office, id_) == [shared]
    # AND a message goes into no global project
    assert refusal(office, "message", mole, **from_mole(project="shared"))[0] == "project"


# What is there


SAME = message("closed", project="vault", subject="The merger is on")


@pytest.mark.parametrize("caller", [MOLE, NOBODY], ids=["of a project", "of none"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("project", {"key": "vault", "name": "Vault"}),
        ("project", {"key": "vault", "name": "Mine"}),
        ("product", {"key": "hidden", "name": "Hidden", "projects": ["atlas"]}),
        ("product", {"key": "hidden", "name": "Hidden"}),
        ("message", {**SAME, "project": "atlas"}),
        ("message", message("closed", subject="Mine")),
        ("agent", {"name": "spy", "description": "Mine."}),
        ("agent", {"name": "Spy"}),
    ],
)
def test_what_is_there_out_of_sight_is_taken_whatever_it_says(
    office: System, ids: dict[str, int], kind: MailKind, said: dict[str, Any], caller: Caller
) -> None:
    answer = refusal(office, kind, caller, **said)
    if caller is MOLE:
        assert answer == ("name" if kind == "agent" else "key", "is taken")


def test_whether_a_guess_of_what_is_hidden_needs_a_vector_is_not_told(office: System, ids: dict[str, int]) -> None:
    office.embedder.away = True
    same = {**SAME, "project": "atlas"}
    told = [
        office.put_mail("message", {**same, **change}, caller=MOLE).embedding_unavailable
        for change in ({}, {"body": "x"})
    ]
    assert told == [True, True]


@pytest.mark.parametrize("projects", [["atlas"], []])
def test_memberships_out_of_sight_stay(office: System, ids: dict[str, int], projects: list[str]) -> None:
    assert office.mail_outcome("agent", MOLE, name="Both", projects=projects).status == "unchanged"
    assert members(office, ids["Both"]) == sorted([ids["atlas"], ids["vault"]])
    assert office.stored_agent(ids["Both"], MOLE).content.projects == ("atlas",)
    # AND an operator, who sees them all, takes them away
    assert office.mail_outcome("agent", name="Both", projects=["atlas"]).status == "updated"
    assert members(office, ids["Both"]) == [ids["atlas"]]


def test_links_of_a_product_out_of_sight_stay(office: System, ids: dict[str, int]) -> None:
    links = "SELECT project_id FROM mcp.mail_product_projects WHERE product_id = :id ORDER BY 1"
    for status in ("updated", "unchanged"):
        assert office.mail_outcome("product", MOLE, key="mixed", name="New", projects=["atlas"]).status == status
        assert office.rows(links, id=ids["mixed"]) == sorted([[ids["atlas"]], [ids["vault"]]])
    assert refusal(office, "product", key="mixed", name="New") == (
        "projects", "must name a project that you may look at",
    )  # fmt: skip


def test_what_an_agent_of_no_project_says_is_not_told(office: System, ids: dict[str, int]) -> None:
    office.mail_outcome("agent", name="GreenHill", description="Secret.")
    for description in ("Secret.", "Guess."):
        assert refusal(office, "agent", name="GreenHill", description=description) == ("name", "is taken")


@pytest.mark.parametrize("name", ["vault", "Spy", "hidden", "closed"])
def test_what_is_out_of_sight_is_neither_deleted_nor_acknowledged(
    office: System, ids: dict[str, int], name: str
) -> None:
    kinds: dict[str, MailKind] = {"vault": "project", "Spy": "agent", "hidden": "product", "closed": "message"}
    mail = office.parts.mail.read
    for caller in (MOLE, NOBODY):
        with pytest.raises(NotFound):
            mail.delete(kinds[name], ids[name], caller)
        if name == "closed":
            with pytest.raises(NotFound):
                mail.acknowledge(ids[name], "GreenHill", caller)
    assert mail.get(kinds[name], ids[name], of_org(None))


# New projects


def test_whoever_makes_a_project_belongs_to_it(office: System, ids: dict[str, int]) -> None:
    report = office.put_mail("project", {"key": "a", "name": "A"}, {"key": "b", "name": "B"}, caller=MOLE)
    assert statuses(report) == ["created", "created"]
    made = [int(each.id or 0) for each in report.outcomes]
    assert members(office, ids["Mole"]) == sorted([ids["atlas"], *made])
    assert office.mail_payload(ids["Mole"])["project_ids"] == [str(id_) for id_ in sorted([ids["atlas"], *made])]
    assert office.mail_outcome("message", MOLE, **from_mole("new", project="a")).status == "created"
    assert office.mail_outcome("project", MOLE, key="a", name="A").status == "unchanged"
    # AND what an operator says of the agent afterwards holds
    assert office.mail_outcome("agent", name="Mole", projects=["atlas"]).status == "updated"
    assert members(office, ids["Mole"]) == [ids["atlas"]]
    assert office.findings() == []


def test_the_agent_is_made_if_it_is_not_there(office: System) -> None:
    office.mail_id("agent", name="Ghost", projects=["atlas"])
    ghost = reader("Ghost", "acme")
    project = office.mail_id("project", ghost, key="new", name="New")
    [own] = [each for each in office.parts.mail.read.agents(ghost, limit=9, offset=0)[0] if each.org_id == "acme"]
    assert (own.content.name, own.project_ids, office.is_mail_embedded(own.id)) == ("Ghost", (project,), True)
    assert office.mail_outcome("message", ghost, **message(project="new", **{"from": "Ghost"})).status == "created"
    assert office.mail_keys("message", ghost) == ["m1"]
    assert office.findings() == []


def test_operators_belong_to_nothing(office: System) -> None:
    operator = Caller(scopes=of_org(None).scopes, agent="Boss")
    office.mail_outcome("project", operator, key="new", name="New")
    assert office.mail_keys("agent") == []
    with office.replica.current() as index:
        assert index.count(MAIL_DOCUMENTS) == 2
