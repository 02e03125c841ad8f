"""The time that an invocation gives a search of mail."""

# No `from __future__ import annotations`: FastAPI must see the types.
from typing import Annotated

from fastapi import Depends, Request

from skillroute.core.http.time_limit import left_ms_of
from skillroute.mail.search.budget import Budget


async def _budget_of(request: Request) -> Budget:
    return Budget(left_ms_of(request))


InvocationBudget = Annotated[Budget, Depends(_budget_of)]
"""The dependency of a route that searches within the time that is left."""
