"""The answers of several searches in one call."""

from __future__ import annotations

from pydantic import Field

from skillroute_client.models.base import Answer
from skillroute_client.models.search import SearchAnswer
from skillroute_client.models.written import Failure


class BatchError(Failure):
    """Why a search of several has no answer; `status` is that of the search alone."""

    status: int


class BatchResult(Answer):
    """The outcome of one search of several: an answer, or an error."""

    answer: SearchAnswer | None = None
    error: BatchError | None = None


class BatchMetadata(Answer):
    """How a batch of searches went. Times are in milliseconds."""

    answered: int = 0
    failed: int = 0
    index_sync_time_ms: float = 0.0
    query_embedding_time_ms: float = 0.0
    total_time_ms: float = 0.0


class BatchAnswer(Answer):
    """The outcome of several searches, in the order of the request."""

    results: list[BatchResult]
    metadata: BatchMetadata = Field(default_factory=BatchMetadata)
