"""Writing agent mail: each judged by itself, the same key the same thing, and nothing touched that is the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from skillroute.core.bulk.write import Writer
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import DatabaseUnavailable, InvalidInput
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.model import MailKind, MessageFilter
from skillroute.mail.sync import MAIL_KINDS, MAX_MAIL, SyncMail

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, FakeClock, LogRecords, TableEmbedder, once
from tests.worlds.mail import message, statuses

ACME, UMBRELLA = of_org("acme"), of_org("umbrella")
EVERY = pytest.mark.parametrize("kind", MAIL_KINDS)


def thing(kind: MailKind, name: str = "new", **said: Any) -> dict[str, Any]:
    """Return something of a kind that can be written."""
    if kind == "message":
        return message(name, **said)
    return ({} if kind == "agent" else {"key": name}) | {"name": name, **said}


def as_written(system: System) -> list[list[Any]]:
    """Return all rows with the transactions that wrote them."""
    tables = ("documents", "projects", "products", "agents", "messages", "recipients", "memberships")
    return [system.rows(f"SELECT xmin::text, t::text FROM mcp.mail_{table} t ORDER BY 2") for table in tables]


# One call


@EVERY
def test_what_is_new_is_created_what_changed_updated_and_what_is_the_same_left_alone(
    office: System, kind: MailKind
) -> None:
    first = office.put_mail(kind, thing(kind, "a"), thing(kind, "b"))
    assert statuses(first) == ["created", "created"]
    assert [each.key for each in first.outcomes] == ["a", "b"]
    before = as_written(office)
    again = office.put_mail(kind, thing(kind, "b"), thing(kind, "a"))
    assert statuses(again) == ["unchanged", "unchanged"]
    assert [each.id for each in again.outcomes] == [each.id for each in reversed(first.outcomes)]
    assert as_written(office) == before
    changed = {"subject": "New."} if kind == "message" else {"description": "New."}
    third = office.put_mail(kind, thing(kind, "a", **changed), thing(kind, "b"))
    assert statuses(third) == ["updated", "unchanged"]
    assert third.outcomes[0].id == first.outcomes[0].id


@EVERY
def test_each_is_judged_by_itself_in_the_order_of_the_call(office: System, kind: MailKind) -> None:
    name = "name" if kind == "agent" else "key"
    report = office.put_mail(kind, thing(kind, "a"), {"what": 1}, 7, thing(kind, "a"), thing(kind, "b"))
    assert statuses(report) == ["created", "failed", "failed", "failed", "created"]
    assert [each.index for each in report.outcomes] == list(range(5))
    assert [each.field for each in report.outcomes][2:] == [kind, name, None]
    twice = report.outcomes[3]
    assert (twice.id, twice.key) == (None, "a")
    assert twice.reason == f"the same {name} as {kind} 0 of this call"


def test_names_of_agents_that_differ_in_case_only_are_the_same_within_a_call(office: System) -> None:
    report = office.put_mail("agent", {"name": "BlueLake"}, {"name": "bluelake"})
    assert statuses(report) == ["created", "failed"]
    assert office.mail_keys("agent") == ["BlueLake"]


@EVERY
def test_too_many_are_refused_before_anything_is_written(office: System, kind: MailKind) -> None:
    most = MAX_MAIL[kind]
    with pytest.raises(InvalidInput, match=f"{most + 1} {kind}s; at most {most}"):
        office.put_mail(kind, *(thing(kind, f"n{number}") for number in range(most + 1)))
    assert office.mail_keys(kind) == (["atlas"] if kind == "project" else [])


@EVERY
def test_nothing_to_write_is_no_error(office: System, kind: MailKind) -> None:
    assert office.put_mail(kind).outcomes == []


REFUSAL = "ALTER TABLE mcp.mail_{0} ADD CONSTRAINT no_cursed CHECK ({1} <> 'cursed')"


@EVERY
def test_one_that_postgresql_refuses_fails_alone(office: System, kind: MailKind, log: LogRecords) -> None:
    office.sql(REFUSAL.format(f"{kind}s", "name" if kind == "agent" else "key"))
    try:
        report = office.put_mail(kind, thing(kind, "a"), thing(kind, "cursed"), thing(kind, "b"))
    finally:
        office.sql(f"ALTER TABLE mcp.mail_{kind}s DROP CONSTRAINT no_cursed")
    assert statuses(report) == ["created", "failed", "created"]
    bad = report.outcomes[1]
    assert (bad.field, bad.id, bad.key, "no_cursed" in str(bad.reason)) == (kind, None, "cursed", True)
    assert {"a", "b"} <= set(office.mail_keys(kind))
    assert "cursed" not in office.mail_keys(kind)
    assert log.having(f"{kind} rejected by the database")


def test_a_statement_that_is_refused_for_other_reasons_is_nobody_s_fault(office: System) -> None:
    office.sql(
        "CREATE FUNCTION mcp.refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '55000'; END $$;"
        "CREATE TRIGGER refuse BEFORE INSERT ON mcp.mail_messages EXECUTE FUNCTION mcp.refuse()"
    )
    try:
        with pytest.raises(StatementRejected, match="not now"):
            office.put_mail("message", message("a"), message("b"))
    finally:
        office.sql("DROP TRIGGER refuse ON mcp.mail_messages; DROP FUNCTION mcp.refuse()")
    assert office.mail_keys("agent") == []


@EVERY
def test_what_was_written_and_what_failed_is_counted(
    office: System, kind: MailKind, counted: Callable[[str], float]
) -> None:
    before = counted("MailWritten")
    office.put_mail(kind, thing(kind, "a"), {}, thing(kind, "b"))
    office.put_mail(kind, thing(kind, "a"))
    assert (counted("MailWritten") - before, counted("MailFailed")) == (2, 1)


@EVERY
def test_what_is_written_is_announced_once_it_is_committed_and_only_then(office: System, kind: MailKind) -> None:
    rows = f"SELECT count(*) FROM mcp.mail_{kind}s"
    seen: list[int] = []
    database = FollowedDatabase(office.database, lambda: seen.append(office.rows(rows)[0][0]))
    sync = SyncMail(Writer(database, office.embedder))
    [[before]] = office.rows(rows)
    sync(kind, [thing(kind)], LAPTOP)
    sync(kind, [thing(kind)], LAPTOP)
    sync(kind, [{}], LAPTOP)
    assert seen == [before + 1]


# Messages


def test_a_message_is_stored_as_it_was_written(office: System) -> None:
    said = message(
        to=["GreenHill", "RedStone"],
        cc=["AmberHill"],
        bcc=["QuietRiver"],
        thread_id="POL-358",
        importance="high",
        ack_required=True,
        body=" blanks, stay \n",
    )
    found = office.stored_message(office.mail_id("message", **said))
    content = found.content
    assert (content.key, content.project, content.sender) == ("m1", "atlas", "BlueLake")
    assert (content.to, content.cc, content.bcc) == (("GreenHill", "RedStone"), ("AmberHill",), ("QuietRiver",))
    assert (content.subject, content.body, content.thread_id) == (said["subject"], said["body"], "POL-358")
    assert (content.importance, content.ack_required, content.created_ts) == ("high", True, said["created_ts"])
    assert (found.acknowledged, found.is_embedded, found.org_id) == ({}, True, None)


def test_the_index_and_the_document_say_what_filters_ask_for(office: System) -> None:
    id_ = office.put_message(to=["GreenHill"], cc=["amberhill"], thread_id="t", importance="urgent", ack_required=True)
    project = office.stored_message(id_).project_id
    columns = "kind, project_ids, sender_key, recipient_keys, thread_id, importance, ack_required, created_ts"
    keys = ["greenhill", "amberhill"]
    assert office.mail_document(id_, columns) == [
        "message", [project], "bluelake", keys, "t", "urgent", True, 1_767_604_320_000_000,
    ]  # fmt: skip
    assert office.mail_payload(id_) == {
        "kind": "message",
        "org_id": "",
        "project_ids": [str(project)],
        "created_ts": 1_767_604_320_000_000,
        "sender": "bluelake",
        "recipients": keys,
        "parties": ["amberhill", "bluelake", "greenhill"],
        "importance": "urgent",
        "ack_required": "true",
        "thread_id": "t",
    }


CHANGES = [
    {"subject": "Other"},
    {"body": "Other"},
    {"from": "RedStone"},
    {"to": ["RedStone"]},
    {"to": ["GreenHill", "RedStone"]},
    {"to": ["RedStone"], "cc": ["GreenHill"]},
    {"bcc": ["RedStone"]},
    {"thread_id": "t"},
    {"importance": "low"},
    {"ack_required": True},
    {"created_ts": 5},
    {"project": "other"},
]


@pytest.mark.parametrize("change", CHANGES, ids="+".join)
def test_every_field_of_a_message_can_be_changed(office: System, change: dict[str, Any]) -> None:
    office.mail_outcome("project", key="other", name="Other")
    id_ = office.put_message()
    outcome = office.mail_outcome("message", **message(**change))
    assert (outcome.status, outcome.id) == ("updated", id_)
    content = office.message_content(id_)
    for name, value in change.items():
        stored = getattr(content, "sender" if name == "from" else name)
        assert stored == (tuple(value) if isinstance(value, list) else value)
    assert office.findings() == []


def test_a_message_without_a_time_is_of_now_and_stays_of_then(office: System) -> None:
    clock = FakeClock()
    sync = SyncMail(Writer(office.database, office.embedder), now_ts=lambda: int(clock()) + 1000)
    said = {name: value for name, value in message().items() if name != "created_ts"}
    [first] = sync("message", [said], LAPTOP).outcomes
    assert first.id is not None
    now = int(clock()) + 1000
    assert office.message_content(first.id).created_ts == now
    clock.advance(60)
    # Writing it twice changes nothing, and changing it does not make it newer.
    assert statuses(sync("message", [said], LAPTOP)) == ["unchanged"]
    assert statuses(sync("message", [{**said, "body": "Other"}], LAPTOP)) == ["updated"]
    assert office.message_content(first.id).created_ts == now
    assert office.mail_document(first.id, "created_ts") == [now]


def test_another_spelling_of_a_name_is_the_same_message(office: System) -> None:
    id_ = office.put_message()
    outcome = office.mail_outcome("message", **message(**{"from": "BLUELAKE", "to": ["greenhill"]}))
    assert (outcome.status, outcome.id) == ("unchanged", id_)
    assert (office.message_content(id_).sender, office.message_content(id_).to) == ("BlueLake", ("GreenHill",))


def test_a_message_that_changes_keeps_who_has_acknowledged_it(office: System) -> None:
    id_ = office.put_message(to=["GreenHill", "RedStone"])
    for name in ("GreenHill", "RedStone"):
        office.parts.mail.read.acknowledge(id_, name, LAPTOP)
    before = office.stored_message(id_).acknowledged
    office.put_message(to=["AmberHill"], cc=["GreenHill"])
    assert office.stored_message(id_).acknowledged == {"GreenHill": before["GreenHill"]}


@pytest.mark.parametrize("project", ["unknown", "global", "theirs"])
def test_messages_go_into_projects_of_their_own_organisation_only(office: System, project: str) -> None:
    office.mail_outcome("project", key="global", name="Global")
    office.mail_outcome("project", UMBRELLA, key="theirs", name="Theirs")
    report = office.put_mail("message", message("a", project=project), caller=ACME)
    [failed] = report.outcomes
    assert (failed.status, failed.field, failed.key) == ("failed", "project", "a")
    assert failed.reason == f"there is no project {project} of your own"
    # AND no agent was made for it
    assert office.mail_keys("agent", ACME) == []


# Agents that messages name


def test_an_agent_that_nobody_wrote_is_made_in_its_first_spelling(office: System) -> None:
    office.put_mail(
        "message",
        message("a", **{"from": "blueLake", "to": ["GreenHill"]}),
        message("b", **{"from": "BLUELAKE", "to": ["greenhill", "bluelake"]}),
    )
    assert office.mail_keys("agent") == ["blueLake", "GreenHill"]
    found, _ = office.parts.mail.read.messages(MessageFilter(key="b"), LAPTOP, limit=1, offset=0)
    assert (found[0].content.sender, found[0].content.to) == ("blueLake", ("GreenHill", "blueLake"))
    agents, _ = office.parts.mail.read.agents(LAPTOP, limit=10, offset=0)
    assert all(office.is_mail_embedded(each.id) for each in agents)
    assert [each.project_ids for each in agents] == [(), ()]


def test_a_put_of_an_agent_that_was_only_named_updates_it(office: System) -> None:
    id_ = office.put_message()
    outcome = office.mail_outcome("agent", name="BlueLake")
    assert outcome.status == "updated"
    assert office.mail_outcome("agent", name="BlueLake").status == "unchanged"
    assert office.message_content(id_).sender == "BlueLake"


def test_a_put_of_an_agent_in_another_spelling_renames_it_everywhere(office: System) -> None:
    id_ = office.put_message(to=["BlueLake", "GreenHill"])
    agent = office.mail_outcome("agent", name="bluelake", description="Bills.")
    assert agent.status == "updated"
    content = office.message_content(id_)
    assert (content.sender, content.to) == ("bluelake", ("bluelake", "GreenHill"))
    assert office.mail_document(int(agent.id or 0), "title, body") == ["bluelake", "Bills."]
    assert office.mail_keys("agent") == ["bluelake", "GreenHill"]


def test_agents_of_two_organisations_of_one_name_are_two(office: System) -> None:
    office.mail_outcome("project", ACME, key="atlas", name="Atlas")
    ours, theirs = office.mail_id("agent", name="BlueLake"), office.mail_id("agent", ACME, name="bluelake")
    office.put_message(caller=ACME)
    assert ours != theirs
    assert office.mail_keys("agent", ACME) == ["BlueLake", "bluelake", "GreenHill"]
    assert office.mail_keys("agent") == ["BlueLake"]


# Projects that products and agents link


@pytest.mark.parametrize("kind", ["product", "agent"])
def test_they_link_projects_of_their_organisation_and_global_ones(office: System, kind: MailKind) -> None:
    own = office.mail_id("project", ACME, key="own", name="Own")
    [[atlas]] = office.rows("SELECT id FROM mcp.mail_projects WHERE key = 'atlas'")
    id_ = office.mail_id(kind, ACME, **thing(kind, projects=["own", "atlas", "own"]))
    found = office.parts.mail.read.get(kind, id_, ACME)
    assert found.project_ids == (atlas, own)  # type: ignore[union-attr]  # by key
    # AND one of their own comes before a global one of the same key
    mine = office.mail_id("project", ACME, key="atlas", name="Atlas")
    assert office.mail_outcome(kind, ACME, **thing(kind, projects=["own", "atlas"])).status == "updated"
    found = office.parts.mail.read.get(kind, id_, ACME)
    assert found.project_ids == (mine, own)  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ["product", "agent"])
def test_a_project_that_is_not_there_or_not_theirs_to_see_fails_by_its_place(office: System, kind: MailKind) -> None:
    office.mail_outcome("project", UMBRELLA, key="theirs", name="Theirs")
    for key in ("theirs", "unknown"):
        [failed] = office.put_mail(kind, thing(kind, projects=["atlas", key]), caller=ACME).outcomes
        assert (failed.status, failed.field, failed.reason) == ("failed", "projects.1", f"there is no project {key}")
    assert office.mail_keys(kind, ACME) == []


def test_the_document_of_an_agent_says_its_projects(office: System) -> None:
    other = office.mail_id("project", key="other", name="Other")
    [[atlas]] = office.rows("SELECT id FROM mcp.mail_projects WHERE key = 'atlas'")
    id_ = office.mail_id("agent", name="BlueLake", projects=["other", "atlas"])
    assert office.mail_document(id_, "project_ids") == [[atlas, other]]
    assert office.mail_payload(id_)["project_ids"] == [str(atlas), str(other)]
    assert office.mail_outcome("agent", name="BlueLake", projects=["atlas", "other"]).status == "unchanged"
    calls = len(office.embedder.calls)
    assert office.mail_outcome("agent", name="BlueLake", projects=["other"]).status == "updated"
    assert (office.mail_document(id_, "project_ids"), office.mail_payload(id_)["project_ids"]) == (
        [[other]],
        [str(other)],
    )
    assert (len(office.embedder.calls), office.is_mail_embedded(id_)) == (calls, True)


def test_a_project_that_was_deleted_and_made_again_is_linked_again(office: System) -> None:
    agent = office.mail_id("agent", name="BlueLake", projects=["atlas"])
    product = office.mail_id("product", key="p", name="P", projects=["atlas"])
    [[atlas]] = office.rows("SELECT id FROM mcp.mail_projects")
    office.parts.mail.read.delete("project", atlas, LAPTOP)
    assert (office.mail_document(agent, "project_ids"), office.mail_payload(agent)["project_ids"]) == ([[]], [])
    again = office.mail_id("project", key="atlas", name="Atlas")
    assert office.mail_outcome("agent", name="BlueLake", projects=["atlas"]).status == "updated"
    assert office.mail_outcome("product", key="p", name="P", projects=["atlas"]).status == "updated"
    assert office.stored_agent(agent).project_ids == (again,)
    assert office.parts.mail.read.get("product", product, LAPTOP).project_ids == (again,)  # type: ignore[union-attr]
    assert office.findings() == []


def test_keys_are_one_within_an_organisation(office: System) -> None:
    office.mail_outcome("project", ACME, key="atlas", name="Atlas")
    ours, theirs = office.put_message(), office.put_message(caller=ACME)
    assert ours != theirs
    assert office.put_message(caller=ACME) == theirs
    assert office.stored_message(theirs, ACME).org_id == "acme"


# Vectors


@pytest.mark.parametrize("kind", ["project", "agent", "message"])
def test_only_texts_that_are_new_are_embedded(office: System, kind: MailKind) -> None:
    calls = office.embedder.calls
    id_ = office.mail_id(kind, **thing(kind, "a"))
    assert office.is_mail_embedded(id_)
    calls.clear()
    office.put_mail(kind, thing(kind, "a"))
    changed = {"importance": "low"} if kind == "message" else {}
    assert office.put_mail(kind, thing(kind, "a", **changed)).embedding_unavailable is False
    assert calls == []
    said = {"subject": "Unicorns"} if kind == "message" else {"description": "Unicorns"}
    office.put_mail(kind, thing(kind, "a", **said))
    assert ["Unicorns" in text for call in calls for text in call.texts] == [True]


def test_without_the_model_mail_is_stored_and_found_by_its_words_until_it_is_back(office: System) -> None:
    office.embedder.away = True
    report = office.put_mail("message", message())
    assert (statuses(report), report.embedding_unavailable) == (["created"], True)
    [id_] = [each.id for each in report.outcomes]
    assert id_ is not None
    assert (office.stored_message(id_).is_embedded, office.is_mail_embedded(id_)) == (False, False)
    # WHEN it is back, the same call embeds it, and says that nothing changed
    office.embedder.away = False
    again = office.put_mail("message", message())
    assert (statuses(again), again.embedding_unavailable) == (["unchanged"], False)
    assert office.is_mail_embedded(id_)


def test_products_embed_nothing_and_wait_for_no_vector(office: System) -> None:
    # GIVEN a document of somebody else that waits for its vector, and has the id that the product gets
    office.sql("UPDATE mcp.document_vectors SET embedding = NULL")
    office.embedder.calls.clear()
    for away in (False, True):
        office.embedder.away = away
        report = office.put_mail("product", {"key": "p", "name": f"P {away}"}, caller=ACME)
        [[waits]] = office.rows("SELECT count(*) FROM mcp.mail_documents WHERE id = :id", id=report.outcomes[0].id)
        assert (waits, report.embedding_unavailable, office.embedder.calls) == (1, False, [])


def test_a_changed_text_does_not_keep_the_old_vector_while_it_is_away(office: System) -> None:
    id_ = office.put_message()
    office.embedder.away = True
    assert office.put_mail("message", message(body="Draws a unicorn.")).embedding_unavailable
    assert not office.is_mail_embedded(id_)
    assert "Draws a unicorn." in office.texts(MAIL_DOCUMENTS, id_)[0]


def test_a_model_that_leaves_after_the_commit_is_told(office: System, log: LogRecords) -> None:
    def leave() -> None:
        office.embedder.away = True

    office.database.before_commit = once(leave)
    # The agents that the message names are embedded after it was written.
    report = office.put_mail("message", message())
    assert (statuses(report), report.embedding_unavailable) == (["created"], True)
    assert log.having("mail stored without embedding")
    [id_] = [each.id for each in report.outcomes]
    assert id_ is not None
    assert office.is_mail_embedded(id_)


def test_texts_that_do_not_fit_into_the_time_are_left_to_the_relay(office: System) -> None:
    office.embedder.takes_s = 40.0
    sync = SyncMail(Writer(office.database, office.embedder, clock=office.clock))
    report = sync("message", [message(f"m{number}", body=f"Text {number}") for number in range(200)], LAPTOP)
    assert (report.count("created"), report.embedding_unavailable) == (200, True)
    [[embedded]] = office.rows(
        "SELECT count(v.embedding) FROM mcp.document_vectors v JOIN mcp.mail_messages m ON m.id::text = v.key "
        "WHERE v.collection = 'mcp_mail'"
    )
    assert 0 < embedded < 200
    office.embedder.takes_s = 0.0
    office.parts.embed_missing()
    [[missing]] = office.rows("SELECT count(*) FROM mcp.document_vectors WHERE embedding IS NULL")
    assert missing == 0


def test_with_another_model_all_is_written_without_a_vector(
    office: System, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(name="other")) as other:
        for kind in ("project", "agent", "message"):
            assert other.put_mail(kind, thing(kind)).embedding_unavailable  # type: ignore[arg-type]
        assert other.embedder.calls == []
    waiting = "SELECT model, count(*) FROM mcp.document_vectors WHERE embedding IS NULL GROUP BY model"
    assert office.rows(waiting) == [[office.embedder.model.name, 5]]


def test_a_model_that_is_switched_before_the_messages_are_written_gets_no_vectors_of_the_old_one(
    office: System,
) -> None:
    switch = "UPDATE mcp.index_state SET embedding_model = 'other', epoch = gen_random_uuid()"
    office.database.before_transact = once(lambda: office.sql(switch))
    report = office.put_mail("message", message())
    assert (report.count("created"), report.embedding_unavailable) == (1, True)
    assert office.rows("SELECT DISTINCT model FROM mcp.document_vectors WHERE embedding IS NULL") == [["other"]]


@EVERY
def test_without_a_database_nothing_is_reported_as_written(office: System, kind: MailKind) -> None:
    office.database.down = True
    with pytest.raises(DatabaseUnavailable):
        office.put_mail(kind, thing(kind))
