"""Answers of actions that take long: an event a line, while the work goes on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse

from skillroute_local.console.problems import Problem

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Encoding": "identity",  # compression would keep lines back until there are enough of them
}


def answer_of(events: AsyncIterator[Any], problem_of: Callable[[Exception], Problem | None]) -> StreamingResponse:
    """Return events as lines of JSON; where the page goes away, the work ends.

    Parameters
    ----------
    events : async iterator
        JSON objects.
    problem_of : callable
        What a page shows of an error, or None for an unexpected error. What failed is the last line, as
        ``{"problem": ...}``: the status has been sent by then.
    """

    async def lines() -> AsyncIterator[str]:
        try:
            async for event in events:
                yield f"{json.dumps(event)}\n"
        except Exception as error:
            found = problem_of(error)
            if found is None:
                raise
            yield f"{json.dumps({'problem': found.body()})}\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=_HEADERS)
