"""The semantic half: the query's embedding, and what is nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

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
