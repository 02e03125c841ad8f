"""One page of a ranking, or of a listing: minimum score, order, cursor (message-search, section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from skillroute.core.postgres.database import Session
from skillroute.mail.search.cursor import Cursor, CursorEngine
from skillroute.mail.search.model import MailFilter, MessageSearchRequest
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.search.scores import Match


class Ranking(Protocol):
    """Matches in order, best first."""

    def all(self) -> list[Match]:
        """Return all of them."""
        ...

    def after(self, cursor: Cursor | None, need: int, /) -> list[Match]:
        """Return what comes after a cursor: all of it, or at least `need` of them."""
        ...

    def raw_score(self, match: Match) -> float:
        """Return what a cursor says of a match."""
        ...


@dataclass(frozen=True, slots=True)
class Page:
    """The results of a page, in order.

    Attributes
    ----------
    end : Cursor or None
        Where it ended; there exactly when the page is full.
    place : callable
        Where it would have ended after so many of its matches: a page may be full sooner, of bytes.
    """

    matches: Sequence[Match]
    end: Cursor | None
    place: Callable[[int], Cursor | None] = lambda number: None


_LAST = 2**63 - 1  # what PostgreSQL takes as a time, and as an id


def by_relevance(
    ranking: Ranking, request: MessageSearchRequest, cursor: Cursor | None, offset: int, engine: CursorEngine
) -> Page:
    """Return a page, the best first."""
    # A minimum above 0 leaves out all that only a look at everything could place.
    need = 0 if (request.min_score or 0.0) > 0.0 else offset + request.limit
    following = good(ranking.after(cursor, need), request)[offset : offset + request.limit]

    def place(number: int) -> Cursor:
        last = following[number - 1]
        return Cursor(ranking.raw_score(last), last.id, engine)

    return Page(following, place(request.limit) if len(following) == request.limit else None, place)


def listing(
    session: Session, request: MessageSearchRequest, where: MailFilter, cursor: Cursor | None, offset: int
) -> Page:
    """Return a page of what passes the filters: by id, or the newest first. All score 1.0."""
    newest = request.ranking == "recency"
    if not newest and cursor is not None and cursor.score < 1.0:
        return Page([], None)  # everything comes before such a place
    after = None
    if cursor is not None and (newest or cursor.score == 1.0):
        after = time_of(cursor) if newest else (0, cursor.id)
    rows = MailSearchRepository(session).listed(where, newest_first=newest, after=after, limit=offset + request.limit)[
        offset:
    ]
    matches = good([Match(-1.0, id_, 1.0) for id_, _ in rows], request)

    def place(number: int) -> Cursor:
        last_id, last_ts = rows[number - 1]
        return Cursor(-float(last_ts) if newest else 1.0, last_id, "postgres")

    return Page(matches, place(request.limit) if len(matches) == request.limit else None, place)


def time_of(cursor: Cursor) -> tuple[int, int]:
    """Return where a cursor of the newest stands: a time and an id."""
    whole = math.floor(-cursor.score)
    # One between two whole numbers is none of ours; it stands before all of the lower one.
    ts, id_ = (whole, cursor.id) if whole == -cursor.score else (whole + 1, _LAST)
    return min(max(ts, -_LAST), _LAST), id_


def good(matches: Sequence[Match], request: MessageSearchRequest) -> list[Match]:
    """Return the matches that score high enough."""
    least = request.min_score
    return list(matches) if least is None else [match for match in matches if -match.order >= least]
