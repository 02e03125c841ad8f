"""Looking for documents that are not what their rows say, and bringing them up to these."""

from __future__ import annotations

from collections.abc import Iterator

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.postgres.database import Database

_PAGE = 500


def stale_documents(database: Database, collection: Collection) -> Iterator[list[str]]:
    """Yield the keys of documents that say something else than their rows, page by page.

    Raises `DatabaseUnavailable`.
    """
    documents, after = DocumentRepository.of(collection), ""
    while page := database.read(lambda session: documents(session).keys(after=after, limit=_PAGE)):  # noqa: B023 (called at once)
        after = page[-1]
        if stale := database.snapshot(lambda session, keys=page: documents(session).stale(keys)):  # type: ignore[misc]
            yield stale


def mend_documents(database: Database) -> None:
    """Bring every document up to its row. Raises `DatabaseUnavailable`."""
    for collection in collections():
        documents = DocumentRepository.of(collection)
        for stale in stale_documents(database, collection):
            database.transact(lambda session, keys=stale, of=documents: of(session).project(keys))  # type: ignore[misc]
