"""Both lexical engines behind one protocol, and the ranking over either (message-search, sections 1 and 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.lexical_engines import LexicalEngineName
from skillroute.core.documents.model import IndexFilter
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search import model as message_search
from skillroute.mail.search.cursor import Cursor
from skillroute.mail.search.facets import index_filter
from skillroute.mail.search.model import MailFilter, Method
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.search.scores import Match, RawScores, Scale
from skillroute.mail.text import MAX_IMPACT

_MARK = 2.0**-512
_MIN_SCORE = 2.0**-256
"""Below it, as a negative number, a cursor's score is a mark; exact, since a power of two costs no digit."""


class LexicalEngine(Protocol):
    """Finds what has any of the terms, the best first, ties by id."""

    @property
    def name(self) -> LexicalEngineName: ...

    @property
    def method(self) -> Method:
        """How it found what it found last."""
        ...

    def top(self, where: MailFilter, limit: int) -> RawScores:
        """Return the best by the engine's own score."""
        ...

    def all(self, where: MailFilter) -> RawScores:
        """Return everything that was found."""
        ...


class IndexWords:
    """`LexicalEngine` of BM25 in the vector index."""

    name: LexicalEngineName = "bm25"
    method: Method = "text_match"

    def __init__(self, index: SearchedIndex, terms: Mapping[str, float]) -> None:
        self._index = index
        self.terms = terms

    @property
    def most(self) -> float:
        """The upper bound of a score: every term at its largest impact."""
        return sum(self.terms.values()) * MAX_IMPACT

    def top(self, where: MailFilter, limit: int) -> RawScores:
        return self._search(index_filter(where), limit)

    def all(self, where: MailFilter) -> RawScores:
        conditions = index_filter(where)
        return self._search(conditions, self._index.count(MAIL_DOCUMENTS, where=conditions))

    def _search(self, where: IndexFilter, limit: int) -> RawScores:
        if limit < 1:
            return []
        hits = self._index.search_terms(MAIL_DOCUMENTS, self.terms, where=where, limit=limit)
        return [(int(hit.key), hit.score) for hit in hits]


class FullText:
    """`LexicalEngine` of PostgreSQL's full text, and of ILIKE for what that refuses."""

    name: LexicalEngineName = "postgres"

    def __init__(self, database: Database, terms: Sequence[str]) -> None:
        self._database = database
        self._terms = terms
        self.method: Method = "text_match"

    def top(self, where: MailFilter, limit: int) -> RawScores:
        return self._search(where, limit)

    def all(self, where: MailFilter) -> RawScores:
        return self._search(where, None)

    def _search(self, where: MailFilter, limit: int | None) -> RawScores:
        if self.method == "text_match":
            try:
                return self._database.read(
                    lambda session: MailSearchRepository(session).full_text(self._terms, where, limit=limit)
                )
            except StatementRejected as error:
                logger.warning("full text refused a query", extra={"state": error.state})
                self.method = "like_fallback"
        return self._database.read(
            lambda session: MailSearchRepository(session).containing(self._terms, where, limit=limit)
        )


@dataclass(slots=True)
class Words:
    """The ranking of a lexical engine: a pool of the best, and the rest of them when a page reaches so far.

    Scores are min-max over the pool. What lies at or below its last raw score scores 0 and comes by id, so it is known
    only once everything is known. A cursor there says minus the raw score below which all comes by id: then the pages
    after it need not care where the pool ends by then. It says that score times 2**-512, as small as no time is and no
    score that is stated otherwise.
    """

    engine: LexicalEngine
    where: MailFilter
    pool: RawScores = field(init=False)
    _scale: Scale = field(init=False)
    _low: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.pool = self.engine.top(self.where, message_search.POOL)
        self._scale = Scale.over([raw for _, raw in self.pool])

    @property
    def is_full(self) -> bool:
        """Whether there may be more matches than the pool holds."""
        return len(self.pool) >= message_search.POOL

    def all(self) -> list[Match]:
        """Return all matches, in order."""
        return _matches(self.engine.all(self.where) if self.is_full else self.pool, self._scale)

    def between(self, min_ts: int, max_ts: int, about: int) -> list[Match]:
        """Return all matches of a span of time, both ends included, without ranks.

        Parameters
        ----------
        about : int
            How many documents there are; more when several were created at once.
        """
        where = replace(self.where, min_ts=min_ts, max_ts=max_ts)
        raw_scores = self.engine.top(where, 2 * about)
        if len(raw_scores) >= 2 * about:
            raw_scores = self.engine.all(where)
        return [Match(-self._scale(raw), id_, raw) for id_, raw in raw_scores]

    def after(self, cursor: Cursor | None, need: int) -> list[Match]:
        """Return what comes after a cursor, in order: all of it, or at least `need` of them."""
        if cursor is not None and -_MIN_SCORE < cursor.score < 0.0:
            return self._rest_by_id(-cursor.score / _MARK, cursor.id)
        place = _place(cursor, self._scale)
        if not self.is_full:
            return _following(_matches(self.pool, self._scale), place)
        sure = [match for match in _matches(self.pool, self._scale) if match.order < 0.0]
        following = _following(sure, place)
        # Where all score 1, so does what the pool had no place for.
        if len(following) >= need and (need > 0 or not self._scale.is_flat):
            return following
        return self._everything_after(cursor)

    def raw_score(self, match: Match) -> float:
        """Return what a cursor says of a match."""
        return -self._low * _MARK if self._low is not None and match.raw <= self._low else match.raw

    def _everything_after(self, cursor: Cursor | None) -> list[Match]:
        everything = self.engine.all(self.where)
        scale = self._scale
        if cursor is not None and scale(cursor.score) == 0.0:
            # The pool ended lower when the cursor was made: only what is below it still comes by id.
            below = [raw for _, raw in everything if raw < cursor.score]
            scale = Scale(max(below, default=cursor.score), scale.most)
        matches = _matches(everything, scale)
        self._low = max((match.raw for match in matches if match.order == 0.0), default=None)
        return _following(matches, _place(cursor, scale))

    def _rest_by_id(self, low: float, after: int) -> list[Match]:
        self._low = low
        everything = self.engine.all(self.where) if self.is_full else self.pool
        ranked = enumerate(everything, 1)
        # In the order of their ids, though what was deleted meanwhile may have lifted the scores of some above 0.
        rest = [Match(-self._scale(raw), id_, raw, rank) for rank, (id_, raw) in ranked if raw <= low and id_ > after]
        return sorted(rest, key=lambda match: match.id)


def _matches(raw_scores: RawScores, scale: Scale) -> list[Match]:
    return sorted(Match(-scale(raw), id_, raw, rank) for rank, (id_, raw) in enumerate(raw_scores, 1))


def _place(cursor: Cursor | None, scale: Scale) -> tuple[float, int] | None:
    """Return where a cursor stands on a scale that it may lie beyond by now; None before everything."""
    if cursor is None or cursor.score > scale.most:
        return None
    return math.inf if cursor.score < scale.least else -scale(cursor.score), cursor.id


def _following(matches: list[Match], place: tuple[float, int] | None) -> list[Match]:
    return matches if place is None else [match for match in matches if match[:2] > place]
