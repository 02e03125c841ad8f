"""The semantic half: the query's embedding, and what is nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.domain import message_search
from skillroute.domain.index import Collection
from skillroute.domain.message_search import MailFilter
from skillroute.ports import VectorIndex
from skillroute.search.messages.facets import index_filter
from skillroute.search.messages.fuse import Figures


def nearest(index: VectorIndex, vector: Sequence[float], where: MailFilter) -> Figures:
    """Return the pool of the nearest by cosine, ties by id; they are what a semantic search finds.

    Raises `IndexUnavailable`.
    """
    hits = index.search(Collection.MAIL, vector, where=index_filter(where), limit=message_search.POOL)
    return [(int(hit.key), hit.score) for hit in hits]
