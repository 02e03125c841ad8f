"""Bedrock's runtimes: their clients, and what their failures mean."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.remote.calls import MAX_MESSAGE_LENGTH, is_transient, retry_after_s
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import TransientFailure

T = TypeVar("T")

_CONNECT_TIMEOUT_S = 2.0
_BLAMES_WHAT_WAS_SENT = frozenset({"ValidationException"})


class BedrockRuntime:
    """Makes single calls of Bedrock. Safe to call from several threads.

    The client is made on first use, with the credentials of the environment. botocore's own retries, which know no
    total deadline, are off.

    Parameters
    ----------
    region : str or None
        Where to call Bedrock; None takes the environment's region.
    endpoint_url : str or None
        Another endpoint than the region's own: a VPC endpoint, or a stub.
    connections : int
        How many are kept open.
    error : type
        What it is when a call fails for good.
    refused : type or None
        What it is when Bedrock blames what it was sent (ValidationException); None where that makes no difference.
    service : str
        Which runtime, by boto3's name of it: models are invoked by one, reranking is a call of the other's.
    """

    def __init__(
        self,
        *,
        region: str | None,
        endpoint_url: str | None,
        connections: int,
        error: type[DependencyUnavailable],
        refused: type[DependencyUnavailable] | None = None,
        service: Literal["bedrock-runtime", "bedrock-agent-runtime"] = "bedrock-runtime",
    ) -> None:
        self._service = service
        self._region = region
        self._endpoint_url = endpoint_url
        self._connections = connections
        self._error = error
        self._refused = refused or error
        self._lock = threading.Lock()
        # botocore fixes timeouts when it makes a client, so there is one for each.
        self._clients: dict[float, Any] = {}

    def call(self, model: str, request: Callable[[Any], T], *, deadline: Deadline, read_timeout_s: float) -> T:
        """Make one attempt at `request`, which gets the client, and return what it returns.

        Raises
        ------
        TransientFailure
            Bedrock cannot be reached, timed out, throttled, or failed on its side.
        DependencyUnavailable
            Anything else went wrong: one of the errors that were given to the constructor.
        """
        from botocore import exceptions as boto  # noqa: PLC0415 - with boto3 110 ms, paid on first use

        try:
            client = self._connected(read_timeout_s)
            deadline.check()  # finding credentials may have taken long
            return request(client)
        except boto.ClientError as error:
            raise self._refusal(error.response, model) from error
        except (boto.ConnectionError, boto.HTTPClientError, boto.IncompleteReadError) as error:
            raise TransientFailure(f"Bedrock cannot be reached or timed out: {error}") from error
        except boto.NoCredentialsError as error:
            raise self._error("Bedrock cannot be called: there are no AWS credentials") from error
        except (boto.BotoCoreError, ValueError) as error:  # the latter for an endpoint that is no URL
            raise self._error(f"Bedrock cannot be called: {error}") from error

    def close(self) -> None:
        """Close the connections. The next call opens new ones."""
        with self._lock:
            clients, self._clients = self._clients, {}
        for client in clients.values():
            client.close()

    def _connected(self, read_timeout_s: float) -> Any:
        """Return the client, made once: sessions are not safe to share between threads, clients are."""
        import boto3  # noqa: PLC0415 - see call
        from botocore.config import Config  # noqa: PLC0415

        with self._lock:
            if read_timeout_s not in self._clients:
                self._clients[read_timeout_s] = boto3.session.Session(region_name=self._region).client(
                    self._service,
                    endpoint_url=self._endpoint_url,
                    config=Config(
                        connect_timeout=_CONNECT_TIMEOUT_S,
                        read_timeout=read_timeout_s,
                        retries={"mode": "standard", "total_max_attempts": 1},
                        max_pool_connections=self._connections,
                    ),
                )
            return self._clients[read_timeout_s]

    def _refusal(self, response: dict[str, Any], model: str) -> DependencyUnavailable:
        """Return what Bedrock answered as an error: whether to ask again, and whom it blames, by status and code."""
        error, metadata = response["Error"], response["ResponseMetadata"]
        status: int = metadata["HTTPStatusCode"]
        message = f"Bedrock answered {status} {error['Code']} for {model}: {error['Message'][:MAX_MESSAGE_LENGTH]}"
        if is_transient(status):
            return TransientFailure(message, retry_after_s=retry_after_s(metadata["HTTPHeaders"].get("retry-after")))
        return (self._refused if error["Code"] in _BLAMES_WHAT_WAS_SENT else self._error)(message)
