"""Embeddings from any server that speaks OpenAI's ``POST /v1/embeddings``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder, OtherForm
from skillroute.core.embedding.prefixes import prefixes_of
from skillroute.core.embedding.wire import acceptable, unit_vector
from skillroute.core.errors.model import EmbeddingUnavailable, TextRefused
from skillroute.core.remote.calls import fan_out
from skillroute.core.remote.openai import OpenAIEndpoint
from skillroute.core.secrets import Secret
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import DEFAULT_RETRY, Retry

if TYPE_CHECKING:
    import httpx

_WORKERS = 4


class OpenAIEmbedder:
    """Embeds through an OpenAI-compatible endpoint. Safe to call from several threads.

    Connection failures, timeouts and the statuses 408, 429 and 5xx are tried again within the caller's deadline; any
    other status fails at once. Connects on first use.

    Parameters
    ----------
    model : EmbeddingModel
        The model's id at the endpoint, and the dimension that its vectors must have.
    base_url, api_key
        See `OpenAIEndpoint`.
    send_dimensions : bool
        Whether to ask for `model.dimension`. Models that can shorten their vectors need it, the others refuse it.
    max_items : int
        Texts in one request at most. OpenAI allows 2,048, and 300,000 tokens in all, which 64 texts of the length that
        `wire.acceptable` lets pass stay below.
    retry : Retry
        How often, and how far apart.

    Raises
    ------
    ConfigurationError
        The package httpx is missing, or the key holds characters that no header can.

    Examples
    --------
    >>> embedder = OpenAIEmbedder(EmbeddingModel("text-embedding-3-small", 1536), api_key="sk-...")
    >>> embedder.model.dimension
    1536
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        base_url: str = "https://api.openai.com/v1",
        api_key: str | Secret | None = None,
        send_dimensions: bool = False,
        max_items: int = 64,
        retry: Retry = DEFAULT_RETRY,
    ) -> None:
        self._model = model
        self._prefixes = prefixes_of(model.name)
        self._endpoint = OpenAIEndpoint(
            "embeddings",
            base_url=base_url,
            api_key=api_key,
            what="the embedding endpoint",
            error=EmbeddingUnavailable,
            refused=TextRefused,
        )
        self._send_dimensions = send_dimensions
        self._max_items = max_items
        self._retry = retry

    @property
    def model(self) -> EmbeddingModel:
        """The model, as configured: the endpoint is not asked."""
        return self._model

    def for_queries(self) -> Embedder:
        """Return the embedder of queries, over the same connections."""
        return OtherForm(self, lambda texts, timeout_s: self._embed(texts, timeout_s, self._prefixes.query))

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        A text is cut after `wire.MAX_TEXT_BYTES`; for a blank one, which the models refuse, a dash is embedded.

        Raises
        ------
        TextRefused
            The endpoint does not take one of the texts, or their number: it blames what it was sent (400, 413, 422).
        EmbeddingUnavailable
            The endpoint failed, refused or sent something unusable, or `timeout_s` seconds went by, retries included.
        """
        return self._embed(texts, timeout_s, self._prefixes.document)

    def _embed(self, texts: Sequence[str], timeout_s: float, prefix: str) -> list[Vector]:
        deadline = Deadline(timeout_s, self._retry.clock, callee=EMBEDDING_MODEL)
        accepted = [acceptable(prefix + text if text.strip() else text) for text in texts]
        batches = [accepted[start : start + self._max_items] for start in range(0, len(accepted), self._max_items)]

        def embed_batch(batch: list[str]) -> list[Vector]:
            return self._retry.run(lambda: self._request(batch, deadline), deadline=deadline)

        return list(chain.from_iterable(fan_out(embed_batch, batches, workers=_WORKERS, deadline=deadline)))

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        self._endpoint.close()

    def _request(self, texts: list[str], deadline: Deadline) -> list[Vector]:
        """Make one attempt at one batch."""
        body: dict[str, object] = {"model": self._model.name, "input": texts, "encoding_format": "float"}
        if self._send_dimensions:
            body["dimensions"] = self._model.dimension
        return self._vectors(self._endpoint.post(body, timeout_s=_attempt_timeout_s(deadline)), len(texts))

    def _vectors(self, response: httpx.Response, expected: int) -> list[Vector]:
        """Read the embeddings in the order of ``index``, which the order of the list need not be."""
        try:
            entries = [(entry["index"], entry["embedding"]) for entry in response.json()["data"]]
            by_index = dict(entries)
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingUnavailable("the embedding endpoint did not send a list of embeddings") from error
        if len(entries) != expected or by_index.keys() != set(range(expected)):
            raise EmbeddingUnavailable(
                f"the embedding endpoint sent {len(entries)} embeddings for {expected} texts, or numbered them wrongly"
            )
        return [unit_vector(by_index[index], self._model) for index in range(expected)]


def _attempt_timeout_s(deadline: Deadline) -> float:
    """Return half of what is left, so that a server which hangs once can be asked again; all when that is little."""
    remaining_s = deadline.remaining_s()
    return max(remaining_s / 2, min(remaining_s, 0.25))
