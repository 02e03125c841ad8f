"""The request and answer forms of Bedrock's embedding models, one for each family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import ConfigurationError


class Form(Protocol):
    """The form of one model."""

    @property
    def texts_a_call(self) -> int: ...

    def body(self, texts: Sequence[str], *, is_query: bool) -> dict[str, Any]:
        """Return what is sent for texts that `wire.acceptable` has passed."""
        ...

    def values(self, answer: Any) -> Sequence[object]:
        """Return what an answer has for each text. Raises `KeyError` or `TypeError` where it is another answer."""
        ...


@dataclass(frozen=True, slots=True)
class Titan:
    """Titan Text Embeddings V2: a text a call, and vectors as short as one wants.

    https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
    """

    dimension: int
    texts_a_call: int = 1

    def body(self, texts: Sequence[str], *, is_query: bool) -> dict[str, Any]:
        """Return the body; a query is sent as any text is."""
        return {"inputText": texts[0], "dimensions": self.dimension, "normalize": True}

    def values(self, answer: Any) -> Sequence[object]:
        """Return the one vector."""
        return [answer["embedding"]]


@dataclass(frozen=True, slots=True)
class Cohere:
    """Embed v3: 96 texts a call of 2,048 characters each, with the use of their vectors.

    https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed-v3.html
    """

    texts_a_call: int = 96
    chars: int = 2048

    def body(self, texts: Sequence[str], *, is_query: bool) -> dict[str, Any]:
        """Return the body: a query is put where the documents are that it asks for."""
        return {
            "texts": [text[: self.chars] for text in texts],
            "input_type": "search_query" if is_query else "search_document",
            "truncate": "END",
        }

    def values(self, answer: Any) -> Sequence[object]:
        """Return the vectors, in the order of the texts."""
        vectors = answer["embeddings"]
        if not isinstance(vectors, list):
            raise TypeError("the embeddings are no list")
        return vectors


_TITAN_DIMENSIONS = (256, 512, 1024)
_COHERE_DIMENSION = 1024


def form_of(model: EmbeddingModel) -> Form:
    """Return the form of a model by its id; what is not one of Cohere's is taken for Titan.

    Raises
    ------
    ConfigurationError
        The model has no vectors of that dimension, or is one of Cohere's with another form.
    """
    if "cohere.embed-" in model.name:
        if not model.name.endswith("-v3"):
            raise ConfigurationError(f"of Cohere's models on Bedrock those of Embed v3 can be used, not {model.name}")
        if model.dimension != _COHERE_DIMENSION:
            raise ConfigurationError(f"Cohere Embed v3 has {_COHERE_DIMENSION} dimensions, not {model.dimension}")
        return Cohere()
    if model.dimension not in _TITAN_DIMENSIONS:
        raise ConfigurationError(f"Titan Text Embeddings V2 has 256, 512 or 1024 dimensions, not {model.dimension}")
    return Titan(model.dimension)
