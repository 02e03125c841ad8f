"""Secrets in mail: kept with the message, and in nothing that is searched or embedded."""

from __future__ import annotations

import json

import pytest
from skillroute.core.documents.model import IndexFilter
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.text import query_terms
from skillroute.wiring.index import make_feed

from tests.builders import System
from tests.worlds.mail import message

KEY_BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEnonsensehunter2\n-----END RSA PRIVATE KEY-----"
SECRETS = [
    "password=hunter2",
    'api_key: "hunter2-abc"',
    "Authorization: Bearer hunter2hunter2hunter2",
    "https://user:hunter2@db.test/x",
    "AKIAHUNTER2HUNTER2XX",
    KEY_BLOCK,
]
IDS = ["password", "api key", "bearer", "url", "issued key", "private key"]


def leaks(text: object) -> bool:
    return "hunter2" in str(text).lower()


@pytest.mark.parametrize("secret", SECRETS, ids=IDS)
@pytest.mark.parametrize("field", ["subject", "body"])
def test_a_secret_is_neither_searched_nor_embedded_and_the_message_keeps_it(
    office: System, secret: str, field: str
) -> None:
    id_ = office.put_message(**{field: f"There is {secret}"})
    assert leaks(getattr(office.message_content(id_), field))
    assert not leaks(office.mail_document(id_, "title, body, search_vector::text"))
    assert office.mail_document(id_, f"{'title' if field == 'subject' else 'body'} LIKE 'There is %'") == [True]
    assert not leaks(json.dumps(office.mail_payload(id_)))
    assert not any(leaks(text) for text in office.embedder.texts)
    assert "There is" in "".join(office.embedder.texts)
    [record] = make_feed(office.pool).load(MAIL_DOCUMENTS, [str(id_)], office.embedder.model)
    assert not any(leaks(term) for term in record.impacts or {})
    with office.replica.current() as index:
        found = index.search_terms(MAIL_DOCUMENTS, query_terms("hunter2"), where=IndexFilter(), limit=10)
    assert found == []


@pytest.mark.parametrize("secret", SECRETS, ids=IDS)
@pytest.mark.parametrize("kind", ["agent", "project"])
def test_nor_is_one_in_a_description(office: System, secret: str, kind: str) -> None:
    named = {"name": "BlueLake"} if kind == "agent" else {"key": "other", "name": "Other"}
    id_ = office.mail_id(kind, **named, description=f"There is {secret}")  # type: ignore[arg-type]
    assert not leaks(office.mail_document(id_, "title, body, search_vector::text"))
    assert not any(leaks(text) for text in office.embedder.texts)


def test_an_agent_s_contact_is_not_searched(office: System) -> None:
    id_ = office.mail_id("agent", name="BlueLake", contact="mailto:hunter2@x.test")
    assert office.stored_agent(id_).content.contact == "mailto:hunter2@x.test"
    assert not leaks(office.mail_document(id_, "title, body, search_vector::text"))


def test_a_vector_made_late_is_of_the_text_without_it(office: System) -> None:
    office.embedder.away = True
    office.put_message(body="password=hunter2 is it")
    office.embedder.away = False
    office.embedder.calls.clear()
    office.parts.embed_missing()
    assert any("is it" in text for text in office.embedder.texts)
    assert not any(leaks(text) for text in office.embedder.texts)


def test_a_refused_message_s_reason_does_not_quote_it(office: System) -> None:
    office.sql("ALTER TABLE mcp.mail_messages ADD CONSTRAINT no_cursed CHECK (key <> 'cursed')")
    try:
        [outcome] = office.put_mail("message", message("cursed", body="password=hunter2")).outcomes
    finally:
        office.sql("ALTER TABLE mcp.mail_messages DROP CONSTRAINT no_cursed")
    assert outcome.status == "failed"
    assert not leaks(outcome)
