"""Vectors of things that have several texts each, and why there is none where the model does not take one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillroute.core.embedding.model import Vector, blend, weighted_mean
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import EmbeddingUnavailable, TextRefused
from skillroute.core.input.encodable import encodable

VIEW_WEIGHTS = (1.0, 0.5, 0.5)
"""How much a document's texts count towards its vector: the whole of it, and its views (docs/adr/0003)."""

REQUESTS_WEIGHT = 0.5
"""The weight of the mean of a document's requests, next to that of its texts (docs/adr/0067)."""

CONTEXT_WEIGHT = 0.1
"""The weight of the text of a document's owner, such as a tool's server, next to its own texts (docs/adr/0069)."""

CONTEXT_MARK = "\x1f"
"""The mark at the start of that text, among the document's texts; it is not embedded."""

HARMLESS = "ready"
"""A text that every model takes: one that refuses it refuses everything, as a wrong model name is refused."""

MAX_REASON_LENGTH = 500
"""How much of a reason is kept, in characters."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a model has no vector of a text, and will have none.

    Attributes
    ----------
    reason : str
        For operators: it repeats what the model's server answered for this text, and for no other. Callers are shown
        `TextRefused.public_message`.
    """

    reason: str

    @classmethod
    def of(cls, error: TextRefused) -> Refusal:
        """Return what is kept of an error: nothing that PostgreSQL could not store."""
        message = encodable(str(error)).replace("\0", "")
        return cls(message[:MAX_REASON_LENGTH])


def embed_views(embedder: Embedder, views: Sequence[Sequence[str]], *, timeout_s: float) -> list[Vector]:
    """Embed things that have several texts each: one vector a thing, the weighted mean of its texts' vectors.

    Parameters
    ----------
    views : sequence of texts
        At least one text each; they count as `VIEW_WEIGHTS` says. More than these are requests that the thing serves:
        the vector is the mean of that of its texts and that of its requests, which counts `REQUESTS_WEIGHT`. One that
        begins with `CONTEXT_MARK` describes the document's owner, and has the weight `CONTEXT_WEIGHT`.

    Raises
    ------
    EmbeddingUnavailable
    """
    texts = list(dict.fromkeys(text.removeprefix(CONTEXT_MARK) for thing_texts in views for text in thing_texts))
    vector_of = dict(zip(texts, embedder.embed(texts, timeout_s=timeout_s), strict=True)) if texts else {}
    unused = embedder.model.unused if texts else None
    return [
        _vector(thing_texts, [vector_of[text.removeprefix(CONTEXT_MARK)] for text in thing_texts], unused)
        for thing_texts in views
    ]


def _vector(texts: Sequence[str], vectors: Sequence[Vector], unused: int | None) -> Vector:
    views = len(VIEW_WEIGHTS)
    # Views of one thing never cancel out to nothing; if they did, the whole text would stand for it.
    mean = weighted_mean(zip(vectors, VIEW_WEIGHTS, strict=False)) or vectors[0]
    others = list(zip(texts, vectors, strict=True))[views:]
    requests = weighted_mean((vector, 1.0) for text, vector in others if not text.startswith(CONTEXT_MARK))
    context = weighted_mean((vector, 1.0) for text, vector in others if text.startswith(CONTEXT_MARK))
    own = blend(mean, requests, REQUESTS_WEIGHT, unused=unused)
    return blend(own, context, CONTEXT_WEIGHT, unused=unused)


def embed_or_refuse(
    embedder: Embedder, views: Sequence[Sequence[str]], left_s: Callable[[], float]
) -> tuple[list[Vector | Refusal], EmbeddingUnavailable | None]:
    """Return the vector of each thing, in order, or why the model refuses it.

    What is refused together is asked for half by half: one bad thing among 128 costs 16 calls, once. Things are decided
    from the first to the last, so that one call after the other comes to an end even where each runs out of time.

    Parameters
    ----------
    views : sequence of texts
        As `embed_views` takes them.
    left_s : callable
        Returns the seconds that are left for all of it, and raises `EmbeddingUnavailable` when there are none.

    Returns
    -------
    what became of the first ones, and None when these are all. Else why the next has neither vector nor refusal: there
    is no model, or no time left; or the model refuses harmless texts as well.
    """
    made: list[Vector | Refusal] = []
    untried = [range(len(views))] if views else []
    try:
        while untried:
            part = untried.pop()
            try:
                made += embed_views(embedder, views[part.start : part.stop], timeout_s=left_s())
            except TextRefused as error:
                if len(part) > 1:
                    middle = len(part) // 2
                    untried += [part[middle:], part[:middle]]
                    continue
                require_harmless(embedder, timeout_s=left_s())
                made.append(Refusal.of(error))
    except EmbeddingUnavailable as error:
        return made, error
    return made, None


def require_harmless(embedder: Embedder, *, timeout_s: float) -> None:
    """See that a model which refused a text takes others: else it is not the text's fault.

    Raises
    ------
    EmbeddingUnavailable
        It does not take a harmless text either, or cannot be asked.
    """
    try:
        embedder.embed([HARMLESS], timeout_s=timeout_s)
    except TextRefused as error:
        raise EmbeddingUnavailable(f"the embedding model refuses every text: {error}") from error
