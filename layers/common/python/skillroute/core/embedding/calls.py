"""Deadlines and retries for embedders: those of `remote.calls`, with an embedder's name and error."""

from __future__ import annotations

from typing import ClassVar

from skillroute.core.errors import DependencyUnavailable, EmbeddingUnavailable
from skillroute.core.remote import calls
from skillroute.core.remote.calls import TransientFailure, fan_out, retry_after_s

__all__ = ["DEFAULT_RETRY", "Deadline", "RetryPolicy", "TransientFailure", "fan_out", "retry_after_s"]


class Deadline(calls.Deadline):
    """The moment by which texts must be embedded; then it is `EmbeddingUnavailable`."""

    callee: ClassVar[str] = "the embedding model"
    error: ClassVar[type[DependencyUnavailable]] = EmbeddingUnavailable
    thread_name: ClassVar[str] = "embed"


class RetryPolicy(calls.RetryPolicy):
    """Five attempts with growing pauses, unless told otherwise, inside the caller's deadline."""

    deadline_type: ClassVar[type[calls.Deadline]] = Deadline


DEFAULT_RETRY = RetryPolicy()
