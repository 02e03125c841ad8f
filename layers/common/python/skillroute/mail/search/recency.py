"""A page of the newest (message-search, sections 2 and 4): of all that was found, or found on the way back in time."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.postgres.database import Database
from skillroute.mail.search.cursor import Cursor, CursorEngine
from skillroute.mail.search.lexical import Words
from skillroute.mail.search.model import MailFilter, MessageSearchRequest
from skillroute.mail.search.page import Page, Ranking, good, time_of
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.search.scores import Match

WINDOWS = (500, 1000, 2000, 4000, 8000)
"""How many documents are looked through at a time. Where so many do not fill a page, matches are rare among them."""

_Found = list[tuple[float, Match]]
"""Matches with minus their time, in order. Doubles, as a cursor has them: to the microsecond until the year 2255."""


class Times:
    """When documents were created: of what a search looks at."""

    def __init__(self, database: Database, where: MailFilter) -> None:
        self._database = database
        self._where = where

    def created(self, ids: Sequence[int]) -> dict[int, int]:
        """Return the times of documents that exist."""
        return self._database.read(lambda session: MailSearchRepository(session).created(ids)) if ids else {}

    def newest(self, after: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
        """Return ids and times of whatever passes the filters, the newest first, after a time and an id."""
        return self._database.read(
            lambda session: MailSearchRepository(session).listed(
                self._where, newest_first=True, after=after, limit=limit
            )
        )


def by_recency(
    ranking: Ranking,
    request: MessageSearchRequest,
    cursor: Cursor | None,
    offset: int,
    engine: CursorEngine,
    times: Times,
) -> Page:
    """Return a page of all that was found, the newest first, then by id; scores stay what they are."""
    found = None
    # A minimum above 0 leaves out all that the pool has no place for, unless all are alike.
    lies_in_pool = (request.min_score or 0.0) > 0.0
    # Ranks, which explain shows, are known only once everything is.
    if isinstance(ranking, Words) and ranking.is_full and not lies_in_pool and not request.explain:
        found = _walked(ranking, request, cursor, offset + request.limit, times)
    if found is None:
        found = _sorted(ranking.after(None, 0) if lies_in_pool else ranking.all(), request, cursor, times)
    chosen = found[offset : offset + request.limit]
    matches = [match for _, match in chosen]

    def place(number: int) -> Cursor:
        last_ts, last = chosen[number - 1]
        return Cursor(last_ts, last.id, engine)

    return Page(matches, place(request.limit) if len(matches) == request.limit else None, place)


def _sorted(matches: Sequence[Match], request: MessageSearchRequest, cursor: Cursor | None, times: Times) -> _Found:
    """Return all matches after a cursor."""
    by_id = {match.id: match for match in good(matches, request)}
    places = sorted((-float(created), id_) for id_, created in times.created(list(by_id)).items())
    if cursor is not None:
        places = [place for place in places if place > (cursor.score, cursor.id)]
    return [(lost, by_id[id_]) for lost, id_ in places]


def _walked(
    words: Words, request: MessageSearchRequest, cursor: Cursor | None, wanted: int, times: Times
) -> _Found | None:
    """Return matches after a cursor, at least as many as wanted or all of them; None when they are too far apart."""
    after = None if cursor is None else time_of(cursor)
    found: _Found = []
    for size in WINDOWS:
        window = times.newest(after, size)
        if window:
            matches = good(words.between(window[-1][1], window[0][1], size), request)
            by_id = {match.id: match for match in matches}
            found += [(-float(created), by_id[id_]) for id_, created in window if id_ in by_id]
            last_id, last_ts = window[-1]
            after = last_ts, last_id
        if len(window) < size or len(found) >= wanted:
            return found
    return None
