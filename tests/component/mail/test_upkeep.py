"""What keeps mail found: vectors made late, a reindex, the check of everything, and what is said of it."""

from __future__ import annotations

from collections import Counter

import pytest
from skillroute.core.documents.reindex import ReindexReport
from skillroute.core.embedding.model import to_bytes
from skillroute.core.postgres.database import Session
from skillroute.mail import refresh as refresh_mail
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.repository import MailRepository
from skillroute.mail.text import SearchText

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, TableEmbedder, at
from tests.worlds.mail import message

TEXT = "mail is found by what was written"
ORPHAN = "a mail document is of a message, an agent or a project"
FILTER = "mail is filtered by what was written"
INDEX = "the index mcp_mail says what PostgreSQL does"


def test_the_relay_embeds_what_was_written_while_the_model_was_away(office: System) -> None:
    office.embedder.away = True
    id_ = office.put_message()
    assert "embed" in office.parts.relay().failed
    office.embedder.away = False
    report = office.parts.relay()
    assert (report.embedded, report.failed) == (3, [])  # the message and its two agents
    assert office.is_mail_embedded(id_)
    assert office.findings() == []


def test_a_reindex_moves_mail_to_the_new_model(office: System, database_url: str, edge_indexes: EdgeIndexes) -> None:
    office.put_message()
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(name="other")) as other:
        assert other.parts.reindex.remaining() == 4
        assert other.parts.reindex() == ReindexReport(Counter({MAIL_DOCUMENTS: 4}))
        assert other.parts.reindex.remaining() == 0
        assert other.models(MAIL_DOCUMENTS) == ["other", "table"]
        assert (other.parts.verify().findings, other.parts.verify().checked[MAIL_DOCUMENTS]) == ([], 4)


def test_what_is_written_on_the_old_model_during_a_reindex_is_moved_as_well(
    office: System, database_url: str, edge_indexes: EdgeIndexes
) -> None:
    office.put_message()
    wrote: list[int] = []

    def write(rows: int) -> None:
        if not wrote:
            wrote.append(rows)
            office.put_message(body="Late.")

    with lent_system(database_url, edge_indexes, embedder=TableEmbedder(name="other")) as other:
        assert other.parts.reindex(write).embedded[MAIL_DOCUMENTS] == 5
        assert other.models(MAIL_DOCUMENTS) == ["other", "table"]


CHANGED = [
    ("text_hash = 'x'", TEXT),
    ("search_vector = 'x'", TEXT),
    ("search_vector = strip(search_vector)", TEXT),
    ("search_vector = setweight(search_vector, 'D')", TEXT),
    ("org_id = 'acme'", FILTER),
    ("project_ids = '{}'", FILTER),
    ("project_ids = project_ids || 999", FILTER),
    ("sender_key = 'x'", FILTER),
    ("recipient_keys = '{}'", FILTER),
]


@pytest.mark.parametrize(("change", "rule"), CHANGED, ids=[change for change, _ in CHANGED])
def test_a_document_that_says_something_else_than_what_was_written_is_named(
    office: System, change: str, rule: str
) -> None:
    id_ = office.put_message()
    assert office.findings() == []
    office.sql(f"UPDATE mcp.mail_documents SET {change} WHERE id = {id_}")
    assert office.findings() == [(rule, str(id_))]


@pytest.mark.parametrize("kind", ["agent", "project"])
@pytest.mark.parametrize("change", ["project_ids = '{}'", "org_id = 'acme'"])
def test_who_may_see_an_agent_or_a_project_is_checked_too(office: System, kind: str, change: str) -> None:
    office.mail_outcome("agent", name="BlueLake", projects=["atlas"])
    office.sql(f"UPDATE mcp.mail_documents SET {change} WHERE kind = '{kind}'")
    assert [rule for rule, _ in office.findings()] == [FILTER]


def test_a_document_without_what_it_is_of_is_named(office: System) -> None:
    id_ = office.put_message()
    office.sql(f"DELETE FROM mcp.mail_messages WHERE id = {id_}")
    assert office.findings() == [(ORPHAN, str(id_))]


