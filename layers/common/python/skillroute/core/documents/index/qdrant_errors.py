"""Errors of Qdrant's client as errors of the index."""

from __future__ import annotations

from http import HTTPStatus

from skillroute.core.errors.model import IndexTimeout, IndexUnavailable


def translated(error: Exception, name: str) -> IndexUnavailable:
    """Tell a timeout, of the connection or reported by the server, from every other failure."""
    import httpx  # noqa: PLC0415 - comes with qdrant_client
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse  # noqa: PLC0415

    timed_out = (isinstance(error, ResponseHandlingException) and isinstance(error.source, httpx.TimeoutException)) or (
        isinstance(error, UnexpectedResponse)
        and error.status_code in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT)
    )
    if timed_out:
        return IndexTimeout(f"the vector index did not answer in time (collection {name})")
    return IndexUnavailable(f"the vector index failed (collection {name})")
