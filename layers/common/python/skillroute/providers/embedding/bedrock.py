"""Embeddings from Amazon Titan Text Embeddings V2 on Bedrock."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any

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

TITAN_V2 = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = (256, 512, 1024)
_WORKERS = 8
# botocore fixes timeouts when it makes the client, so they cannot follow the deadline as an HTTP client's can. Five
# seconds leave room for a second attempt within the ten that a query waits at most.
_CONNECT_TIMEOUT_S = 2.0
_READ_TIMEOUT_S = 5.0


class BedrockEmbedder:
    """Embeds with Titan Text Embeddings V2, one text a call, several calls at once. Safe to call from several threads.

    Throttling, timeouts and server errors are tried again within the caller's deadline; missing rights, a wrong model
    id and the like fail at once. The client is made on first use, with the credentials of the environment.

    Parameters
    ----------
    model : EmbeddingModel
        The model id or inference profile, and the dimension: 256, 512 or 1024.
    region : str or None
        Where to call Bedrock; None takes the environment's region.
    endpoint_url : str or None
        Another endpoint than the region's own: a VPC endpoint, or a stub.
    retry : RetryPolicy
        How often, and how far apart. botocore's own retries, which know no total deadline, are off.

    Raises
    ------
    ConfigurationError
        Titan has no vectors of that dimension.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        retry: RetryPolicy = DEFAULT_RETRY,
    ) -> None:
        if model.dimension not in _DIMENSIONS:
            raise ConfigurationError(f"Titan Text Embeddings V2 has 256, 512 or 1024 dimensions, not {model.dimension}")
        self._model = model
        self._region = region
        self._endpoint_url = endpoint_url
        self._retry = retry
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def model(self) -> EmbeddingModel:
        """The model, as configured: Bedrock is not asked."""
        return self._model

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        A text is cut after `wire.MAX_TEXT_BYTES`; for a blank one, which Titan refuses, a dash is embedded.

        Raises
        ------
        EmbeddingUnavailable
            Bedrock failed, refused or sent something unusable, or `timeout_s` seconds went by, retries included.
        """
        deadline = self._retry.deadline(timeout_s)

        def embed_one(text: str) -> Vector:
            return self._retry.run(lambda: self._invoke(text, deadline), deadline)

        return fan_out(embed_one, [acceptable(text) for text in texts], workers=_WORKERS, deadline=deadline)

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _invoke(self, text: str, deadline: Deadline) -> Vector:
        """Make one attempt at one text."""
        from botocore import exceptions as boto  # noqa: PLC0415 - with boto3 110 ms, paid on first use

        body = {"inputText": text, "dimensions": self._model.dimension, "normalize": True}
        try:
            client = self._connected()
            deadline.check()  # finding credentials may have taken long
            answer = client.invoke_model(
                modelId=self._model.name,
                body=json.dumps(body),
                contentType="application/json",
                accept="application/json",
            )
            payload = answer["body"].read()
        except boto.ClientError as error:
            raise _refusal(error.response, self._model) from error
        except (boto.ConnectionError, boto.HTTPClientError, boto.IncompleteReadError) as error:
            raise TransientFailure(f"Bedrock cannot be reached or timed out: {error}") from error
        except boto.NoCredentialsError as error:
            raise EmbeddingUnavailable("Bedrock cannot be called: there are no AWS credentials") from error
        except (boto.BotoCoreError, ValueError) as error:  # the latter for an endpoint that is no URL
            raise EmbeddingUnavailable(f"Bedrock cannot be called: {error}") from error
        return self._vector(payload)

    def _connected(self) -> Any:
        """Return the client, made once: sessions are not safe to share between threads, clients are."""
        import boto3  # noqa: PLC0415 - see _invoke
        from botocore.config import Config  # noqa: PLC0415

        with self._lock:
            if self._client is None:
                self._client = boto3.session.Session(region_name=self._region).client(
                    "bedrock-runtime",
                    endpoint_url=self._endpoint_url,
                    config=Config(
                        connect_timeout=_CONNECT_TIMEOUT_S,
                        read_timeout=_READ_TIMEOUT_S,
                        retries={"mode": "standard", "total_max_attempts": 1},
                        max_pool_connections=_WORKERS,
                    ),
                )
            return self._client

    def _vector(self, payload: bytes) -> Vector:
        try:
            values = json.loads(payload)["embedding"]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingUnavailable(f"{self._model.name} sent something that is not an embedding") from error
        return unit_vector(values, self._model)


def _refusal(response: dict[str, Any], model: EmbeddingModel) -> EmbeddingUnavailable:
    """Say what Bedrock answered, and whether to ask again: that is a matter of the status, not of the text."""
    error, metadata = response["Error"], response["ResponseMetadata"]
    status: int = metadata["HTTPStatusCode"]
    message = f"Bedrock answered {status} {error['Code']} for {model.name}: {error['Message'][:MAX_MESSAGE_LENGTH]}"
    if status in TRANSIENT_STATUSES or status >= 500:
        header = metadata["HTTPHeaders"].get("retry-after")
        return TransientFailure(message, retry_after_s=retry_after_s(header))
    return EmbeddingUnavailable(message)