@pytest.mark.parametrize(
    "change",
    [
        "mcp.mail_documents SET search_vector = 'x', text_hash = 'old' WHERE id = {}",
        "mcp.mail_documents SET search_vector = 'x' WHERE id = {}",
        "mcp.documents SET texts = '{{x}}', text_hash = 'old' WHERE collection = 'mcp_mail' AND key = '{}'",
    ],
)
def test_a_reindex_mends_what_mail_is_found_by(office: System, change: str) -> None:
    id_ = office.put_message()
    texts = office.texts(MAIL_DOCUMENTS, id_)
    [before] = [office.mail_document(id_, "search_vector::text, text_hash")]
    office.sql(f"UPDATE {change.format(id_)}")
    office.parts.reindex()
    assert office.mail_document(id_, "search_vector::text, text_hash") == before
    assert office.texts(MAIL_DOCUMENTS, id_) == texts
    assert office.is_mail_embedded(id_)
    assert office.findings() == []


def test_a_text_that_is_new_since_it_was_looked_at_is_not_overwritten_by_the_old_one(office: System) -> None:
    id_ = office.put_message()
    office.sql(f"UPDATE mcp.mail_documents SET text_hash = 'old' WHERE id = {id_}")
    [wrong] = refresh_mail.stale_mail(office.database)
    assert [(each, hash_) for each, _, hash_ in wrong] == [(id_, "old")]
    office.put_message(body="Newer.")

    def mend(session: Session) -> None:
        MailRepository(session).set_texts([(id_, SearchText("stale", "stale"), "old")])

    office.pool.transact(mend)
    assert "Newer." in office.texts(MAIL_DOCUMENTS, id_)[0]
    assert office.findings() == []


def test_of_many_documents_each_is_looked_at(office: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh_mail, "_PAGE", 2)
    report = office.put_mail("message", *(message(f"m{number}") for number in range(5)))
    ids = [each.id for each in report.outcomes]
    office.sql(f"UPDATE mcp.mail_documents SET text_hash = 'x' WHERE id IN ({ids[0]}, {ids[4]})")
    assert office.findings() == [(TEXT, str(ids[0])), (TEXT, str(ids[4]))]


def test_words_that_postgresql_keeps_in_its_own_way_are_the_same(office: System) -> None:
    # Of one word it keeps 256 places, and none beyond 16,383.
    office.put_message(subject="tick tick", body="a " * 20_000 + "b " * 20_000)
    assert office.findings() == []


def test_of_very_many_documents_the_check_looks_at_a_part_and_a_reindex_at_all(
    office: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = office.put_mail("message", *(message(f"m{number}") for number in range(100)))
    ids = {str(each.id) for each in report.outcomes}
    office.sql("UPDATE mcp.mail_documents SET search_vector = 'x' WHERE kind = 'message'")
    monkeypatch.setattr(refresh_mail, "_CHECKED", 10)
    found = {subject for _, subject in office.findings()}
    assert 2 <= len(found) <= 25
    assert found < ids
    office.parts.reindex()
    monkeypatch.undo()
    assert office.findings() == []


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (
            """UPDATE mcp.documents SET payload = payload || '{{"importance": "low"}}' WHERE key = '{}'""",
            "it differs in importance",
        ),
        (
            f"UPDATE mcp.document_vectors SET embedding = decode('{to_bytes(at(0.0, axis=7)).hex()}', 'hex')"
            " WHERE key = '{}'",
            "its vector is another one",
        ),
    ],
    ids=["payload", "vector"],
)
def test_an_index_that_says_something_else_is_found(office: System, change: str, detail: str) -> None:
    id_ = office.put_message()
    office.mail_payload(id_)
    # Behind the feed's back: the index cannot know.
    office.sql(f"SET LOCAL session_replication_role = replica; {change.format(id_)}")
    found = [each for each in office.parts.verify().findings if each.rule == INDEX]
    assert [(each.subject, each.detail) for each in found] == [(str(id_), detail)]


def test_what_is_written_in_the_middle_of_a_check_is_no_finding(office: System) -> None:
    id_ = office.put_message()
    written: list[int] = []

    def write() -> None:
        # Before each look of the check; what writes looks, too, and is left alone meanwhile.
        office.database.before_read = lambda: None
        written.append(office.put_message(body=f"Text {len(written)}"))
        office.database.before_read = write

    office.database.before_read = write
    findings = office.parts.verify().findings
    office.database.before_read = lambda: None
    assert findings == []
    assert set(written) == {id_}
