"""Who asks the console for what it keeps itself: Skillroute says whose token it is, and what it allows."""

from __future__ import annotations

from typing import Literal

from skillroute_client import AsyncSkillroute

from skillroute_local.console.problems import MissingScope, TooOld


async def organisation_of(
    client: AsyncSkillroute, scope: Literal["search", "skills", "catalog", "admin"]
) -> str | None:
    """Return the organisation that a client calls for, None for a caller without one.

    Raises
    ------
    MissingScope
        The token does not allow `scope`.
    TooOld
        The Skillroute that is called does not identify the caller.
    ApiError
        It takes no such token.
    """
    caller = (await client.request("GET", "/health")).get("caller")
    if caller is None:
        raise TooOld
    if not {scope, "admin"} & set(caller["scopes"]):
        raise MissingScope(scope)
    org_id: str | None = caller["org_id"]
    return org_id
