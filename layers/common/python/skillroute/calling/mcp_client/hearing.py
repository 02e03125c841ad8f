"""Messages that a server sends before it answers: progress, which is passed on, and requests, which are refused."""

from __future__ import annotations

from typing import Any

from skillroute.calling.exchange import quoted
from skillroute.calling.mcp_client.messages import METHOD_NOT_FOUND
from skillroute.calling.model import CallFailed, Failure, JsonObject, Progress

_MAX_MESSAGES = 10_000
_MAX_REQUESTS = 100


class Hearing:
    """Takes messages in while an answer is awaited.

    Parameters
    ----------
    host : str
    token : int
        Of the progress that is awaited.
    progress : callable, optional
    """

    def __init__(self, host: str, token: int, progress: Progress | None = None) -> None:
        self._host = host
        self._token = token
        self._progress = progress
        self._messages = self._requests = 0

    def take(self, message: JsonObject) -> JsonObject | None:
        """Take a message in, and return what is to be sent back, None where nothing is.

        Raises
        ------
        CallFailed
            There are too many.
        """
        self._messages += 1
        method, id_ = message.get("method"), message.get("id")
        if method == "notifications/progress":
            self._pass_on(message.get("params"))
        is_request = isinstance(method, str) and isinstance(id_, str | int) and not isinstance(id_, bool)
        self._requests += is_request
        if self._messages > _MAX_MESSAGES or self._requests > _MAX_REQUESTS:
            raise CallFailed(Failure.TOO_LARGE, f"{self._host} sends too many messages before its answer")
        if not is_request:
            return None
        answer = {"jsonrpc": "2.0", "id": id_}
        if method == "ping":
            return {**answer, "result": {}}
        return {**answer, "error": {"code": METHOD_NOT_FOUND, "message": "Skillroute answers no requests of servers"}}

    def _pass_on(self, params: Any) -> None:
        if self._progress is None or not isinstance(params, dict) or params.get("progressToken") != self._token:
            return
        done, total, text = params.get("progress"), _number(params.get("total")), params.get("message")
        if (number := _number(done)) is not None:
            self._progress(number, total, quoted(text) if isinstance(text, str) else None)


def _number(value: Any) -> float | None:
    """Return a number that JSON can carry on, None of anything else."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and -1e300 < value < 1e300 else None
