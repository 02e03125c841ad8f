"""The handlers that the pump calls: those of this process, or functions behind a Lambda endpoint, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillroute_local.errors import LocalError
from skillroute_local.queue_server import REGION

if TYPE_CHECKING:
    from skillroute.core.queue.consumer import Consumer

# The logical ids in template.yaml, which is what `sam local` calls the functions.
_FUNCTIONS = ("ClassifyFunction", "AggregateFunction", "LearnFunction", "RelayFunction", "CallFunction")

_CONNECT_TIMEOUT_S = 2.0
_READ_TIMEOUT_S = 540.0  # a cold container, and then the longest timeout of a function


class HandlerFailed(LocalError):
    """A function ended with an error, which Lambda answers in place of a result."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """The handlers of the five functions that no request reaches."""

    classify: Consumer
    aggregate: Consumer
    learn: Consumer
    relay: Consumer
    call: Consumer

    @classmethod
    def of_this_process(cls) -> Handlers:
        """Return handlers over the database of the environment."""
        from skillroute.core.settings import LocalSettings  # noqa: PLC0415
        from skillroute.wiring import (  # noqa: PLC0415
            Parts,
            aggregate_handler,
            call_handler,
            classify_handler,
            learn_handler,
            relay_handler,
        )

        from skillroute_local.background import Background  # noqa: PLC0415

        # Consumers do not wait while what their batch made room for is published (docs/adr/0028): this process lives
        # on. On Lambda nothing does once a batch is answered.
        parts = Parts(LocalSettings.load(), defer=Background)
        made = (classify_handler, aggregate_handler, learn_handler, relay_handler)
        classify, aggregate, learn, relay = (make(parts=parts) for make in made)
        return cls(classify, aggregate, learn, relay, call_handler(parts=parts))

    @classmethod
    def behind(cls, endpoint: str) -> Handlers:
        """Return handlers that call the functions of template.yaml behind a Lambda endpoint."""
        client = lambda_client(endpoint)
        return cls(*(remote_handler(client, name) for name in _FUNCTIONS))


def lambda_client(endpoint: str) -> Any:
    """Return a Lambda client for a local endpoint; it reads nothing of the user's AWS settings, nor of the proxy's."""
    from botocore.config import Config  # noqa: PLC0415 (0.1 s, and most pumps call no endpoint)
    from botocore.session import Session  # noqa: PLC0415

    return Session(session_vars={"profile": (None, None, None, None)}).create_client(
        "lambda",
        region_name=REGION,
        endpoint_url=endpoint,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 (a local endpoint takes any)
        config=Config(
            proxies={},
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_READ_TIMEOUT_S,
            # The queue repeats: a repeat of the client's own would not be counted as a receive.
            retries={"mode": "standard", "total_max_attempts": 1},
        ),
    )


def remote_handler(client: Any, function_name: str) -> Consumer:
    """Return a handler that hands each event to a function and answers with its result.

    It raises `HandlerFailed` with the function's own error, and botocore's errors where nothing answers.
    """

    def invoke(event: Mapping[str, Any], _context: Any) -> dict[str, Any]:
        answer = client.invoke(FunctionName=function_name, Payload=json.dumps(event).encode())
        payload = answer["Payload"].read()
        if "FunctionError" in answer:
            raise HandlerFailed(f"{function_name}: {payload.decode('utf-8', 'replace')}")
        result: dict[str, Any] = json.loads(payload)
        return result

    return invoke
