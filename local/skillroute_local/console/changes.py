"""The page Changes: definitions that are not as they were approved, to be approved or rejected as they were seen."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field
from skillroute_client import AsyncSkillroute, Forbidden, Unauthenticated

from skillroute_local.console.actions import Actions

_PAGE = 25
_MOST = 500

actions = Actions("changes")

Count = Annotated[int, Field(ge=1, le=_MOST)]
Offset = Annotated[int, Field(ge=0)]
Seen = Annotated[dict[int, AwareDatetime], Field(min_length=1, max_length=_MOST)]


@actions.action
async def listed(client: AsyncSkillroute, offset: Offset = 0, limit: Count = _PAGE) -> dict[str, Any]:
    """Return items that wait, with the difference, from `offset` on, and how many there are in all.

    There may be fewer than `limit` though more follow: long definitions fill an answer sooner.
    """
    page = await client.trust.changed(limit=limit, offset=offset).first()
    total = offset + len(page.items) if page.total is None else page.total
    return {"rows": [each.model_dump(mode="json") for each in page.items], "total": total}


@actions.action
async def count(client: AsyncSkillroute) -> dict[str, int | None]:
    """Return how many items wait; None for a caller that may not know."""
    try:
        return {"waiting": (await client.trust.changed(limit=1).first()).total}
    except (Forbidden, Unauthenticated):
        return {"waiting": None}


@actions.action
async def decide(client: AsyncSkillroute, decision: Literal["approve", "reject"], seen: Seen) -> list[dict[str, Any]]:
    """Approve or reject items that did not change since they were `seen`, and return what became of each."""
    call = client.trust.approve if decision == "approve" else client.trust.reject
    return [each.model_dump(mode="json") for each in await call(list(seen), seen=seen)]
