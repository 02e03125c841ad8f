"""Embedding all texts of several searches in one call, before the first of them: they find them remembered."""

from __future__ import annotations

from collections.abc import Iterable

from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.observability import logger
from skillroute.core.rationing.turns import Turns
from skillroute.search import plan
from skillroute.search.model import SearchRequest

MAX_CHARS = 40_000
"""Of all texts together: those of 20 queries and their clauses have no more. A call that takes the model too long
counts as its failure, and lets the searches of everybody go on by words for a while."""


def embed_ahead(
    embedder: QueryEmbedder,
    requests: Iterable[SearchRequest],
    model: EmbeddingModel,
    default_ranking: plan.RankBy,
    turns: Turns | None = None,
) -> None:
    """Embed the texts of requests and their clauses together, of the first ones as many as `MAX_CHARS` allows.

    Where that fails, the model is left alone for a while, and the searches go on by words. Where it refuses one text,
    the searches ask again, each for its own: only one of them goes without.

    Parameters
    ----------
    turns : Turns or None
        Where this is heavy work, texts are embedded one after the other, and what is plain goes before each.
    """
    texts: list[str] = []
    for request in requests:
        ranking = plan.ranking_for(request.mode, default_ranking)
        more = [part for text in request.texts for part in plan.texts_to_embed(ranking, text)]
        if sum(map(len, [*texts, *more])) > MAX_CHARS:
            break
        texts += more
    try:
        if not texts or not embedder.remembers(len(texts)):
            return
        if turns is None or not turns.is_heavy:
            embedder.embed_all(texts, model)
            return
        for text in texts:
            turns.give_way()
            embedder.embed(text, model)
    except EmbeddingUnavailable as error:
        logger.warning("queries of several searches not embedded together", extra={"reason": str(error)})
