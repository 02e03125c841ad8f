"""The answers of a batch, which go out as one and so must have room together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.answer_size import on_the_way
from skillroute.mcp.rpc import INTERNAL_ERROR, RpcError, failure, id_in, to_bytes

BATCH_BYTES = 5_700_000
"""Of all answers on the way. One alone has at most `ANSWER_BYTES` twice, whose quotes become six bytes: 5.4 MB."""

_NO_ROOM = RpcError(INTERNAL_ERROR, "the answers of this batch have no more room: send this request alone")


class BatchAnswers:
    """Collects the answers of a batch in the order of its requests.

    For each request there is room to refuse it, until it has its answer. With the first one that has no room for its
    answer the batch is full: those that follow are refused before anything is done for them.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.is_full = False
        self._answers: list[bytes] = []
        self._refusals = [to_bytes(failure(id_in(value), _NO_ROOM)) for value in values]
        self._used = sum(map(_size, self._refusals))

    def add(self, place: int, answer: Mapping[str, Any]) -> None:
        """Add the answer to the request at a place, or refuse it where there is no room."""
        data = to_bytes(answer)
        used = self._used - _size(self._refusals[place]) + _size(data)
        if used > max(BATCH_BYTES, self._used):
            self.is_full = True
            self.refuse(place)
            return
        self._used = used
        self._answers.append(data)

    def refuse(self, place: int) -> None:
        """Answer the request at a place with an error that says to send it alone."""
        self._answers.append(self._refusals[place])

    def pass_over(self, place: int) -> None:
        """Note that the message at a place gets no answer."""
        self._used -= _size(self._refusals[place])

    def to_bytes(self) -> bytes | None:
        """Return the answers as JSON; None where no message asked for one."""
        return b"[%s]" % b",".join(self._answers) if self._answers else None


def _size(data: bytes) -> int:
    return on_the_way(data) + 1
