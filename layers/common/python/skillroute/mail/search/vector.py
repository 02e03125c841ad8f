"""The semantic half: what is nearest to the query's embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillroute.core.documents.index.ahead import ByWords, Nearest, ask_ahead
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.mail.collection import MAIL_DOCUMENTS
from skillroute.mail.search import model as message_search
from skillroute.mail.search.facets import index_filter
from skillroute.mail.search.model import MailFilter
from skillroute.mail.search.scores import RawScores


def nearest(index: SearchedIndex, vector: Sequence[float], where: MailFilter) -> RawScores:
    """Return the pool of the nearest by cosine, ties by id; they are what a semantic search finds.

    Raises `IndexUnavailable`.
    """
    hits = index.search(MAIL_DOCUMENTS, vector, where=index_filter(where), limit=message_search.POOL)
    return [(int(hit.key), hit.score) for hit in hits]


def ask_both_halves(
    index: SearchedIndex, terms: Mapping[str, float], vector: Sequence[float], where: MailFilter
) -> None:
    """Tell an index that it will be asked for the lexical pool and for that of `nearest`. Raises as that does."""
    conditions, pool = index_filter(where), message_search.POOL
    ask_ahead(
        index,
        [ByWords(MAIL_DOCUMENTS, terms, conditions, pool), Nearest(MAIL_DOCUMENTS, [vector], conditions, pool)],
    )
