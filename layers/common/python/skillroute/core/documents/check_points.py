"""Checking that what is searched inside PostgreSQL is what documents say, and mending it (docs/adr/0061)."""

from __future__ import annotations

from collections.abc import Iterator

from skillroute.core.documents.checks import Finding
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.postgres.database import Database, Session

_PAGE = 500
RULE = "what PostgreSQL searches is what its document says"


def stale_points(database: Database) -> Iterator[tuple[Collection, list[str]]]:
    """Yield the keys of documents whose points say something else, page by page; none where no points are kept.

    Raises `DatabaseUnavailable`.
    """
    [[has_vectors, _, is_filled, *_]] = database.read(lambda session: session.run("search_state"))
    for collection in collections() if has_vectors and is_filled else ():
        documents, after = DocumentRepository.of(collection), ""
        while page := database.read(lambda session: documents(session).keys(after=after, limit=_PAGE)):  # noqa: B023
            after = page[-1]
            rows = database.snapshot(
                lambda session, keys=page, of=collection.value: session.run(  # type: ignore[misc]
                    "stale_search_points", collection=of, keys=keys
                )
            )
            if rows:
                yield collection, [key for (key,) in rows]


def check_points(database: Database) -> list[Finding]:
    """Return the documents whose points say something else. Raises `DatabaseUnavailable`."""
    return [
        Finding(RULE, f"{collection.value} {key}", "its owner, its filters or its vector differ")
        for collection, keys in stale_points(database)
        for key in keys
    ]


def mend_points(database: Database) -> None:
    """Bring the points of all documents up to these. Raises `DatabaseUnavailable`."""
    for collection, keys in stale_points(database):
        database.transact(lambda session, of=collection, keys=keys: _mend(session, of, keys))  # type: ignore[misc]


def _mend(session: Session, collection: Collection, keys: list[str]) -> None:
    DocumentRepository(session, collection).lock(keys)
    session.run("put_search_points", collection=collection.value, keys=keys)
