"""Embeddings from Amazon Titan Text Embeddings V2 or Cohere Embed v3 on Bedrock."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from skillroute.core.embedding.bedrock_forms import form_of
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder, OtherForm
from skillroute.core.embedding.wire import acceptable, unit_vector
from skillroute.core.errors.model import EmbeddingUnavailable, TextRefused
from skillroute.core.remote.bedrock import BedrockRuntime
from skillroute.core.remote.calls import fan_out
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import DEFAULT_RETRY, Retry

_WORKERS = 8
# botocore fixes timeouts when it makes the client, so they cannot follow the deadline as an HTTP client's can. Five
# seconds leave room for a second attempt within the ten that a query waits at most.
_READ_TIMEOUT_S = 5.0


class BedrockEmbedder:
    """Embeds with a model of Bedrock, several calls at once. Safe to call from several threads.

    Throttling, timeouts and server errors are tried again within the caller's deadline; missing rights, a wrong model
    id and the like fail at once. The client is made on first use, with the credentials of the environment.

    Parameters
    ----------
    model : EmbeddingModel
        The model id or inference profile, and the dimension: Titan has 256, 512 or 1024, Cohere's have 1024.
    region, endpoint_url
        See `BedrockRuntime`.
    retry : Retry
        How often, and how far apart.

    Raises
    ------
    ConfigurationError
        The model has no vectors of that dimension.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        retry: Retry = DEFAULT_RETRY,
    ) -> None:
        self._form = form_of(model)
        self._model = model
        self._bedrock = BedrockRuntime(
            region=region,
            endpoint_url=endpoint_url,
            connections=_WORKERS,
            error=EmbeddingUnavailable,
            refused=TextRefused,
        )
        self._retry = retry

    @property
    def model(self) -> EmbeddingModel:
        """The model, as configured: Bedrock is not asked."""
        return self._model

    def for_queries(self) -> Embedder:
        """Return the embedder of queries, over the same connections."""
        return OtherForm(self, lambda texts, timeout_s: self._embed(texts, timeout_s, is_query=True))

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        A text is cut after `wire.MAX_TEXT_BYTES`; for a blank one, which the models refuse, a dash is embedded.

        Raises
        ------
        TextRefused
            Bedrock does not take one of the texts (ValidationException).
        EmbeddingUnavailable
            Bedrock failed, refused or sent something unusable, or `timeout_s` seconds went by, retries included.
        """
        return self._embed(texts, timeout_s, is_query=False)

    def _embed(self, texts: Sequence[str], timeout_s: float, *, is_query: bool) -> list[Vector]:
        deadline = Deadline(timeout_s, self._retry.clock, callee=EMBEDDING_MODEL)

        def embed_batch(batch: list[str]) -> list[Vector]:
            body = self._form.body(batch, is_query=is_query)
            return self._retry.run(lambda: self._vectors(self._invoke(body, deadline), len(batch)), deadline=deadline)

        accepted, most = [acceptable(text) for text in texts], self._form.texts_a_call
        batches = [accepted[start : start + most] for start in range(0, len(accepted), most)]
        return list(chain.from_iterable(fan_out(embed_batch, batches, workers=_WORKERS, deadline=deadline)))

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        self._bedrock.close()

    def _invoke(self, body: dict[str, object], deadline: Deadline) -> bytes:
        """Make one attempt at the texts of a call."""

        def request(client: Any) -> bytes:
            answer = client.invoke_model(
                modelId=self._model.name,
                body=json.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
            payload: bytes = answer["body"].read()
            return payload

        return self._bedrock.call(self._model.name, request, deadline=deadline, read_timeout_s=_READ_TIMEOUT_S)

    def _vectors(self, payload: bytes, expected: int) -> list[Vector]:
        try:
            values = self._form.values(json.loads(payload))
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingUnavailable(f"{self._model.name} sent something that is not an embedding") from error
        if len(values) != expected:
            raise EmbeddingUnavailable(f"{self._model.name} sent {len(values)} embeddings for {expected} texts")
        return [unit_vector(each, self._model) for each in values]
