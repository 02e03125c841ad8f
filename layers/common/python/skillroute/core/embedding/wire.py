"""Requests to an embedding model and its answers: texts that it accepts, vectors that can be trusted."""

from __future__ import annotations

from array import array

from skillroute.core.embedding.model import EmbeddingModel, Vector, normalise
from skillroute.core.errors.model import EmbeddingUnavailable, TextRefused

MAX_TEXT_BYTES = 8000
"""Where a text is cut. The models take 8,192 tokens and refuse longer texts, and no tokenizer makes more tokens than
there are bytes. In English it is about 1,300 words, of which a tool's description rarely needs a tenth."""

PLACEHOLDER = "-"
"""Sent for a text without a visible character, which the models refuse. A mark rather than a space: servers strip."""


def clipped(text: str) -> str:
    """Return the first `MAX_TEXT_BYTES` of a text in UTF-8, with halves of surrogate pairs replaced."""
    data = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES]
    return data.decode("utf-8", "ignore")  # the cut may go through a character


def acceptable(text: str) -> str:
    """Return a text that no remote model refuses: clipped, and with a visible character."""
    clip = clipped(text)
    return clip if clip.strip() else PLACEHOLDER


def unit_vector(values: object, model: EmbeddingModel) -> Vector:
    """Check what a server sent as an embedding and scale it to L2 norm 1.

    Raises
    ------
    EmbeddingUnavailable
        It is no list of numbers, or has another dimension than the model.
    TextRefused
        It has no direction: models answer so for texts that they cannot make anything of.
    """
    if not isinstance(values, list):
        raise EmbeddingUnavailable(f"{model.name} answered with an embedding that is not a list of numbers")
    try:
        numbers = array("d", values)
    except (TypeError, OverflowError) as error:
        raise EmbeddingUnavailable(f"{model.name} answered with an embedding that is not a list of numbers") from error
    if len(numbers) != model.dimension:
        raise EmbeddingUnavailable(
            f"{model.name} answered with {len(numbers)} dimensions, {model.dimension} are configured"
        )
    try:
        vector = normalise(numbers)
    except OverflowError:  # each square is finite, their sum is not
        vector = None
    if vector is None:
        raise TextRefused(f"{model.name} answered with an embedding that is zero or not finite")
    return vector
