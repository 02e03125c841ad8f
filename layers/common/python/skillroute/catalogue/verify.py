"""Checking that every item has a document, without which no search finds it."""

from __future__ import annotations

from skillroute.catalogue.repository import ItemRepository
from skillroute.core.documents.checks import MAX_FINDINGS, Finding
from skillroute.core.postgres.database import Database


def check_items(database: Database) -> list[Finding]:
    """Return the items that no search can find. Raises `DatabaseUnavailable`."""
    ids = database.read(lambda session: ItemRepository(session).without_document(MAX_FINDINGS))
    return [Finding("every item has a document", id_, "it has none: write it again") for id_ in ids]
