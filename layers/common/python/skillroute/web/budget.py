"""How much of its invocation a request has left."""

from __future__ import annotations

from fastapi import Request

from skillroute.search.messages.budget import Budget


async def budget_of(request: Request) -> Budget:
    """Return the time that Lambda gives this invocation yet; where no Lambda counts, there is no end of it.

    A dependency: ``budget: Annotated[Budget, Depends(budget_of)]``.
    """
    # Mangum puts Lambda's context there, never the caller.
    context = request.scope.get("aws.context")
    left_ms = getattr(context, "get_remaining_time_in_millis", None)
    return Budget(None if left_ms is None else float(left_ms()))
