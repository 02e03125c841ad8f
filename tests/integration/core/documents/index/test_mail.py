"""Agent mail in the index: each document with what searches filter by, its words as weighed terms, and never behind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.documents.repository import DocumentRepository
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.repository import MailRepository
from skillroute.mail.text import SearchText, impacts, query_terms

from tests.integration.core.documents.index.replica_world import ALL, World
from tests.integration.mail_rows import T0, Mail
from tests.integration.rows import EAST, MODEL, NORTH, OTHER_MODEL, Sql, put_documents, put_vectors

MAIL = MAIL_DOCUMENTS


@pytest.fixture
def mail(world: World) -> Mail:
    return Mail(world.database)


def held(replica: IndexReplica, limit: int = 10_000) -> dict[int, Mapping[str, Any]]:
    with replica.current() as index:
        found = index.payloads(MAIL, index.match(MAIL, where=ALL, limit=limit))
    return {int(key): payload for key, payload in found.items()}


def asked(replica: IndexReplica, text: str) -> dict[int, float]:
    with replica.current() as index:
        hits = index.search_terms(MAIL, query_terms(text), where=ALL, limit=100)
    return {int(hit.key): hit.score for hit in hits}


def near(replica: IndexReplica, vector: list[float]) -> list[int]:
    with replica.current() as index:
        return [int(hit.key) for hit in index.search(MAIL, vector, where=ALL, limit=10, threshold=0.9)]


def test_every_kind_is_there_with_what_filters_ask_for(world: World, mail: Mail) -> None:
    replica = world.replica()
    assert held(replica) == {}
    agent = mail.agent("Zoe", "q", "p")
    message = Mail(world.database, "acme").message(
        "m", "words", to=["BOB", "Ann"], cc=["Cid"], thread_id="T", importance="high", ack_required=True
    )
    documents = held(replica)
    [project] = {number for number in documents if documents[number]["kind"] == "project"} - {*mail.projects.values()}
    assert documents[message] == {
        "kind": "message", "org_id": "acme", "project_ids": [str(project)], "created_ts": T0, "sender": "ann",
        "recipients": ["bob", "ann", "cid"], "parties": ["ann", "bob", "cid"], "importance": "high",
        "ack_required": "true", "thread_id": "T",
    }  # fmt: skip
    created = documents[agent]["created_ts"]
    assert documents[agent] == {
        "kind": "agent", "org_id": "", "project_ids": sorted(map(str, mail.projects.values())), "created_ts": created,
    }  # fmt: skip
    assert documents[project]["project_ids"] == [str(project)]
    assert replica.status().counts[MAIL_DOCUMENTS] == len(documents) == 8


def test_words_are_weighed_as_everywhere(world: World, mail: Mail) -> None:
    replica = world.replica()
    assert asked(replica, "pol-358") == {}
    message = mail.message("m", "see POL-358, password=hunter2", subject="Invoice")
    text = SearchText.of("Invoice", "see POL-358, password=hunter2")
    weights = query_terms("invoice pol-358")
    expected = sum(weight * impacts(text)[term] for term, weight in weights.items())
    assert asked(replica, "invoice pol-358") == {message: pytest.approx(expected, abs=1e-5)}
    assert asked(replica, "hunter2") == {}


def test_the_index_follows_inserts_changes_memberships_and_deletions(world: World, mail: Mail) -> None:
    first, second = mail.message("1", "rain", vector=EAST), mail.message("2", "rain")
    replica = world.replica()
    assert set(asked(replica, "rain")) == {first, second}
    assert near(replica, EAST) == [first]
    # a changed text
    mail.message("1", "wind", vector=NORTH, project="q", importance="urgent")
    assert set(asked(replica, "rain")) == {second}
    assert (near(replica, EAST), near(replica, NORTH)) == ([], [first])
    assert held(replica)[first]["project_ids"] == [str(mail.projects["q"])]
    # a vector that came later
    tasks = world.database.read(lambda session: DocumentRepository(session, MAIL).tasks([str(second)], MODEL))
    world.database.transact(lambda session: DocumentRepository(session, MAIL).set_embeddings(MODEL, [(tasks[0], EAST)]))
    assert near(replica, EAST) == [second]
    # memberships
    agent = mail.agent("Ann", "p", "q")
    assert len(held(replica)[agent]["project_ids"]) == 2
    mail.agent("Ann", "q")
    assert held(replica)[agent]["project_ids"] == [str(mail.projects["q"])]
    # a text that is searched by other rules
    [said] = world.database.read(lambda session: MailRepository(session).load_sources(after=second - 1, limit=1))
    stored = world.database.read(lambda session: MailRepository(session).states("message", None, ["2"]))["2"].text_hash
    assert stored is not None
    world.database.transact(
        lambda session: MailRepository(session).set_texts([(said.id, SearchText("", "snow"), stored)])
    )
    assert set(asked(replica, "snow")) == {second}
    # deletions
    assert world.database.transact(lambda session: MailRepository(session).delete("message", second, None))
    assert world.database.transact(lambda session: MailRepository(session).delete("project", mail.projects["p"], None))
    assert asked(replica, "snow rain") == {}
    assert not {second, mail.projects["p"]} & set(held(replica))


def test_an_agent_forgets_a_deleted_project(world: World, mail: Mail) -> None:
    agent = mail.agent("Ann", "p", "q")
    replica = world.replica()
    assert len(held(replica)[agent]["project_ids"]) == 2
    assert world.database.transact(lambda session: MailRepository(session).delete("project", mail.projects["p"], None))
    assert held(replica)[agent]["project_ids"] == [str(mail.projects["q"])]


def test_what_says_the_same_again_is_written_to_the_index_once_more_and_changes_nothing(
    world: World, mail: Mail
) -> None:
    mail.message("m", "rain", vector=EAST)
    replica = world.replica()
    before = held(replica), asked(replica, "rain"), near(replica, EAST)
    mail.message("m", "rain")
    assert (held(replica), asked(replica, "rain"), near(replica, EAST)) == before


def test_vectors_of_another_model_are_in_no_index(world: World, mail: Mail) -> None:
    message = mail.message("m", "rain", vector=EAST)
    other = mail.message("n", "rain")
    sql: Sql = world.connect()
    put_vectors(sql, OTHER_MODEL, EAST)
    replica = world.replica()
    assert near(replica, EAST) == [message]
    mail.message("n", "rain", subject="changed")
    put_vectors(sql, OTHER_MODEL, EAST)
    assert near(replica, EAST) == [message]
    assert set(asked(replica, "rain")) == {message, other}


def test_changes_of_those_that_are_gone_are_forgotten_and_missed_by_nobody(world: World, mail: Mail) -> None:
    gone = mail.message("gone", "rain")
    stays = mail.message("stays", "rain")
    replica = world.replica()
    assert set(asked(replica, "rain")) == {gone, stays}
    sql = world.connect()
    assert world.database.transact(lambda session: MailRepository(session).delete("message", gone, None))
    assert world.database.transact(lambda session: IndexStateRepository(session).prune(older_than_s=0)) == 1
    assert [str(stays)] in sql("SELECT item_id FROM mcp.index_changes WHERE collection = 'mcp_mail'")
    assert set(asked(replica, "rain")) == {stays}


def test_emptying_the_table_tells_every_index_to_read_anew(world: World, mail: Mail) -> None:
    mail.message("m", "rain")
    replica = world.replica()
    assert len(asked(replica, "rain")) == 1
    sql = world.connect()
    before = sql("SELECT epoch FROM mcp.index_state")
    sql("TRUNCATE mcp.mail_documents CASCADE")
    assert sql("SELECT epoch FROM mcp.index_state") != before


def test_more_than_a_page_is_read_and_compared_as_it_is_held(world: World) -> None:
    # GIVEN more documents than one read brings
    sql = world.connect()
    sql(
        "INSERT INTO mcp.mail_documents (kind, project_ids, sender_key, recipient_keys, importance, ack_required, "
        "created_ts, search_vector, text_hash) "
        f"SELECT 'message', '{{1}}', 'a', '{{b}}', 'low', false, {T0} + n, 'rain', '' "
        "FROM generate_series(1, 1100) AS n"
    )
    put_documents(sql, MAIL, range(1, 1101), "\nrain")
    # WHEN they are read, THEN the index holds each payload as PostgreSQL says it, to the microsecond
    replica = world.replica()
    documents = held(replica)
    with replica.current() as index:
        assert index.count(MAIL) == 1100
        keys = [str(key) for key in documents]
        for record in world.feed.load(MAIL, keys, MODEL):
            assert documents[int(record.key)] == record.payload
    assert len({payload["created_ts"] for payload in documents.values()}) == 1100
