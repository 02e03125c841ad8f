"""Texts and words of servers and agents: derived from their content, in the transaction that changes it.

A server is found by the texts of its tools, too. So writers of tools lock their servers first (`lock_servers`) and
refresh them last: of two that change tools of one server at once, the second waits, and then sees the tools of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillroute.core.documents.checks import MAX_FINDINGS, Finding
from skillroute.core.documents.repository import DocumentRepository, DocumentText
from skillroute.core.documents.texts import IndexedText
from skillroute.core.hashing import text_hash
from skillroute.core.postgres.database import Database, Session
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.repository import RegistryRepository
from skillroute.registry.text import EntityText, embedding_text, placed_words

_PAGE = 500


def refresh(session: Session, entity_ids: Sequence[int]) -> None:
    """Derive, within a transaction, what entities are found by. What is the same stays untouched, its vector too."""
    if not entity_ids:
        return
    registry, documents = RegistryRepository(session), DocumentRepository(session, REGISTRY_DOCUMENTS)
    sources = registry.load_sources(entity_ids)
    stored = documents.hashes([str(entity_id) for entity_id in sources])
    texts = [DocumentText(str(entity_id), indexed_text(source)) for entity_id, source in sources.items()]
    documents.put([text for text in texts if stored.get(text.key) != text.text.hash])
    for entity_id, source in sources.items():
        registry.set_words(entity_id, list(placed_words(source)))


def check_entities(database: Database) -> list[Finding]:
    """Return what breaks a rule, and the entities that are not found by what they say. Raises `DatabaseUnavailable`."""
    found = database.read(lambda session: RegistryRepository(session).broken_rules(MAX_FINDINGS))
    return found + [
        Finding("a server or agent is found by what it says", str(entity_id), "its words or its text are others")
        for page in pages(database)
        # At one moment: what they say and what they are found by change in one transaction.
        for entity_id in database.snapshot(lambda session, ids=page: stale_entities(session, ids))  # type: ignore[misc]
    ]


def refresh_all(database: Database) -> None:
    """Derive again what entities are found by, of all that are not found by what they say."""
    for page in pages(database):
        wrong = database.read(lambda session, ids=page: stale_entities(session, ids))  # type: ignore[misc]
        if wrong:
            database.transact(lambda session, ids=wrong: _refresh_locked(session, ids))  # type: ignore[misc]
    database.transact(lambda session: RegistryRepository(session).mend_words())
    database.transact(lambda session: RegistryRepository(session).mend_items())
    for org_id in database.read(lambda session: RegistryRepository(session).orgs_naming_servers()):
        database.transact(lambda session, org_id=org_id: RegistryRepository(session).mend_server_texts(org_id))  # type: ignore[misc]


def pages(database: Database) -> Iterator[list[int]]:
    """Yield the ids of all entities of all organisations, ascending, in pages of bounded size."""
    after = 0
    while ids := database.read(lambda session: RegistryRepository(session).ids(after=after, limit=_PAGE)):  # noqa: B023 (called at once)
        yield ids
        after = ids[-1]


def _refresh_locked(session: Session, entity_ids: Sequence[int]) -> None:
    RegistryRepository(session).lock(entity_ids)
    refresh(session, entity_ids)


def stale_entities(session: Session, entity_ids: Sequence[int]) -> list[int]:
    """Return which of these entities are stored with other words, or with a text, than they should be."""
    if not entity_ids:
        return []
    sources = RegistryRepository(session).load_sources(entity_ids)
    words = RegistryRepository(session).words(entity_ids)
    hashes = DocumentRepository(session, REGISTRY_DOCUMENTS).hashes([str(entity_id) for entity_id in entity_ids])
    return [
        entity_id
        for entity_id, source in sources.items()
        if hashes.get(str(entity_id)) != indexed_text(source).hash
        or set(words.get(entity_id, ())) != set(placed_words(source))
    ]


def indexed_text(source: EntityText) -> IndexedText:
    """Return what an entity says to the index by meaning; its words are not BM25's (docs/adr/0016)."""
    text = embedding_text(source)
    return IndexedText((text,), "", text_hash(text))
