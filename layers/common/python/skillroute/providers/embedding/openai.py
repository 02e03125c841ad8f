"""Embeddings from any server that speaks OpenAI's ``POST /v1/embeddings``."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from typing import TYPE_CHECKING

from skillroute.domain.embedding import EmbeddingModel, Vector
from skillroute.errors import ConfigurationError, EmbeddingUnavailable
from skillroute.providers.embedding.calls import (
    DEFAULT_RETRY,
    TRANSIENT_STATUSES,
    Deadline,
    RetryPolicy,
    TransientFailure,
    fan_out,
    retry_after_s,
)
from skillroute.providers.embedding.wire import MAX_MESSAGE_LENGTH, acceptable, unit_vector

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
    base_url : str
        Up to and including the version: ``https://api.openai.com/v1``.
    api_key : str or None
        Sent as a bearer token. Never part of an error message.
    send_dimensions : bool
        Whether to ask for `model.dimension`. Models that can shorten their vectors need it, the others refuse it.
    max_items : int
        Texts in one request at most. OpenAI allows 2,048, and 300,000 tokens in all, which 64 texts of the length that
        `wire.acceptable` lets pass stay below.
    retry : RetryPolicy
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
        api_key: str | None = None,
        send_dimensions: bool = False,
        max_items: int = 64,
        retry: RetryPolicy = DEFAULT_RETRY,
    ) -> None:
        if find_spec("httpx") is None:
            raise ConfigurationError("an OpenAI-compatible embedding endpoint needs the package httpx")
        # A key with a newline at its end, as files have it, would fail later, in a message that quotes the header.
        if api_key is not None and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
            raise ConfigurationError("the API key of the embedding endpoint holds a space or an unprintable character")
        self._model = model
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._api_key = api_key
        self._send_dimensions = send_dimensions
        self._max_items = max_items
        self._retry = retry
        self._lock = threading.Lock()
        self._client: httpx.Client | None = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, as configured: the endpoint is not asked."""
        return self._model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        A text is cut after `wire.MAX_TEXT_BYTES`; for a blank one, which the models refuse, a dash is embedded.

        Raises
        ------
        EmbeddingUnavailable
            The endpoint failed, refused or sent something unusable, or `timeout_s` seconds went by, retries included.
        """
        deadline = self._retry.deadline(timeout_s)
        accepted = [acceptable(text) for text in texts]
        batches = [accepted[start : start + self._max_items] for start in range(0, len(accepted), self._max_items)]

        def embed_batch(batch: list[str]) -> list[Vector]:
            return self._retry.run(lambda: self._request(batch, deadline), deadline)

        return list(chain.from_iterable(fan_out(embed_batch, batches, workers=_WORKERS, deadline=deadline)))

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _request(self, texts: list[str], deadline: Deadline) -> list[Vector]:
        """Make one attempt at one batch."""
        import httpx  # noqa: PLC0415 - 90 ms that a process which never embeds does not pay

        body: dict[str, object] = {"model": self._model.name, "input": texts, "encoding_format": "float"}
        if self._send_dimensions:
            body["dimensions"] = self._model.dimension
        try:
            response = self._connected().post(self._url, json=body, timeout=_attempt_timeout_s(deadline))
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise EmbeddingUnavailable(f"the embedding endpoint's URL is wrong: {error}") from error
        except httpx.TimeoutException as error:
            raise TransientFailure(f"the embedding endpoint timed out ({type(error).__name__})") from error
        except httpx.TransportError as error:
            raise TransientFailure(f"the embedding endpoint cannot be reached: {error}") from error
        except httpx.HTTPError as error:
            raise EmbeddingUnavailable(f"the embedding endpoint's answer is unreadable: {error}") from error
        self._check_status(response)
        return self._vectors(response, len(texts))

    def _connected(self) -> httpx.Client:
        import httpx  # noqa: PLC0415 - see _request

        with self._lock:
            if self._client is None:
                headers = {"Authorization": f"Bearer {self._api_key}"} if self._api_key else {}
                self._client = httpx.Client(headers=headers)
            return self._client

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if response.is_success:
            return
        message = f"the embedding endpoint answered {status}: {self._server_message(response)}"
        if status in TRANSIENT_STATUSES or status >= 500:
            raise TransientFailure(message, retry_after_s=retry_after_s(response.headers.get("retry-after")))
        raise EmbeddingUnavailable(message)

    def _server_message(self, response: httpx.Response) -> str:
        """Return the server's own words, short, without the key that some servers repeat."""
        try:
            body = response.json()
            error = body.get("error", body) if isinstance(body, dict) else body
            said = str(error.get("message", error) if isinstance(error, dict) else error)
        except ValueError:
            said = response.text
        if self._api_key:
            said = said.replace(self._api_key, "[key]")
        return said.strip()[:MAX_MESSAGE_LENGTH] or "no message"

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
    """Half of what is left, so that a server which hangs once can be asked again. All of it when that is little."""
    remaining_s = deadline.remaining_s()
    return max(remaining_s / 2, min(remaining_s, 0.25))
